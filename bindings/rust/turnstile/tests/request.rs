//! Requests of servers against the library. tests/hosts/host_rust.py runs it.
//!
//! SPDX-License-Identifier: Apache-2.0
use turnstile::{
    read_request, Grammar, Matcher, Parser, RequestKind, SchemaOptions, ToolsOptions, Vocab,
};

fn ends(grammar: &Grammar, text: &str) -> bool {
    let mut matcher = Matcher::new(grammar).unwrap();
    matcher.accept_bytes(text.as_bytes()).unwrap() && matcher.is_complete()
}

#[test]
fn a_request_is_compiled() {
    let (vocab, options) = (Vocab::embedded().unwrap(), SchemaOptions::default());
    for (request, good, bad) in [
        (r#"{"response_format": {"type": "json_object"}}"#, "{}", "1"),
        (r#"{"structured_outputs": {"choice": ["yes", "no"]}}"#, "no", "maybe"),
        (r#"{"structured_outputs": {"grammar": "start: /[ab]+/"}}"#, "ab", "c"),
        (r#"{"sampling_params": {"ebnf": "root ::= \"x\""}}"#, "x", "y"),
        (r#"{"grammar": "root ::= [0-9]+"}"#, "12", "a"),
        (r#"{"format": {"const": [1, 2]}}"#, "[1,2]", "[2]"),
    ] {
        let grammar = Grammar::request(&vocab, request, &options).unwrap();
        assert!(ends(&grammar, good) && !ends(&grammar, bad), "{request}");
    }
    let error = Grammar::request(&vocab, "{\"a\": 1,\n\"regex\": \"(\"}", &options).err().unwrap();
    assert_eq!((error.pointer.as_str(), error.line), ("/regex", 2));
}

#[test]
fn a_request_is_read() {
    let found = read_request(r#"{"guided_choice": ["a", "b"]}"#).unwrap();
    assert_eq!((found.kind, found.text.as_str()), (RequestKind::Regex, "a|b"));
    assert_eq!((found.pointer.as_str(), found.compact), ("/guided_choice", false));
    assert_eq!(read_request("{}").err().unwrap().status, "TSL_ERR_SCHEMA");
}

#[test]
fn custom_tools_write_what_their_grammars_say() {
    let vocab = Vocab::embedded().unwrap();
    let request = r#"{"tools": [{"type": "custom", "name": "sum", "format": {"type": "grammar",
        "syntax": "lark", "definition": "start: /[0-9]+/ (\"+\" /[0-9]+/)*"}}]}"#;
    let options = ToolsOptions {
        preset: "qwen3".into(),
        tool_choice: Some("required".into()),
        ..Default::default()
    };
    let grammar = Grammar::tools(&vocab, request, &options).unwrap();
    let call = |input: &str| {
        let arguments = format!("{{\"input\": \"{input}\"}}");
        format!("<tool_call>\n{{\"name\": \"sum\", \"arguments\": {arguments}}}\n</tool_call>")
    };
    assert!(ends(&grammar, &call("1+22")) && !ends(&grammar, &call("1+")));
    let mut parser = Parser::new(&grammar).unwrap();
    assert!(parser.text(call("1+22")).unwrap() && parser.finish().unwrap());
    assert!(parser.json().unwrap().contains("1+22"));
}

#[test]
fn lark() {
    let vocab = Vocab::embedded().unwrap();
    let grammar = Grammar::lark(&vocab, "start: \"a\" start?").unwrap();
    assert!(ends(&grammar, "aa") && !ends(&grammar, "b"));
}
