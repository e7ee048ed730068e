//! Grammars of Rust's types, and answers as values. `schemars` says what a type looks like as JSON.
//! Turnstile makes a grammar of that. `serde` reads what the model has written.
//!
//! ```no_run
//! #[derive(schemars::JsonSchema, serde::Deserialize)]
//! struct Person {
//!     name: String,
//!     age: u8,
//! }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vocab = turnstile::Vocab::embedded()?;
//! let person = turnstile_types::Typed::<Person>::new(&vocab)?;
//! let mut matcher = turnstile::Matcher::new(person.grammar())?;
//! // … masks, draws and accepted tokens, as in the examples of turnstile-llm …
//! let ada: Person = person.parse(r#"{"name":"Ada","age":36}"#)?;
//! # Ok(()) }
//! ```
//!
//! SPDX-License-Identifier: Apache-2.0
#![forbid(unsafe_code)]

use std::marker::PhantomData;

use schemars::generate::SchemaSettings;
use schemars::transform::{transform_subschemas, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use turnstile::{Grammar, SchemaOptions, Vocab};

/// Integer formats of schemars, with the values that they stand for. JSON Schema does not know
/// these formats, so bounds say what fits into the type.
const INTEGERS: &[(&str, i128, i128)] = &[
    ("int8", i8::MIN as i128, i8::MAX as i128),
    ("int16", i16::MIN as i128, i16::MAX as i128),
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("int", isize::MIN as i128, isize::MAX as i128),
    ("uint8", 0, u8::MAX as i128),
    ("uint16", 0, u16::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
    ("uint", 0, usize::MAX as i128),
];
/// Formats of schemars that say how a number is kept, and forbid no value.
const NUMBERS: &[&str] = &["float", "double", "int128", "uint128"];

/// Where a schema lists others that hold for the same value.
const PARTS: &[&str] = &["allOf", "anyOf", "oneOf"];

/// `#[serde(flatten)]` makes one object of several schemas. Each has some of its members, so none
/// may forbid others.
fn keep_parts_open(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if !object.contains_key("properties") && !object.contains_key("allOf") {
        return;
    }
    for key in PARTS {
        let Some(serde_json::Value::Array(parts)) = object.get_mut(*key) else { continue };
        for part in parts.iter_mut().filter_map(|part| part.as_object_mut()) {
            part.entry("additionalProperties").or_insert(true.into());
        }
    }
}

/// What the schema of schemars leaves open and the type does not: bounds of integers, and members
/// that no field has.
#[derive(Clone)]
struct Tight;

impl Transform for Tight {
    fn transform(&mut self, schema: &mut Schema) {
        keep_parts_open(schema);
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(format) = object.get("format").and_then(|f| f.as_str()).map(str::to_owned) {
            let integer = INTEGERS.iter().find(|(name, _, _)| *name == format);
            if let Some((_, low, high)) = integer {
                // Both fit: u64::MAX and i64::MIN are numbers of serde_json.
                let number = |n: i128| match u64::try_from(n) {
                    Ok(n) => serde_json::Value::from(n),
                    Err(_) => serde_json::Value::from(n as i64),
                };
                object.entry("minimum").or_insert_with(|| number(*low));
                object.entry("maximum").or_insert_with(|| number(*high));
            }
            if integer.is_some() || NUMBERS.contains(&format.as_str()) {
                object.remove("format");
            }
        }
        let closes = object.contains_key("properties")
            && !object.contains_key("additionalProperties")
            && !object.contains_key("unevaluatedProperties")
            && !PARTS.iter().any(|key| object.contains_key(*key));
        if closes {
            object.insert("additionalProperties".into(), false.into());
        }
    }
}

/// The JSON Schema (draft 2020-12) of a type as `serde` reads it. Members come in the order of the
/// fields. Objects have no members beside the fields, unless the type says `flatten`. Integers have
/// the bounds of their type; 128-bit ones have no bounds.
pub fn schema<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(Tight);
    settings.into_generator().into_root_schema_for::<T>().as_value().to_string()
}

/// A grammar whose texts are values of `T`. Clones share the grammar.
pub struct Typed<T> {
    grammar: Grammar,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Typed<T> {
    fn clone(&self) -> Self {
        Typed { grammar: self.grammar.clone(), of: PhantomData }
    }
}

impl<T: JsonSchema + DeserializeOwned> Typed<T> {
    /// Compile with the default options of a schema. Fails as `Grammar::json_schema` does, with the
    /// place in [`schema`]`::<T>()` that is not supported.
    pub fn new(vocab: &Vocab) -> turnstile::Result<Self> {
        Self::with_options(vocab, &SchemaOptions::default())
    }

    pub fn with_options(vocab: &Vocab, options: &SchemaOptions) -> turnstile::Result<Self> {
        let grammar = Grammar::json_schema(vocab, &schema::<T>(), options)?;
        Ok(Typed { grammar, of: PhantomData })
    }

    /// For a `Matcher`, and for everything else that takes a grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The value of a finished text. JSON has the number `-0`, which serde takes for no integer: it
    /// is read as 0 there. A text that the grammar allows fails only where `T` refuses what its
    /// schema does not, such as a 128-bit integer that is too large.
    pub fn parse(&self, text: impl AsRef<[u8]>) -> serde_json::Result<T> {
        let text = text.as_ref();
        serde_json::from_slice(text).or_else(|error| match without_negative_zeros(text) {
            Some(other) => serde_json::from_slice(&other).map_err(|_| error),
            None => Err(error),
        })
    }
}

/// The text with 0 for the integer -0; None if there is none.
fn without_negative_zeros(text: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut quoted, mut at) = (Vec::with_capacity(text.len()), false, 0);
    while at < text.len() {
        let goes_on = |c: &u8| c.is_ascii_digit() || b".eE".contains(c);
        match text[at] {
            b'\\' if quoted && at + 1 < text.len() => {
                out.push(text[at]);
                at += 1;
            }
            b'"' => quoted = !quoted,
            b'-' if !quoted && text.get(at + 1) == Some(&b'0') => {
                at += usize::from(!text.get(at + 2).is_some_and(goes_on));
            }
            _ => {}
        }
        out.push(text[at]);
        at += 1;
    }
    (out.len() < text.len()).then_some(out)
}
