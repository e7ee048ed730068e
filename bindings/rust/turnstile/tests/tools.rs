//! Tools and the parser against the library. tests/hosts/host_rust.py runs it.
//!
//! SPDX-License-Identifier: Apache-2.0
use turnstile::{
    tool_presets, write_tools, Grammar, Matcher, Parser, Part, PartKind, SchemaOptions, Thinking,
    ToolsOptions, Vocab,
};

const REQUEST: &str = r#"{"tools": [{"type": "function", "function": {
    "name": "look", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}},
    "required": ["a"], "additionalProperties": false}}}]}"#;
const CALL: &str = "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call>";

fn qwen3() -> ToolsOptions {
    ToolsOptions { preset: "qwen3".into(), ..Default::default() }
}

fn accepts(grammar: &Grammar, text: &str) -> bool {
    Matcher::new(grammar).unwrap().accept_bytes(text.as_bytes()).unwrap()
}

#[test]
fn choices() {
    let vocab = Vocab::embedded().unwrap();
    let free = Grammar::tools(&vocab, REQUEST, &qwen3()).unwrap();
    assert!(accepts(&free, "Well. ") && accepts(&free, CALL) && accepts(&free, "<think>"));
    let forced = ToolsOptions {
        tool_choice: Some("look".into()),
        parallel: Some(false),
        thinking: Thinking::Off,
        over: Some(free),
        ..qwen3()
    };
    let grammar = Grammar::tools(&vocab, REQUEST, &forced).unwrap();
    assert!(
        !accepts(&grammar, "Well. ") && accepts(&grammar, CALL) && !accepts(&grammar, "<think>")
    );
    let again = Grammar::tags(
        &vocab,
        &write_tools(&vocab, REQUEST, &forced).unwrap(),
        &SchemaOptions::default(),
        Some(&grammar),
    )
    .unwrap();
    assert!(!accepts(&again, "Well. ") && accepts(&again, CALL));
    assert_eq!(
        Grammar::tools(
            &vocab,
            REQUEST,
            &ToolsOptions { preset: "nobody's".into(), ..Default::default() }
        )
        .err()
        .unwrap()
        .status,
        "TSL_ERR_ARGUMENT"
    );
    assert!(tool_presets().iter().any(|(name, json)| name == "qwen3" && json.starts_with('{')));
}

#[test]
fn thinking_is_bounded() {
    let vocab = Vocab::embedded().unwrap();
    let grammar =
        Grammar::tools(&vocab, REQUEST, &ToolsOptions { max_thinking_tokens: 2, ..qwen3() })
            .unwrap();
    let mut matcher = Matcher::new(&grammar).unwrap();
    let word = vocab.encode(" a", false).unwrap()[0];
    assert!(matcher.accept_bytes(b"<think>").unwrap());
    assert!(
        matcher.accept(word).unwrap()
            && matcher.accept(word).unwrap()
            && !matcher.accept(word).unwrap()
    );
}

#[test]
fn an_answer_is_read_back() {
    let vocab = Vocab::embedded().unwrap();
    let mut parser = Parser::new(&Grammar::tools(&vocab, REQUEST, &qwen3()).unwrap()).unwrap();
    let mut parts: Vec<Part> = Vec::new();
    for byte in format!("Well. {CALL}").bytes() {
        assert!(parser.text([byte]).unwrap());
        while let Some(part) = parser.next_part() {
            parts.push(part);
        }
    }
    let joined =
        |kind| parts.iter().filter(|p| p.kind == kind).map(|p| p.text.as_str()).collect::<String>();
    assert_eq!(
        (joined(PartKind::Text), joined(PartKind::Call), joined(PartKind::Arguments)),
        ("Well. ".into(), "look".into(), "{\"a\": 1}".into())
    );
    assert!(parser.finish().unwrap() && parser.json().unwrap().contains("\"name\""));
    assert_eq!(parser.text("more").err().unwrap().status, "TSL_ERR_STATE");
    parser.reset();
    assert!(
        parser.text("<tool_call>\n").unwrap()
            && !parser.text("x").unwrap()
            && !parser.finish().unwrap()
    );
    assert!(Parser::new(&Grammar::regex(&vocab, "a").unwrap()).is_err());
}

#[test]
fn over_another_vocabulary() {
    let (vocab, other) =
        (Vocab::embedded().unwrap(), Vocab::from_tokens(&["a", "b", ""], &[2], &[2]).unwrap());
    let (tag, options) = (r#"{"type": "any_text"}"#, SchemaOptions::default());
    let over = Grammar::tags(&other, tag, &options, None).unwrap();
    assert_eq!(
        Grammar::tags(&vocab, tag, &options, Some(&over)).err().unwrap().status,
        "TSL_ERR_ARGUMENT"
    );
    assert_eq!(Grammar::tags(&other, tag, &options, Some(&over)).unwrap().vocab().size(), 3);
}
