//! Decoders through the wrapper, with a model of even and of odd logits. tests/hosts/host_rust.py
//! runs it.
//!
//! SPDX-License-Identifier: Apache-2.0
use turnstile::*;

fn grammar(pattern: &str) -> (Vocab, Grammar) {
    let vocab =
        Vocab::from_tokens(&["y", "e", "s", "n", "o", "yes", "es", "</s>"], &[7], &[7]).unwrap();
    let grammar = Grammar::regex(&vocab, pattern).unwrap();
    (vocab, grammar)
}

/// Every token is as likely, but that "o" is e times as likely as each of the others.
fn model(texts: &[&[Token]], rows: &mut [f32]) -> Result<()> {
    for (i, _) in texts.iter().enumerate() {
        rows[8 * i + 4] = 1.0;
    }
    Ok(())
}

fn log_p(tokens: &[Token]) -> f64 {
    let total = (7.0 + 1f64.exp()).ln();
    tokens.iter().map(|t| if *t == 4 { 1.0 - total } else { -total }).sum()
}

#[test]
fn all_outputs() {
    let (_vocab, grammar) = grammar("yes|no");
    let scores = score_all(&grammar, &ScoreOptions::default(), model).unwrap();
    assert_eq!(scores.missing, 0.0);
    let (no, yes) = (&scores.texts[0], &scores.texts[1]);
    assert_eq!((&no.text[..], &yes.text[..]), (&b"no"[..], &b"yes"[..]));
    assert!(
        (no.log_probability - log_p(&[3, 4, 7])).abs() < 1e-9
            && (yes.log_probability - log_p(&[5, 7])).abs() < 1e-9
    );
    assert!((no.probability + yes.probability - 1.0).abs() < 1e-12);
    let all =
        score_all(&grammar, &ScoreOptions { all_tokenisations: true, ..Default::default() }, model)
            .unwrap();
    let want = (log_p(&[5, 7]).exp() + log_p(&[0, 6, 7]).exp() + log_p(&[0, 1, 2, 7]).exp()).ln();
    assert!((all.texts[1].log_probability - want).abs() < 1e-9);
    assert_eq!(
        score_all(&grammar, &ScoreOptions { max_outputs: 1, ..Default::default() }, model)
            .unwrap_err()
            .status,
        "TSL_ERR_LIMIT"
    );
}

/// Labels behind reasoning, and the mean over two traces of it.
#[test]
fn outputs_from_the_middle() {
    let (_vocab, grammar) = grammar("(yes)*(no|s)");
    let mut matcher = Matcher::new(&grammar).unwrap();
    assert_eq!(
        score_all_from(&matcher, &ScoreOptions::default(), model).unwrap_err().status,
        "TSL_ERR_LIMIT"
    );
    assert!(matcher.accept_bytes(b"yesn").unwrap());
    let after = score_all_from(&matcher, &ScoreOptions::default(), model).unwrap();
    assert_eq!(after.texts.len(), 1);
    assert_eq!((&after.texts[0].text[..], after.texts[0].probability), (&b"o"[..], 1.0));
    assert!((after.texts[0].log_probability - log_p(&[4, 7])).abs() < 1e-9);
    assert!(matcher.accept(4).unwrap(), "the matcher has not moved");
    let one = |p, q| Scores {
        texts: vec![
            Score { text: b"no".to_vec(), log_probability: f64::ln(p), probability: p },
            Score { text: b"s".to_vec(), log_probability: f64::ln(q), probability: q },
        ],
        missing: 0.0,
    };
    let (mean, error) = Scores::mean(&[one(0.5, 0.5), one(0.75, 0.25)], b"no");
    assert!((mean - 0.625).abs() < 1e-12 && (error - 0.125).abs() < 1e-12);
    assert!(Scores::mean(&[one(0.5, 0.5)], b"s").1.is_nan());
}

#[test]
fn beams() {
    let (_vocab, grammar) = grammar("(yes|no)+");
    let options = BeamOptions { width: 50, n_best: 3, max_tokens: 4, length_penalty: 0.0 };
    let beams = beam_search(&grammar, &options, model).unwrap();
    assert_eq!(beams.len(), 3);
    assert_eq!((&beams[0].text[..], &beams[0].tokens[..]), (&b"yes"[..], &[5, 7][..]));
    for beam in &beams {
        assert!(
            (beam.log_probability - log_p(&beam.tokens)).abs() < 1e-9
                && beam.score == beam.log_probability
        );
    }
}

#[test]
fn aligned() {
    let (_vocab, grammar) = grammar("yes|no");
    let mut calls = 0;
    let mut align = Align::new(&grammar, 3, 9, |texts, rows| {
        calls += texts.len();
        model(texts, rows)
    })
    .unwrap();
    assert_eq!(align.mass(), 1.0);
    for _ in 0..200 {
        let (tokens, p) = align.sample().unwrap();
        assert!(tokens.last() == Some(&7) && (p - log_p(&tokens)).abs() < 1e-9);
    }
    let whole = [&[3, 4, 7][..], &[5, 7], &[0, 6, 7], &[0, 1, 2, 7]];
    let total: f64 = whole.iter().map(|t| log_p(t).exp()).sum();
    for tokens in whole {
        assert!((align.probability(tokens).unwrap() - log_p(tokens).exp() / total).abs() < 1e-3);
    }
    assert!((align.mass() - total).abs() < 1e-3);
    drop(align);
    assert!(calls > 400);
}

#[test]
fn what_a_model_says_is_handed_on() {
    let (_vocab, grammar) = grammar("yes|no");
    let refuse = |_: &[&[Token]], _: &mut [f32]| -> Result<()> {
        Err(Grammar::regex(&Vocab::embedded().unwrap(), "(").err().unwrap())
    };
    assert_eq!(
        score_all(&grammar, &ScoreOptions::default(), refuse).unwrap_err().status,
        "TSL_ERR_SYNTAX"
    );
    assert_eq!(
        Align::new(&grammar, 3, 9, refuse).unwrap().sample().unwrap_err().status,
        "TSL_ERR_SYNTAX"
    );
    let caught = std::panic::catch_unwind(|| {
        let options = BeamOptions { width: 2, n_best: 0, max_tokens: 4, length_penalty: 0.0 };
        beam_search(&grammar, &options, |_, _| panic!("no model")).map(|_| ())
    });
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"no model"));
}

#[test]
fn budgets() {
    let (vocab, grammar) = grammar("(yes)*no");
    let (mut budget, mut matcher) =
        (Budget::new(&grammar).unwrap(), Matcher::new(&grammar).unwrap());
    let error = budget.start(&matcher, 1).unwrap_err();
    assert!(error.status == "TSL_ERR_LIMIT" && error.message.contains("2 tokens"), "{error}");
    budget.start(&matcher, 2).unwrap();
    assert_eq!(budget.completion(&matcher).unwrap(), [3, 4]);
    assert!(
        budget.allows(&matcher, 2, 3).unwrap()
            && !budget.allows(&matcher, 2, 5).unwrap()
            && budget.allows(&matcher, 3, 5).unwrap()
    );
    let mut mask = vec![0; vocab.mask_words()];
    budget.mask(&matcher, 2, &mut mask).unwrap();
    assert_eq!(mask, [1 << 3]);
    let mut logits = vec![0.0; 8];
    matcher.accept(0).unwrap();
    budget.wind_down(&matcher, 1, 10, 5.0, &mut logits).unwrap();
    assert!(logits[6] > 0.0 && logits[3] == 0.0);
    assert!(
        budget.mask(&matcher, 2, &mut []).is_err()
            && budget.wind_down(&matcher, 1, 1, 1.0, &mut [0.0]).is_err()
    );
}

#[test]
fn events() {
    let mut events = Events::new().unwrap();
    let mut all = events.feed(br#"{"a": [1, "x\u00"#).unwrap();
    all.extend(events.feed(br#"e9y"]}"#).unwrap());
    all.extend(events.end().unwrap());
    let texts: String =
        all.iter().filter(|e| e.kind == EventKind::Text).map(|e| e.text.as_str()).collect();
    assert_eq!(texts, "x\u{e9}y");
    assert!(all.contains(&Event {
        kind: EventKind::End,
        value: Value::Number,
        pointer: "/a/0".into(),
        text: "1".into()
    }));
    assert_eq!(all.last().unwrap().value, Value::Object);
    events.reset();
    assert_eq!(events.feed(b"[}").unwrap_err().status, "TSL_ERR_SYNTAX");
    assert_eq!(events.feed(b"1").unwrap_err().status, "TSL_ERR_STATE");
}

#[test]
fn drafts() {
    let (_vocab, grammar) = grammar("yesno");
    let mut matcher = Matcher::new(&grammar).unwrap();
    let mut masks = [0; 3];
    assert_eq!(matcher.mask_drafts(&[5, 4], None, &mut masks).unwrap(), [true, false]);
    assert_eq!(masks, [1 << 5 | 1, 1 << 3, 0]);
    assert_eq!(
        matcher.mask_drafts(&[5, 0], Some(&[None, None]), &mut masks).unwrap(),
        [true, true]
    );
    assert!(
        matcher.mask_drafts(&[5], None, &mut masks).is_err()
            && matcher.mask_drafts(&[5, 0], Some(&[None]), &mut masks).is_err()
    );
    let logits = [0.0; 24];
    let drafts = Drafts {
        tokens: &[5, 3],
        parents: None,
        logits: &logits,
        draft_logits: None,
        temperature: 1.0,
        draft_temperature: 1.0,
        draft_masked: false,
        distinct: false,
    };
    let mut draws = 0;
    let done = matcher.speculate(&drafts, 1, &mut draws).unwrap();
    assert!(matcher.history() == done.path.len() + done.next.is_some() as usize && draws > 0);
    assert!(matcher.speculate(&Drafts { logits: &logits[..8], ..drafts }, 1, &mut draws).is_err());
    matcher.reset();
    let (forced, retract) = matcher.draft_forced(&[], 0, 8).unwrap();
    assert_eq!((&forced[..], retract), (&[5, 3, 4][..], 0));
}

#[test]
fn sampling() {
    let (logits, mask) = ([3.0, 2.0, 1.0, 0.0], [0b1111u32]);
    let greedy = SamplerOptions { presence_penalty: 1.5, penalty_window: 2, ..Default::default() };
    let mut sampler = Sampler::new(&greedy).unwrap();
    assert_eq!(sampler.draw(&logits, &mask).unwrap().token, 0);
    sampler.accept(0).unwrap();
    let mut fork = sampler.fork(7).unwrap();
    assert_eq!(sampler.draw(&logits, &mask).unwrap().token, 1);
    sampler.rollback(1).unwrap();
    assert_eq!(
        (sampler.draw(&logits, &mask).unwrap().token, fork.draw(&logits, &mask).unwrap().token),
        (0, 1)
    );
    fork.restart();
    fork.prompt(&[0]).unwrap();
    assert_eq!(fork.draw(&logits, &mask).unwrap().token, 1);
    assert_eq!(sampler.rollback(1).unwrap_err().status, "TSL_ERR_STATE");
    let options = SamplerOptions {
        temperature: 1.0,
        top_k: 3,
        bias: vec![(3, 10.0)],
        banned: vec![0],
        stages: vec![Stage::Bias, Stage::TopK],
        legal_mass: true,
        ..Default::default()
    };
    let draw = Sampler::new(&options).unwrap().draw(&logits, &[0b1011]).unwrap();
    assert!(
        draw.token == 3
            && draw.kept == 2
            && draw.allowed == 3
            && (draw.legal_mass - 0.913).abs() < 1e-3,
        "{draw:?}"
    );
    assert_eq!(
        Sampler::new(&SamplerOptions {
            top_p: 0.5,
            stages: vec![Stage::TopK],
            ..Default::default()
        })
        .err()
        .unwrap()
        .status,
        "TSL_ERR_ARGUMENT"
    );
    let step = measure_step(&logits, &[0b0111], Some(0), 2).unwrap();
    assert!(
        step.allowed == 3
            && step.top.len() == 2
            && step.top[0].0 == 0
            && (step.logprob - step.top[0].1).abs() < 1e-12
    );
    assert!((step.logprob - step.masked_logprob - step.legal_mass.ln()).abs() < 1e-9);
    let mut with = logits;
    guide_classifier_free(&mut with, &[1.0; 4], 2.0).unwrap();
    assert_eq!(with, [5.0, 3.0, 1.0, -1.0]);
    let mut strong = logits;
    guide_contrastive(&mut strong, &logits, Some(&mask), 0.3, 1.0).unwrap();
    assert_eq!(strong, [0.0, 0.0, f32::NEG_INFINITY, f32::NEG_INFINITY]);
    assert!(
        guide_classifier_free(&mut with, &[1.0], 2.0).is_err()
            && measure_step(&logits, &[], None, 0).is_err()
    );
}
