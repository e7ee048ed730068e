//! A value of a Rust type, generated from even logits, which stand in for a model's.
//!
//! SPDX-License-Identifier: Apache-2.0
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnstile::{Matcher, Sampler, SamplerOptions, SchemaOptions, Vocab, Whitespace};
use turnstile_types::Typed;

#[derive(Deserialize, JsonSchema, Serialize)]
enum Queue {
    Billing,
    Shipping,
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Ticket {
    queue: Queue,
    priority: u8,
    urgent: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocab = Vocab::embedded()?;
    let options = SchemaOptions { whitespace: Whitespace::Compact, ..Default::default() };
    let ticket = Typed::<Ticket>::with_options(&vocab, &options)?;
    let mut matcher = Matcher::new(ticket.grammar())?;
    let mut sampler = Sampler::new(&SamplerOptions { temperature: 1.0, ..Default::default() })?;
    let (mut mask, mut text) = (vec![0; vocab.mask_words()], Vec::new());
    while !matcher.is_terminated() {
        let logits = vec![0f32; vocab.logits_width()]; // the model's
        matcher.mask(&mut mask)?;
        let token = sampler.draw(&logits, &mask)?.token;
        matcher.accept(token)?;
        if !vocab.is_eog(token) {
            text.extend_from_slice(vocab.bytes(token).unwrap_or_default());
        }
    }
    println!("{}", serde_json::to_string(&ticket.parse(&text)?)?);
    Ok(())
}
