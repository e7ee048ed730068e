//! Decoders that know the grammar: budgets, events, drafts, beams, the model's own distribution,
//! probabilities of all outputs.
//!
//! A model is a closure: it gets the tokens of some texts after the prompt, and writes a row of
//! logits for each.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::any::Any;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut, NonNull};
use std::slice;

use turnstile_sys as sys;

use crate::{argument, check, make, with_error, Error, Grammar, Matcher, Result, Token};

// ---- budgets ------------------------------------------------------------------------------------

/// Texts that are complete within a number of tokens.
pub struct Budget {
    raw: NonNull<sys::tsl_budget>,
    words: usize,
    width: usize,
}

// SAFETY: it has no ties to a thread; it is used by one at a time, since what changes it takes
// &mut.
unsafe impl Send for Budget {}

impl Drop for Budget {
    fn drop(&mut self) {
        unsafe { sys::tsl_budget_free(self.raw.as_ptr()) }
    }
}

impl Budget {
    pub fn new(grammar: &Grammar) -> Result<Self> {
        let raw = make(|out, _| unsafe { sys::tsl_budget_new(grammar.0.as_ptr(), null(), out) })?;
        Ok(Budget {
            raw,
            words: grammar.vocab().mask_words(),
            width: grammar.vocab().logits_width(),
        })
    }

    /// `TSL_ERR_LIMIT`, with the number in the message, if the text cannot be completed with so
    /// many more tokens.
    pub fn start(&mut self, matcher: &Matcher, max_tokens: u64) -> Result<()> {
        with_error(|error| unsafe {
            sys::tsl_budget_start(self.raw.as_ptr(), matcher.raw.as_ptr(), max_tokens, error)
        })
    }

    /// The tokens of a short completion; empty where the text may end.
    pub fn completion(&mut self, matcher: &Matcher) -> Result<Vec<Token>> {
        let mut count = 0;
        check(unsafe {
            sys::tsl_budget_completion(
                self.raw.as_ptr(),
                matcher.raw.as_ptr(),
                null_mut(),
                0,
                &mut count,
            )
        })?;
        let mut tokens = vec![0; count];
        check(unsafe {
            sys::tsl_budget_completion(
                self.raw.as_ptr(),
                matcher.raw.as_ptr(),
                tokens.as_mut_ptr(),
                count,
                &mut count,
            )
        })?;
        Ok(tokens)
    }

    /// May the token be accepted with `left` tokens to go, itself included?
    pub fn allows(&mut self, matcher: &Matcher, left: u64, token: Token) -> Result<bool> {
        Matcher::accepted(unsafe {
            sys::tsl_budget_allows(self.raw.as_ptr(), matcher.raw.as_ptr(), left, token)
        })
    }

    /// All such tokens.
    pub fn mask(&mut self, matcher: &Matcher, left: u64, mask: &mut [u32]) -> Result<()> {
        if mask.len() != self.words {
            return Err(argument("the mask does not have Vocab::mask_words() words"));
        }
        check(unsafe {
            sys::tsl_budget_mask(self.raw.as_ptr(), matcher.raw.as_ptr(), left, mask.as_mut_ptr())
        })
    }

    /// From `soft` tokens left on, make closing what is open likelier: by up to `bias`, and not
    /// inside strings.
    pub fn wind_down(
        &mut self, matcher: &Matcher, left: u64, soft: u64, bias: f32, logits: &mut [f32],
    ) -> Result<()> {
        if logits.len() != self.width {
            return Err(argument("the logits do not have Vocab::logits_width() elements"));
        }
        check(unsafe {
            sys::tsl_budget_wind_down(
                self.raw.as_ptr(),
                matcher.raw.as_ptr(),
                left,
                soft,
                bias,
                logits.as_mut_ptr(),
            )
        })
    }
}

// ---- events -------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A value begins.
    Begin,
    /// More of a string: whole characters, decoded.
    Text,
    /// The value is whole; `text` is a number's spelling.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: EventKind,
    pub value: Value,
    /// The JSON pointer of the value.
    pub pointer: String,
    pub text: String,
}

/// Reads one JSON text in pieces of any size.
pub struct Events {
    raw: NonNull<sys::tsl_events>,
    found: *mut Vec<Event>, // ours; the library writes to it
}

// SAFETY: as Budget.
unsafe impl Send for Events {}

impl Drop for Events {
    fn drop(&mut self) {
        unsafe {
            sys::tsl_events_free(self.raw.as_ptr());
            drop(Box::from_raw(self.found));
        }
    }
}

/// SAFETY: `at` leads to `length` bytes, or the length is 0.
unsafe fn text(at: *const c_char, length: usize) -> String {
    if length == 0 {
        String::new()
    } else {
        String::from_utf8_lossy(slice::from_raw_parts(at.cast(), length)).into_owned()
    }
}

unsafe extern "C" fn take_event(ctx: *mut c_void, event: *const sys::tsl_event) {
    let (found, e) = (&mut *ctx.cast::<Vec<Event>>(), &*event);
    let kind = [EventKind::Begin, EventKind::Text, EventKind::End][e.kind as usize - 1];
    let value = [
        Value::Object,
        Value::Array,
        Value::String,
        Value::Number,
        Value::True,
        Value::False,
        Value::Null,
    ][e.value as usize - 1];
    found.push(Event {
        kind,
        value,
        pointer: text(e.pointer, e.pointer_length),
        text: text(e.text, e.text_length),
    });
}

impl Events {
    pub fn new() -> Result<Self> {
        let found: *mut Vec<Event> = Box::into_raw(Box::default());
        match make(|out, _| unsafe {
            sys::tsl_events_new(Some(take_event), found.cast(), null(), out)
        }) {
            Ok(raw) => Ok(Events { raw, found }),
            Err(error) => {
                drop(unsafe { Box::from_raw(found) });
                Err(error)
            }
        }
    }

    /// Back to the beginning of a text.
    pub fn reset(&mut self) {
        unsafe { sys::tsl_events_reset(self.raw.as_ptr()) }
    }

    fn collect(
        &mut self, call: impl FnOnce(*mut sys::tsl_events, *mut sys::tsl_error) -> sys::tsl_status,
    ) -> Result<Vec<Event>> {
        let raw = self.raw.as_ptr();
        let done = with_error(|error| call(raw, error));
        // SAFETY: the library is done with it.
        let found = std::mem::take(unsafe { &mut *self.found });
        done.map(|()| found)
    }

    /// Read on: the bytes of each accepted token.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>> {
        self.collect(|raw, error| unsafe {
            sys::tsl_events_feed(raw, bytes.as_ptr().cast(), bytes.len(), error)
        })
    }

    /// The text is over.
    pub fn end(&mut self) -> Result<Vec<Event>> {
        self.collect(|raw, error| unsafe { sys::tsl_events_end(raw, error) })
    }
}

// ---- drafts -------------------------------------------------------------------------------------

/// Drafted tokens and what both models say of them. Rows of logits have `Vocab::logits_width()`
/// elements.
#[derive(Clone, Copy, Debug)]
pub struct Drafts<'a> {
    pub tokens: &'a [Token],
    /// The index of the draft before each, `None` where it follows the text; without them each
    /// follows the one before.
    pub parents: Option<&'a [Option<u32>]>,
    /// The model's: `tokens.len() + 1` rows, after the text and after each draft.
    pub logits: &'a [f32],
    /// The drafter's, if drafts were drawn from it; else they were chosen.
    pub draft_logits: Option<&'a [f32]>,
    pub temperature: f32,
    pub draft_temperature: f32,
    /// The drafter drew under the grammar's masks too.
    pub draft_masked: bool,
    /// Siblings were drawn without replacement.
    pub distinct: bool,
}

/// The drafts accepted, in order, and the token after them, if the text goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speculated {
    pub path: Vec<u32>,
    pub next: Option<Token>,
}

fn raw_parents(parents: Option<&[Option<u32>]>, count: usize) -> Result<Option<Vec<u32>>> {
    match parents {
        Some(p) if p.len() != count => Err(argument("tokens and parents differ in length")),
        Some(p) => Ok(Some(p.iter().map(|parent| parent.unwrap_or(sys::TSL_NO_PARENT)).collect())),
        None => Ok(None),
    }
}

impl Matcher {
    /// The masks of all positions of a chain or tree of drafts, `tokens.len() + 1` rows one after
    /// the other. The first is of the matcher's own position, the others are after each draft. Says
    /// which drafts are allowed. The matcher does not move.
    pub fn mask_drafts(
        &mut self, tokens: &[Token], parents: Option<&[Option<u32>]>, masks: &mut [u32],
    ) -> Result<Vec<bool>> {
        let parents = raw_parents(parents, tokens.len())?;
        if masks.len() != (tokens.len() + 1) * self.words {
            return Err(argument(
                "the masks are not a row of Vocab::mask_words() words for each draft and one more",
            ));
        }
        let mut allowed = vec![false; tokens.len()];
        let at = parents.as_ref().map_or(null(), |p| p.as_ptr());
        check(unsafe {
            sys::tsl_matcher_mask_drafts(
                self.raw.as_ptr(),
                tokens.as_ptr(),
                at,
                tokens.len(),
                masks.as_mut_ptr(),
                allowed.as_mut_ptr(),
            )
        })?;
        Ok(allowed)
    }

    /// Accept drafts, and draw one token after them, so that tokens are distributed exactly as
    /// without drafts. `draws` counts the random numbers of `seed` that were used: keep it, and
    /// start it at 0.
    pub fn speculate(&mut self, drafts: &Drafts, seed: u64, draws: &mut u64) -> Result<Speculated> {
        let (n, width) = (drafts.tokens.len(), self.width);
        let parents = raw_parents(drafts.parents, n)?;
        if drafts.logits.len() != (n + 1) * width
            || drafts.draft_logits.map_or(false, |l| l.len() != (n + 1) * width)
        {
            return Err(argument(
                "the logits are not a row of Vocab::logits_width() elements \
                 for each draft and one more",
            ));
        }
        let raw = sys::tsl_drafts {
            tokens: drafts.tokens.as_ptr(),
            parents: parents.as_ref().map_or(null(), |p| p.as_ptr()),
            count: n,
            logits: drafts.logits.as_ptr(),
            draft_logits: drafts.draft_logits.map_or(null(), |l| l.as_ptr()),
            temperature: drafts.temperature,
            draft_temperature: drafts.draft_temperature,
            draft_masked: drafts.draft_masked,
            distinct: drafts.distinct,
        };
        let (mut path, mut accepted, mut next) = (vec![0; n + 1], 0, sys::TSL_NO_TOKEN);
        check(unsafe {
            sys::tsl_speculate(
                self.raw.as_ptr(),
                &raw,
                seed,
                draws,
                path.as_mut_ptr(),
                &mut accepted,
                &mut next,
            )
        })?;
        path.truncate(accepted);
        Ok(Speculated { path, next: if next == sys::TSL_NO_TOKEN { None } else { Some(next) } })
    }

    /// Drafts that the grammar itself makes, in the tokens that the tokenizer would use, at most
    /// `limit`. The second value is how many of the last tokens of `tail` (the last ones accepted)
    /// they replace, at most `max_retract`. Roll back by so many first.
    pub fn draft_forced(
        &mut self, tail: &[Token], max_retract: usize, limit: usize,
    ) -> Result<(Vec<Token>, usize)> {
        let (mut tokens, mut count, mut retract) = (vec![0; limit], 0, 0);
        check(unsafe {
            sys::tsl_matcher_draft_forced(
                self.raw.as_ptr(),
                tail.as_ptr(),
                tail.len(),
                max_retract,
                tokens.as_mut_ptr(),
                limit,
                &mut count,
                &mut retract,
            )
        })?;
        tokens.truncate(count);
        Ok((tokens, retract))
    }
}

// ---- the model ----------------------------------------------------------------------------------

type Model<'m> = dyn FnMut(&[&[Token]], &mut [f32]) -> Result<()> + 'm;

/// A model as the library calls it, and how it failed.
struct Caller<'m> {
    model: Box<Model<'m>>,
    width: usize,
    error: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn ask(
    ctx: *mut c_void, prefixes: *const sys::tsl_prefix, n: usize, logits: *mut f32,
) -> sys::tsl_status {
    let caller = &mut *ctx.cast::<Caller>();
    let texts: Vec<&[Token]> = slice::from_raw_parts(prefixes, n)
        .iter()
        .map(|p| if p.count == 0 { &[][..] } else { slice::from_raw_parts(p.tokens, p.count) })
        .collect();
    let rows = slice::from_raw_parts_mut(logits, n * caller.width);
    rows.fill(0.0);
    let model = &mut caller.model;
    match catch_unwind(AssertUnwindSafe(|| model(&texts, rows))) {
        Ok(Ok(())) => return sys::TSL_OK,
        Ok(Err(error)) => caller.error = Some(error),
        Err(panic) => caller.panic = Some(panic),
    }
    sys::TSL_ERR_STATE
}

impl<'m> Caller<'m> {
    fn new(
        grammar: &Grammar, model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()> + 'm,
    ) -> Box<Self> {
        Self::wide(grammar.vocab().logits_width(), model)
    }

    /// `width`: the logits of a row.
    fn wide(
        width: usize, model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()> + 'm,
    ) -> Box<Self> {
        Box::new(Caller { model: Box::new(model), width, error: None, panic: None })
    }

    fn ctx(&mut self) -> *mut c_void {
        let at: *mut Self = self;
        at.cast()
    }

    /// A panic of the model goes on; its error stands for the library's.
    fn result<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => result,
        }
    }
}

// ---- beams --------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
pub struct BeamOptions {
    /// Texts that are followed at once.
    pub width: u32,
    /// Texts wanted; 0: `width`.
    pub n_best: u32,
    pub max_tokens: u32,
    /// Texts are ranked by log-probability / tokens^length_penalty.
    pub length_penalty: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    pub text: Vec<u8>,
    pub tokens: Vec<Token>,
    pub log_probability: f64,
    pub score: f64,
}

/// The most probable texts of a grammar, the best first; `model` writes a row of logits for each
/// text.
pub fn beam_search(
    grammar: &Grammar, options: &BeamOptions,
    model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()>,
) -> Result<Vec<Beam>> {
    let o = sys::tsl_beam_options {
        width: options.width,
        n_best: options.n_best,
        max_tokens: options.max_tokens,
        length_penalty: options.length_penalty,
    };
    let mut caller = Caller::new(grammar, model);
    let ctx = caller.ctx();
    let made = make(|out, error| unsafe {
        sys::tsl_beam_search(grammar.0.as_ptr(), Some(ask), ctx, &o, null(), out, error)
    });
    let beams = caller.result(made)?.as_ptr();
    let list = (0..unsafe { sys::tsl_beams_count(beams) })
        .map(|i| unsafe {
            let (mut count, mut length) = (0, 0);
            let tokens = sys::tsl_beams_tokens(beams, i, &mut count);
            let text = sys::tsl_beams_text(beams, i, &mut length);
            Beam {
                text: if length == 0 {
                    Vec::new()
                } else {
                    slice::from_raw_parts(text.cast(), length).to_vec()
                },
                tokens: if count == 0 {
                    Vec::new()
                } else {
                    slice::from_raw_parts(tokens, count).to_vec()
                },
                log_probability: sys::tsl_beams_log_probability(beams, i),
                score: sys::tsl_beams_score(beams, i),
            }
        })
        .collect();
    unsafe { sys::tsl_beams_free(beams) };
    Ok(list)
}

// ---- the model's own distribution ---------------------------------------------------------------

/// Draws texts of one prompt so that they converge to the model's own distribution given the
/// grammar.
pub struct Align<'m> {
    raw: NonNull<sys::tsl_align>,
    caller: *mut Caller<'m>, // ours; the library leads to it
    max_tokens: usize,
}

impl Drop for Align<'_> {
    fn drop(&mut self) {
        unsafe {
            sys::tsl_align_free(self.raw.as_ptr());
            drop(Box::from_raw(self.caller));
        }
    }
}

impl<'m> Align<'m> {
    pub fn new(
        grammar: &Grammar, max_tokens: u32, seed: u64,
        model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()> + 'm,
    ) -> Result<Self> {
        let o = sys::tsl_align_options { seed, max_tokens };
        let caller = Box::into_raw(Caller::new(grammar, model));
        match make(|out, error| unsafe {
            sys::tsl_align_new(grammar.0.as_ptr(), Some(ask), caller.cast(), &o, null(), out, error)
        }) {
            Ok(raw) => Ok(Align { raw, caller, max_tokens: max_tokens as usize }),
            Err(error) => {
                drop(unsafe { Box::from_raw(caller) });
                Err(error)
            }
        }
    }

    /// Draw a text: its tokens, the end included, and the model's own log-probability of it.
    pub fn sample(&mut self) -> Result<(Vec<Token>, f64)> {
        let (mut tokens, mut count, mut p) = (vec![0; self.max_tokens + 1], 0, 0.0);
        let done = check(unsafe {
            sys::tsl_align_sample(self.raw.as_ptr(), tokens.as_mut_ptr(), &mut count, &mut p)
        });
        // SAFETY: the library is done with it.
        unsafe { &mut *self.caller }.result(done)?;
        tokens.truncate(count);
        Ok((tokens, p))
    }

    /// The probability that the next sample is this text, tokens and all.
    pub fn probability(&mut self, tokens: &[Token]) -> Result<f64> {
        let mut p = 0.0;
        let done = check(unsafe {
            sys::tsl_align_probability(self.raw.as_ptr(), tokens.as_ptr(), tokens.len(), &mut p)
        });
        // SAFETY: the library is done with it.
        unsafe { &mut *self.caller }.result(done)?;
        Ok(p)
    }

    /// An upper bound of the probability that the model, left alone, writes a text of the grammar.
    pub fn mass(&self) -> f64 {
        unsafe { sys::tsl_align_mass(self.raw.as_ptr()) }
    }
}

// ---- all outputs --------------------------------------------------------------------------------

/// Zeros mean the defaults: 1,000 outputs, 100,000 prefixes, 32 in one call of the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreOptions {
    pub max_outputs: u32,
    pub max_prefixes: u32,
    pub batch: u32,
    /// Sum over every way to spell a text in tokens.
    pub all_tokenisations: bool,
    /// The texts are JSON: leave out needless escapes.
    pub plain_json: bool,
    /// Leave out the probability of the end after a text.
    pub open_end: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub text: Vec<u8>,
    /// The model's own.
    pub log_probability: f64,
    /// Among these texts.
    pub probability: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// In the order of their bytes.
    pub texts: Vec<Score>,
    /// Probability that was not looked at.
    pub missing: f64,
}

impl ScoreOptions {
    fn raw(&self) -> sys::tsl_score_options {
        sys::tsl_score_options {
            max_outputs: self.max_outputs,
            max_prefixes: self.max_prefixes,
            batch: self.batch,
            all_tokenisations: self.all_tokenisations,
            plain_json: self.plain_json,
            open_end: self.open_end,
        }
    }
}

impl Scores {
    /// A copy of what the library made, which is freed.
    fn copied(scores: *mut sys::tsl_scores) -> Scores {
        let texts = (0..unsafe { sys::tsl_scores_count(scores) })
            .map(|i| unsafe {
                let mut length = 0;
                let text = sys::tsl_scores_text(scores, i, &mut length);
                Score {
                    text: if length == 0 {
                        Vec::new()
                    } else {
                        slice::from_raw_parts(text.cast(), length).to_vec()
                    },
                    log_probability: sys::tsl_scores_log_probability(scores, i),
                    probability: sys::tsl_scores_probability(scores, i),
                }
            })
            .collect();
        let missing = unsafe { sys::tsl_scores_missing(scores) };
        unsafe { sys::tsl_scores_free(scores) };
        Scores { texts, missing }
    }

    /// The probability of a text as the mean over these scores, which were made behind several
    /// reasoning traces of one prompt, and its standard error. The error is NaN for one trace.
    /// Without scores both are NaN. A text that some scores do not have counts as 0 there.
    pub fn mean(traces: &[Scores], text: &[u8]) -> (f64, f64) {
        let n = traces.len() as f64;
        let of = |scores: &Scores| {
            scores.texts.iter().find(|s| s.text == text).map_or(0.0, |s| s.probability)
        };
        let mean = traces.iter().map(of).sum::<f64>() / n;
        let squares: f64 = traces.iter().map(|s| (of(s) - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0) / n).sqrt())
    }
}

/// The probabilities of all texts of a grammar that has finitely many.
pub fn score_all(
    grammar: &Grammar, options: &ScoreOptions,
    model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()>,
) -> Result<Scores> {
    let o = options.raw();
    let mut caller = Caller::new(grammar, model);
    let ctx = caller.ctx();
    let made = make(|out, error| unsafe {
        sys::tsl_score_all(grammar.0.as_ptr(), Some(ask), ctx, &o, null(), out, error)
    });
    Ok(Scores::copied(caller.result(made)?.as_ptr()))
}

/// The same from the middle of a text: the texts are all ways to go on from where the matcher
/// stands, and prefixes begin there. So a label is scored behind reasoning.
pub fn score_all_from(
    matcher: &Matcher, options: &ScoreOptions,
    model: impl FnMut(&[&[Token]], &mut [f32]) -> Result<()>,
) -> Result<Scores> {
    let o = options.raw();
    let mut caller = Caller::wide(matcher.width, model);
    let ctx = caller.ctx();
    let made = make(|out, error| unsafe {
        sys::tsl_score_all_from(matcher.raw.as_ptr(), Some(ask), ctx, &o, null(), out, error)
    });
    Ok(Scores::copied(caller.result(made)?.as_ptr()))
}
