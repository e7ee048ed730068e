//! The llguidance worker of `./dev bench peers` (protocol: bench/peers/worker.py). Driven as its
//! documentation says. Per vocabulary there is one ParserFactory with the slices for JSON, made
//! before the clock starts. A schema is one create_parser. A token is compute_mask and
//! consume_token.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::io::{BufRead, Write};
use std::time::Instant;

use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::toktrie::InferenceCapabilities;
use llguidance::{Matcher, ParserFactory};
use serde_json::{json, Value};

struct Samples {
    mask: Vec<f64>,
    commit: Vec<f64>,
}

fn micros(from: Instant) -> f64 {
    from.elapsed().as_nanos() as f64 / 1000.0
}

/// One instance. Ok(true): it went through and may end. `first`: the mask of the first position was
/// timed with the compile.
fn run_test(
    matcher: &mut Matcher, tokens: &[u32], eos: u32,
    first: &mut Option<(f64, llguidance::toktrie::SimpleVob)>, samples: &mut Samples,
) -> anyhow::Result<bool> {
    for &token in tokens {
        let (us, mask) = match first.take() {
            Some(known) => known,
            None => {
                let start = Instant::now();
                let mask = matcher.compute_mask_or_eos()?;
                (micros(start), mask)
            }
        };
        samples.mask.push(us);
        if !mask.is_allowed(token) {
            samples.commit.push(0.0);
            return Ok(false);
        }
        let start = Instant::now();
        matcher.consume_token(token)?;
        samples.commit.push(micros(start));
    }
    let mask = match first.take() {
        Some((_, mask)) => mask,
        None => matcher.compute_mask_or_eos()?,
    };
    Ok(mask.is_allowed(eos))
}

/// The grammar of a case: a JSON Schema, or a Lark text.
fn grammar_of(case: &Value) -> anyhow::Result<TopLevelGrammar> {
    if let Some(schema) = case["schema"].as_str() {
        return Ok(TopLevelGrammar::from_json_schema(serde_json::from_str(schema)?));
    }
    match case["lark"].as_str() {
        Some(text) => Ok(TopLevelGrammar::from_lark(text.to_string())),
        None => Err(anyhow::anyhow!("there is no Lark text of this grammar")),
    }
}

fn run_case(factory: &ParserFactory, case: &Value, eos: u32) -> Value {
    let mut samples = Samples { mask: vec![], commit: vec![] };
    let start = Instant::now();
    let compiled = grammar_of(case).and_then(|grammar| factory.create_parser(grammar));
    let parser = match compiled {
        Ok(parser) => parser,
        Err(e) => return json!({"outcome": "refused", "message": e.to_string()}),
    };
    let fresh = Matcher::new(Ok(parser));
    let mut matcher = fresh.deep_clone();
    let cloned = Instant::now(); // the copy for further instances is ours, not llguidance's
    let ready = cloned - start;
    let mut first = match matcher.compute_mask_or_eos() {
        Ok(mask) => Some((micros(cloned), mask)),
        Err(e) => return json!({"outcome": "refused", "message": e.to_string()}),
    };
    let ttfm = ready.as_nanos() as f64 / 1000.0 + first.as_ref().map_or(0.0, |f| f.0);
    let (mut outcome, mut message) = ("pass", String::new());
    for (i, test) in case["tests"].as_array().map_or(&[][..], |t| t).iter().enumerate() {
        if i > 0 {
            matcher = fresh.deep_clone();
            first = None;
        }
        let tokens: Vec<u32> = test["tokens"]
            .as_array()
            .map_or(vec![], |t| t.iter().map(|v| v.as_u64().unwrap_or(0) as u32).collect());
        let valid = test["valid"].as_bool().unwrap_or(true);
        match run_test(&mut matcher, &tokens, eos, &mut first, &mut samples) {
            Ok(accepted) if accepted == valid => {}
            Ok(_) => {
                if outcome == "pass" {
                    outcome = if valid { "validation_error" } else { "invalidation_error" };
                }
            }
            Err(e) => {
                outcome = "limit";
                message = e.to_string();
                break;
            }
        }
    }
    json!({"outcome": outcome, "message": message, "ttfm_us": ttfm,
        "mask_samples_us": samples.mask, "commit_samples_us": samples.commit})
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let eos: u32 = arguments[2].parse()?;
    let mut tokenizer = toktrie_hf_tokenizers::ByteTokenizer::from_file(&arguments[1])?;
    tokenizer.set_eos_token(eos);
    let env = tokenizer.into_tok_env(None)?;
    let mut factory = ParserFactory::new(
        &env,
        InferenceCapabilities::default(),
        &SlicedBiasComputer::json_slices(),
    )?;
    factory.quiet();
    let mut out = std::io::stdout();
    writeln!(out, "{}", json!({"ready": "llguidance 1.9.1"}))?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let mut result = run_case(&factory, &case, eos);
        result["id"] = case["id"].clone();
        writeln!(out, "{result}")?;
        out.flush()?;
    }
    Ok(())
}
