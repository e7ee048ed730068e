//! The wrapper against the library. tests/hosts/host_rust.py runs it, and validates the texts that
//! it prints.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::mem::size_of;
use turnstile::{
    apply_mask, Grammar, Matcher, Sampler, SamplerOptions, SchemaOptions, Vocab, Whitespace,
};
use turnstile_sys as sys;

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 20}, "tags": {
    "type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 4},
    "n": {"type": "integer", "minimum": -9, "maximum": 99}},
    "required": ["name", "tags", "n"], "additionalProperties": false}"#;

fn compact() -> SchemaOptions {
    SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() }
}

/// Draw from even logits up to the end; the text and the number of tokens.
fn generate(grammar: &Grammar, seed: u64) -> (String, usize) {
    let vocab = grammar.vocab();
    let mut matcher = Matcher::new(grammar).unwrap();
    let mut sampler =
        Sampler::new(&SamplerOptions { seed, temperature: 1.0, ..Default::default() }).unwrap();
    let mut mask = vec![0; vocab.mask_words()];
    let logits = vec![0f32; vocab.logits_width()];
    let (mut text, mut tokens) = (Vec::new(), 0);
    while !matcher.is_terminated() {
        matcher.mask(&mut mask).unwrap();
        let token = sampler.draw(&logits, &mask).unwrap().token;
        assert!(matcher.accept(token).unwrap());
        if !vocab.is_eog(token) {
            text.extend_from_slice(vocab.bytes(token).unwrap());
        }
        tokens += 1;
        assert!(tokens < 1000);
    }
    (String::from_utf8(text).unwrap(), tokens)
}

#[test]
fn texts_of_a_schema() {
    let vocab = Vocab::embedded().unwrap();
    let grammar = Grammar::json_schema(&vocab, SCHEMA, &compact()).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|t| {
            let grammar = grammar.clone();
            std::thread::spawn(move || {
                (0..10).map(|i| generate(&grammar, 10 * t + i)).collect::<Vec<_>>()
            })
        })
        .collect();
    for (text, tokens) in threads.into_iter().flat_map(|t| t.join().unwrap()) {
        println!("text {tokens} {text}");
        let mut matcher = Matcher::new(&grammar).unwrap();
        assert!(matcher.accept_bytes(text.as_bytes()).unwrap() && matcher.is_complete());
    }
    assert_eq!(generate(&grammar, 3), generate(&grammar, 3));
}

#[test]
fn moves_of_a_matcher() {
    let vocab = Vocab::from_tokens(&["a", "b", "ab", "</s>"], &[3], &[3]).unwrap();
    assert_eq!(
        (vocab.size(), vocab.logits_width(), vocab.mask_words(), vocab.eog()),
        (4, 4, 1, &[3u32][..])
    );
    assert!(
        vocab.is_special(3) && vocab.is_eog(3) && !vocab.is_special(0) && vocab.bytes(4).is_none()
    );
    assert_eq!(vocab.bytes(2), Some(&b"ab"[..]));
    assert_eq!(vocab.find_special("</s>"), Some(3));
    assert_eq!(vocab.find_special("a"), None);
    assert_eq!(vocab.encode("aabb", false).unwrap(), [0, 2, 1]);
    let grammar = Grammar::regex(&vocab, "(ab)+").unwrap();
    let mut matcher = Matcher::new(&grammar).unwrap();
    let mut mask = [0u32];
    matcher.mask(&mut mask).unwrap();
    assert_eq!(mask, [0b0101]);
    assert!(!matcher.accept(1).unwrap() && matcher.accept(2).unwrap() && matcher.is_complete());
    let mut fork = matcher.fork().unwrap();
    assert_eq!(fork.validate(&[0, 1, 3]).unwrap(), 3);
    assert_eq!(fork.validate(&[0, 0]).unwrap(), 1);
    assert!(fork.accept(0).unwrap() && !fork.is_complete());
    assert_eq!(fork.forced_bytes(8).unwrap(), b"b");
    fork.mask(&mut mask).unwrap();
    assert_eq!(mask, [0b0010]);
    fork.rollback(1).unwrap();
    assert!(fork.is_complete() && fork.history() == 1);
    assert_eq!(fork.rollback(2).unwrap_err().status, "TSL_ERR_STATE");
    matcher.mask(&mut mask).unwrap();
    assert_eq!(mask, [0b1101]);
    let mut logits = [1.0f32; 4];
    apply_mask(&mask, &mut logits).unwrap();
    assert_eq!(logits, [1.0, f32::NEG_INFINITY, 1.0, 1.0]);
    assert!(matcher.accept(3).unwrap() && matcher.is_terminated());
    matcher.reset();
    assert!(!matcher.is_terminated() && matcher.history() == 0);
    assert!(matcher.mask(&mut [0, 0]).is_err() && apply_mask(&[0, 0], &mut logits).is_err());
}

#[test]
fn artifacts() {
    let vocab = Vocab::embedded().unwrap();
    let compiled = Grammar::json_schema(&vocab, SCHEMA, &compact()).unwrap();
    let path = std::env::temp_dir().join(format!("turnstile-{}.tslgrammar", std::process::id()));
    let name = path.to_str().unwrap();
    compiled.save(name).unwrap();
    let loaded = Grammar::load(&vocab, name).unwrap();
    for seed in 0..5 {
        assert_eq!(generate(&compiled, seed), generate(&loaded, seed));
    }
    let other = Vocab::from_tokens(&["a", "b"], &[1], &[1]).unwrap();
    assert_eq!(Grammar::load(&other, name).err().unwrap().status, "TSL_ERR_FORMAT");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Grammar::load(&vocab, name).err().unwrap().status, "TSL_ERR_IO");
}

#[test]
fn gbnf_and_encoding() {
    let vocab = Vocab::embedded().unwrap();
    let grammar = Grammar::gbnf(&vocab, "root ::= \"yes\" | \"no\"").unwrap();
    let mut matcher = Matcher::new(&grammar).unwrap();
    for token in vocab.encode("yes", false).unwrap() {
        assert!(matcher.accept(token).unwrap());
    }
    assert!(matcher.is_complete() && grammar.report().starts_with('['));
    assert_eq!(vocab.encode("", false).unwrap(), []);
    let copy = vocab.clone();
    drop((vocab, grammar, matcher));
    assert_eq!(copy.size(), 4096);
}

#[test]
fn errors_say_where() {
    let vocab = Vocab::embedded().unwrap();
    let error =
        Grammar::json_schema(&vocab, r#"{"properties": {"a": {"minimum": "x"}}}"#, &compact())
            .err()
            .unwrap();
    assert_eq!((error.status, error.pointer.as_str()), ("TSL_ERR_SCHEMA", "/properties/a/minimum"));
    let error = Grammar::json_schema(&vocab, "{\n  ]", &compact()).err().unwrap();
    assert_eq!((error.status, error.line, error.column), ("TSL_ERR_SYNTAX", 2, 3));
    assert!(
        error.to_string().starts_with("2:3: ") && error.to_string().ends_with("(TSL_ERR_SYNTAX)")
    );
    assert_eq!(Grammar::regex(&vocab, "(").err().unwrap().status, "TSL_ERR_SYNTAX");
    assert_eq!(Vocab::from_file("/nowhere").err().unwrap().status, "TSL_ERR_IO");
    assert_eq!(Vocab::from_file("a\0b").err().unwrap().status, "TSL_ERR_ARGUMENT");
    assert_eq!(Vocab::from_bytes(b"GGUF", "x").err().unwrap().status, "TSL_ERR_FORMAT");
    assert_eq!(Vocab::from_tokens(&["a"], &[1], &[]).err().unwrap().status, "TSL_ERR_ARGUMENT");
}

/// std::mem::offset_of, which is newer than the oldest Rust that the crates build with.
macro_rules! offset_of {
    ($kind:ty, $field:ident) => {{
        let value = std::mem::MaybeUninit::<$kind>::uninit();
        let start = value.as_ptr();
        // SAFETY: no value is read.
        unsafe { std::ptr::addr_of!((*start).$field) as usize - start as usize }
    }};
}

/// The structs have the layout that the C compiler gives them: $TURNSTILE_LAYOUT, which the C
/// program in host_rust.py prints.
#[test]
fn layout() {
    let ours = format!(
        "error {} {} {} desc {} {} {} options {} {} limits {} {} {} schema {} {} {} {} {} \
         regex {} sampler {} {} draw {} {} step {} {} \
         event {} {} drafts {} {} beam {} align {} score {} {} \
         artifact {} {} tools {} {} part {} {} request {} {}",
        size_of::<sys::tsl_error>(),
        offset_of!(sys::tsl_error, pointer),
        offset_of!(sys::tsl_error, message),
        size_of::<sys::tsl_vocab_desc>(),
        offset_of!(sys::tsl_vocab_desc, special),
        offset_of!(sys::tsl_vocab_desc, eog_count),
        size_of::<sys::tsl_vocab_options>(),
        offset_of!(sys::tsl_vocab_options, pattern),
        size_of::<sys::tsl_limits>(),
        offset_of!(sys::tsl_limits, cancel),
        offset_of!(sys::tsl_limits, deadline_us),
        size_of::<sys::tsl_schema_options>(),
        offset_of!(sys::tsl_schema_options, draft),
        offset_of!(sys::tsl_schema_options, nullable),
        offset_of!(sys::tsl_schema_options, max_nesting),
        offset_of!(sys::tsl_schema_options, base_uri),
        size_of::<sys::tsl_regex_options>(),
        size_of::<sys::tsl_sampler_options>(),
        offset_of!(sys::tsl_sampler_options, eog_count),
        size_of::<sys::tsl_draw>(),
        offset_of!(sys::tsl_draw, kept),
        size_of::<sys::tsl_step>(),
        offset_of!(sys::tsl_step, allowed),
        size_of::<sys::tsl_event>(),
        offset_of!(sys::tsl_event, text_length),
        size_of::<sys::tsl_drafts>(),
        offset_of!(sys::tsl_drafts, distinct),
        size_of::<sys::tsl_beam_options>(),
        size_of::<sys::tsl_align_options>(),
        size_of::<sys::tsl_score_options>(),
        offset_of!(sys::tsl_score_options, open_end),
        size_of::<sys::tsl_artifact_options>(),
        offset_of!(sys::tsl_artifact_options, source),
        size_of::<sys::tsl_tools_options>(),
        offset_of!(sys::tsl_tools_options, report_ctx),
        size_of::<sys::tsl_part>(),
        offset_of!(sys::tsl_part, length),
        size_of::<sys::tsl_request_source>(),
        offset_of!(sys::tsl_request_source, compact),
    );
    let theirs =
        std::env::var("TURNSTILE_LAYOUT").expect("TURNSTILE_LAYOUT: run tests/hosts/host_rust.py");
    assert_eq!(ours, theirs);
}
