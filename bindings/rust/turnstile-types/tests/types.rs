//! Texts that a type's grammar allows are values of the type; what it refuses, serde refuses or the
//! type cannot hold.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use turnstile::{Matcher, Sampler, SamplerOptions, SchemaOptions, Vocab, Whitespace};
use turnstile_types::{schema, Typed};

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Card { digits: u16 },
    Cash,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Line {
    title: String,
    count: u8,
    price: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Order {
    zebra: i8,
    apple: bool,
    lines: Vec<Line>,
    payment: Payment,
    notes: BTreeMap<String, i32>,
    pair: (u8, bool),
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct Receipt {
    total: u32,
    #[serde(flatten)]
    payment: Payment,
    #[serde(flatten)]
    line: Line,
}

fn compact() -> SchemaOptions {
    SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() }
}

/// May the whole text be written?
fn allows<T: JsonSchema + DeserializeOwned>(text: &str) -> bool {
    let vocab = Vocab::embedded().unwrap();
    let typed = Typed::<T>::with_options(&vocab, &compact()).unwrap();
    let mut matcher = Matcher::new(typed.grammar()).unwrap();
    matcher.accept_bytes(text.as_bytes()).unwrap() && matcher.is_complete()
}

/// A text drawn under the grammar, by even logits that end strings and lists soon.
fn draw<T: JsonSchema + DeserializeOwned>(typed: &Typed<T>, seed: u64) -> Vec<u8> {
    let vocab = typed.grammar().vocab();
    let mut matcher = Matcher::new(typed.grammar()).unwrap();
    let mut sampler =
        Sampler::new(&SamplerOptions { seed, temperature: 1.0, ..Default::default() }).unwrap();
    let logits: Vec<f32> = (0..vocab.logits_width() as u32)
        .map(|token| match vocab.bytes(token) {
            Some(bytes) if bytes.iter().any(|b| b"]}\"".contains(b)) => 6.0,
            _ => 0.0,
        })
        .collect();
    let mut mask = vec![0; vocab.mask_words()];
    let mut text = Vec::new();
    while !matcher.is_terminated() {
        matcher.mask(&mut mask).unwrap();
        let token = sampler.draw(&logits, &mask).unwrap().token;
        matcher.accept(token).unwrap();
        if !vocab.is_eog(token) {
            text.extend_from_slice(vocab.bytes(token).unwrap_or_default());
        }
        assert!(text.len() < 100_000, "the text does not end");
    }
    text
}

#[test]
fn drawn_texts_are_values() {
    let vocab = Vocab::embedded().unwrap();
    let typed = Typed::<Order>::with_options(&vocab, &compact()).unwrap();
    for seed in 1..=20 {
        let text = draw(&typed, seed);
        let order = typed.parse(&text);
        assert!(order.is_ok(), "{}: {order:?}", String::from_utf8_lossy(&text));
        let again = serde_json::to_string(&order.unwrap()).unwrap();
        assert!(allows::<Order>(&again), "{again}");
    }
}

#[test]
fn values_are_allowed_as_serde_writes_them() {
    let order = Order {
        zebra: -128,
        apple: true,
        lines: vec![Line { title: "a \"b\"".into(), count: 255, price: Some(1.5) }],
        payment: Payment::Card { digits: 65535 },
        notes: BTreeMap::from([("é".into(), i32::MIN)]),
        pair: (0, false),
    };
    let text = serde_json::to_string(&order).unwrap();
    assert!(allows::<Order>(&text), "{text}");
    let vocab = Vocab::embedded().unwrap();
    assert_eq!(Typed::<Order>::new(&vocab).unwrap().parse(&text).unwrap(), order);
}

#[test]
fn what_a_type_cannot_hold_is_not_written() {
    assert!(allows::<Line>(r#"{"title":"x","count":255,"price":null}"#));
    for wrong in [
        r#"{"title":"x","count":256,"price":null}"#, // above u8
        r#"{"title":"x","count":-1,"price":null}"#,  // below u8
        r#"{"count":1,"title":"x","price":null}"#,   // not the order of the fields
        r#"{"title":"x","count":1,"more":1}"#,       // a member that no field has
        r#"{"title":"x"}"#,                          // a field is missing
    ] {
        assert!(!allows::<Line>(wrong), "{wrong}");
    }
    assert!(allows::<i64>("-9223372036854775808") && !allows::<i64>("9223372036854775808"));
    assert!(allows::<u64>("18446744073709551615") && !allows::<u64>("18446744073709551616"));
    assert!(allows::<Payment>(r#"{"kind":"cash"}"#) && !allows::<Payment>(r#"{"kind":"cheque"}"#));
}

#[test]
fn members_stand_in_the_order_of_the_fields() {
    let text = schema::<Order>();
    let at = |name: &str| text.find(&format!("\"{name}\":{{")).unwrap_or_else(|| panic!("{text}"));
    assert!(at("zebra") < at("apple") && at("apple") < at("lines"));
    assert!(!text.contains("\"format\""), "{text}");
}

#[test]
fn flattened_members_are_allowed() {
    let receipt = Receipt {
        total: 7,
        payment: Payment::Card { digits: 4 },
        line: Line { title: "x".into(), count: 1, price: None },
    };
    let vocab = Vocab::embedded().unwrap();
    let options = SchemaOptions { any_order: true, ..compact() };
    let typed = Typed::<Receipt>::with_options(&vocab, &options).unwrap();
    let text = serde_json::to_string(&receipt).unwrap();
    let mut matcher = Matcher::new(typed.grammar()).unwrap();
    assert!(matcher.accept_bytes(text.as_bytes()).unwrap() && matcher.is_complete(), "{text}");
    assert_eq!(typed.parse(&text).unwrap(), receipt);
}

#[test]
fn a_negative_zero_is_zero() {
    let vocab = Vocab::embedded().unwrap();
    let typed = Typed::<Line>::new(&vocab).unwrap();
    let line = typed.parse(r#"{"title":"a \"-0","count":-0,"price":-0.5}"#).unwrap();
    assert_eq!(line, Line { title: "a \"-0".into(), count: 0, price: Some(-0.5) });
}

#[test]
fn a_text_of_another_type_is_no_value() {
    let vocab = Vocab::embedded().unwrap();
    let typed = Typed::<Line>::new(&vocab).unwrap();
    assert!(typed.parse(r#"{"title":1}"#).is_err() && typed.clone().parse("").is_err());
}
