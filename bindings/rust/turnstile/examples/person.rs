//! One constrained generation from even logits, which stand in for a model's.
//!
//! SPDX-License-Identifier: Apache-2.0
use turnstile::{Grammar, Matcher, Sampler, SamplerOptions, SchemaOptions, Vocab, Whitespace};

fn main() -> turnstile::Result<()> {
    let vocab = match std::env::args().nth(1) {
        Some(path) => Vocab::from_file(path)?,
        None => Vocab::embedded()?,
    };
    let schema = r#"{"properties": {"name": {"enum": ["Ada", "Alan"]},
                                     "age": {"type": "integer", "minimum": 0, "maximum": 99}},
                     "required": ["name", "age"], "additionalProperties": false,
                     "type": "object"}"#;
    let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    let grammar = Grammar::json_schema(&vocab, schema, &options)?;
    let mut matcher = Matcher::new(&grammar)?;
    let mut sampler =
        Sampler::new(&SamplerOptions { seed: 1, temperature: 1.0, ..Default::default() })?;
    let mut mask = vec![0; vocab.mask_words()];
    let mut text = Vec::new();
    while !matcher.is_terminated() {
        let logits = vec![0f32; vocab.logits_width()]; // the model's
        matcher.mask(&mut mask)?;
        let token = sampler.draw(&logits, &mask)?.token;
        matcher.accept(token)?;
        if !vocab.is_eog(token) {
            text.extend_from_slice(vocab.bytes(token).unwrap_or_default());
        }
    }
    println!("{}", String::from_utf8_lossy(&text));
    Ok(())
}
