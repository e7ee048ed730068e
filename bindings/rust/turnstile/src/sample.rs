//! Rows of logits: drawing, what the model wanted, guidance.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::os::raw::c_int;
use std::ptr::{null, null_mut, NonNull};

use turnstile_sys as sys;

use crate::{argument, check, make, Matcher, Result, Token};

/// What runs between the mask and the draw. `docs/sampling.md` says what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Bias = 1,
    Penalties = 2,
    Dry = 3,
    Temperature = 4,
    TopNSigma = 5,
    TopK = 6,
    TopP = 7,
    MinP = 8,
    TypicalP = 9,
    Epsilon = 10,
    Eta = 11,
    Xtc = 12,
    Mirostat = 13,
}

/// How to draw. What is zero or empty is off, so that the default is greedy; `temperature: 1.0`
/// draws from the model's own distribution under the mask.
#[derive(Clone, Debug, Default)]
pub struct SamplerOptions {
    pub seed: u64,
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    /// Fill `Draw::legal_mass`.
    pub legal_mass: bool,
    /// What runs, in which order; empty: all that is requested, in the order of `Stage`.
    pub stages: Vec<Stage>,
    pub dynamic_range: f32,
    pub dynamic_exponent: f32,
    pub top_n_sigma: f32,
    pub typical_p: f32,
    pub epsilon: f32,
    pub eta: f32,
    pub xtc_probability: f32,
    pub xtc_threshold: f32,
    pub mirostat_tau: f32,
    pub mirostat_eta: f32,
    pub repetition_penalty: f32,
    pub frequency_penalty: f32,
    pub presence_penalty: f32,
    /// Tokens that penalties look back at; 0: all.
    pub penalty_window: u32,
    pub dry_multiplier: f32,
    pub dry_base: f32,
    pub dry_allowed: u32,
    pub dry_window: u32,
    pub dry_breakers: Vec<Token>,
    /// Added to the logits of tokens.
    pub bias: Vec<(Token, f32)>,
    /// Nothing else may be drawn; empty: everything may.
    pub allowed: Vec<Token>,
    pub banned: Vec<Token>,
    pub no_repeat_ngram: u32,
    pub min_tokens: u32,
    pub max_tokens: u32,
    /// The tokens that `min_tokens` and `max_tokens` are about: `Vocab::eog`.
    pub eog: Vec<Token>,
    /// The guard against loops: after so many equal copies at the end of the text no further copy
    /// begins, if something else is allowed. 0 is off, 1 is an error.
    pub loop_repeats: u32,
    /// Tokens of one copy at most; 0: 64.
    pub loop_longest: u32,
    /// Penalties, DRY and `no_repeat_ngram` take structure as any other text, also in
    /// `Sampler::draw_at`.
    pub penalise_structure: bool,
}

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    pub token: Token,
    /// Among those that were left after the cut-offs.
    pub probability: f64,
    /// What the model had put on allowed tokens; NaN unless `SamplerOptions::legal_mass`.
    pub legal_mass: f64,
    pub allowed: u32,
    pub kept: u32,
}

/// Draws tokens from logits under a mask; equal seeds, options and inputs give equal tokens
/// everywhere.
pub struct Sampler(NonNull<sys::tsl_sampler>);

// SAFETY: it has no ties to a thread; it is used by one at a time, since what changes it takes
// &mut.
unsafe impl Send for Sampler {}

impl Drop for Sampler {
    fn drop(&mut self) {
        unsafe { sys::tsl_sampler_free(self.0.as_ptr()) }
    }
}

fn count<T>(list: &[T]) -> Result<u32> {
    u32::try_from(list.len()).map_err(|_| argument("a list is longer than 32 bits count"))
}

fn fits(logits: &[f32], mask: &[u32]) -> Result<()> {
    if mask.len() == (logits.len() + 31) / 32 {
        Ok(())
    } else {
        Err(argument("a mask has a word for each 32 logits"))
    }
}

impl Sampler {
    pub fn new(options: &SamplerOptions) -> Result<Self> {
        let o = options;
        let stages: Vec<c_int> = o.stages.iter().map(|s| *s as c_int).collect();
        let bias: Vec<sys::tsl_token_bias> = o
            .bias
            .iter()
            .map(|(token, bias)| sys::tsl_token_bias { token: *token, bias: *bias })
            .collect();
        let raw = sys::tsl_sampler_options {
            seed: o.seed,
            temperature: o.temperature,
            top_k: o.top_k,
            top_p: o.top_p,
            min_p: o.min_p,
            legal_mass: o.legal_mass,
            stages: if stages.is_empty() { null() } else { stages.as_ptr() },
            stage_count: count(&stages)?,
            dynamic_range: o.dynamic_range,
            dynamic_exponent: o.dynamic_exponent,
            top_n_sigma: o.top_n_sigma,
            typical_p: o.typical_p,
            epsilon: o.epsilon,
            eta: o.eta,
            xtc_probability: o.xtc_probability,
            xtc_threshold: o.xtc_threshold,
            mirostat_tau: o.mirostat_tau,
            mirostat_eta: o.mirostat_eta,
            repetition_penalty: o.repetition_penalty,
            frequency_penalty: o.frequency_penalty,
            presence_penalty: o.presence_penalty,
            penalty_window: o.penalty_window,
            dry_multiplier: o.dry_multiplier,
            dry_base: o.dry_base,
            dry_allowed: o.dry_allowed,
            dry_window: o.dry_window,
            dry_breakers: o.dry_breakers.as_ptr(),
            dry_breaker_count: count(&o.dry_breakers)?,
            bias: bias.as_ptr(),
            bias_count: count(&bias)?,
            allowed: o.allowed.as_ptr(),
            allowed_count: count(&o.allowed)?,
            banned: o.banned.as_ptr(),
            banned_count: count(&o.banned)?,
            no_repeat_ngram: o.no_repeat_ngram,
            min_tokens: o.min_tokens,
            max_tokens: o.max_tokens,
            eog: o.eog.as_ptr(),
            eog_count: count(&o.eog)?,
            loop_repeats: o.loop_repeats,
            loop_longest: o.loop_longest,
            penalise_structure: o.penalise_structure,
        };
        make(|out, _| unsafe { sys::tsl_sampler_new(&raw, null(), out) }).map(Sampler)
    }

    pub fn draw(&mut self, logits: &[f32], mask: &[u32]) -> Result<Draw> {
        fits(logits, mask)?;
        let mut d =
            sys::tsl_draw { token: 0, probability: 0.0, legal_mass: 0.0, allowed: 0, kept: 0 };
        check(unsafe {
            sys::tsl_sampler_draw(
                self.0.as_ptr(),
                logits.as_ptr(),
                logits.len(),
                mask.as_ptr(),
                &mut d,
            )
        })?;
        Ok(Draw {
            token: d.token,
            probability: d.probability,
            legal_mass: d.legal_mass,
            allowed: d.allowed,
            kept: d.kept,
        })
    }

    /// Draw where `matcher` stands: penalties, DRY and `no_repeat_ngram` spare structure, such as
    /// names of members.
    pub fn draw_at(&mut self, matcher: &Matcher, logits: &[f32], mask: &[u32]) -> Result<Draw> {
        self.at(matcher, |s| s.draw(logits, mask))
    }

    /// What the next `draw` draws from: the probability of each token, 0 where it was cut. Nothing
    /// moves on.
    pub fn distribution(&mut self, logits: &[f32], mask: &[u32]) -> Result<Vec<f64>> {
        fits(logits, mask)?;
        let mut p = vec![0.0; logits.len()];
        check(unsafe {
            sys::tsl_sampler_distribution(
                self.0.as_ptr(),
                logits.as_ptr(),
                logits.len(),
                mask.as_ptr(),
                p.as_mut_ptr(),
                null_mut(),
                null_mut(),
            )
        })?;
        Ok(p)
    }

    /// The same of `draw_at`.
    pub fn distribution_at(
        &mut self, matcher: &Matcher, logits: &[f32], mask: &[u32],
    ) -> Result<Vec<f64>> {
        self.at(matcher, |s| s.distribution(logits, mask))
    }

    /// What took each token from the next `draw`. 0: the token is left. A `Stage`: that stage took
    /// it. 64: the mask. 65: a ban or a logit of -inf.
    pub fn cuts(&mut self, logits: &[f32], mask: &[u32]) -> Result<Vec<u8>> {
        fits(logits, mask)?;
        let mut cuts = vec![0; logits.len()];
        check(unsafe {
            sys::tsl_sampler_cuts(
                self.0.as_ptr(),
                logits.as_ptr(),
                logits.len(),
                mask.as_ptr(),
                cuts.as_mut_ptr(),
            )
        })?;
        Ok(cuts)
    }

    fn at<T>(&mut self, matcher: &Matcher, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        unsafe { sys::tsl_sampler_set_matcher(self.0.as_ptr(), matcher.raw.as_ptr()) };
        let result = f(self);
        unsafe { sys::tsl_sampler_set_matcher(self.0.as_ptr(), null()) };
        result
    }

    /// Note a token that became part of the text: for penalties, DRY, n-grams, mirostat,
    /// `min_tokens` and `max_tokens`.
    pub fn accept(&mut self, token: Token) -> Result<()> {
        check(unsafe { sys::tsl_sampler_accept(self.0.as_ptr(), token) })
    }

    /// The same for tokens that were there before; `min_tokens` and `max_tokens` do not count them.
    pub fn prompt(&mut self, tokens: &[Token]) -> Result<()> {
        check(unsafe { sys::tsl_sampler_prompt(self.0.as_ptr(), tokens.as_ptr(), tokens.len()) })
    }

    /// Forget the last accepted tokens.
    pub fn rollback(&mut self, count: usize) -> Result<()> {
        check(unsafe { sys::tsl_sampler_rollback(self.0.as_ptr(), count) })
    }

    /// Begin another text; the random numbers go on.
    pub fn restart(&mut self) {
        unsafe { sys::tsl_sampler_restart(self.0.as_ptr()) }
    }

    /// Another sampler with the same options and text so far, and random numbers of its own.
    pub fn fork(&self, seed: u64) -> Result<Self> {
        make(|out, _| unsafe { sys::tsl_sampler_fork(self.0.as_ptr(), seed, out) }).map(Sampler)
    }
}

/// What the model wanted at one step, before and after the mask; natural logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The probability that it had put on allowed tokens: small where the grammar fights the model.
    pub legal_mass: f64,
    pub logprob: f64,
    pub masked_logprob: f64,
    pub entropy: f64,
    pub masked_entropy: f64,
    pub allowed: u32,
    /// The most likely tokens and their log-probabilities.
    pub top: Vec<(Token, f64)>,
    pub masked_top: Vec<(Token, f64)>,
}

/// Measure a step. `token` is the one that was chosen, if one was.
pub fn measure_step(
    logits: &[f32], mask: &[u32], token: Option<Token>, top_n: usize,
) -> Result<Step> {
    fits(logits, mask)?;
    let n = top_n.min(logits.len());
    let (mut top, mut masked) =
        (vec![sys::tsl_token_logprob::default(); n], vec![sys::tsl_token_logprob::default(); n]);
    let mut s = sys::tsl_step::default();
    let (at, masked_at) =
        if n == 0 { (null_mut(), null_mut()) } else { (top.as_mut_ptr(), masked.as_mut_ptr()) };
    check(unsafe {
        sys::tsl_step_measure(
            logits.as_ptr(),
            logits.len(),
            mask.as_ptr(),
            token.unwrap_or(sys::TSL_NO_TOKEN),
            n as u32,
            at,
            masked_at,
            &mut s,
        )
    })?;
    let list = |from: &[sys::tsl_token_logprob], n: u32| {
        from[..n as usize].iter().map(|t| (t.token, t.logprob)).collect()
    };
    Ok(Step {
        legal_mass: s.legal_mass,
        logprob: s.logprob,
        masked_logprob: s.masked_logprob,
        entropy: s.entropy,
        masked_entropy: s.masked_entropy,
        allowed: s.allowed,
        top: list(&top, s.top_count),
        masked_top: list(&masked, s.masked_top_count),
    })
}

/// with = without + scale * (with - without), in place, before the mask.
pub fn guide_classifier_free(with: &mut [f32], without: &[f32], scale: f32) -> Result<()> {
    if with.len() != without.len() {
        return Err(argument("the rows differ in length"));
    }
    check(unsafe {
        sys::tsl_guide_classifier_free(
            with.as_ptr(),
            without.as_ptr(),
            with.len(),
            scale,
            with.as_mut_ptr(),
        )
    })
}

/// strong = strong - beta * weak where the strong model gives at least alpha times its largest
/// probability under the mask, -inf elsewhere; in place.
pub fn guide_contrastive(
    strong: &mut [f32], weak: &[f32], mask: Option<&[u32]>, alpha: f32, beta: f32,
) -> Result<()> {
    if strong.len() != weak.len() {
        return Err(argument("the rows differ in length"));
    }
    if let Some(mask) = mask {
        fits(strong, mask)?;
    }
    let mask = mask.map_or(null(), |m| m.as_ptr());
    check(unsafe {
        sys::tsl_guide_contrastive(
            strong.as_ptr(),
            weak.as_ptr(),
            strong.len(),
            mask,
            alpha,
            beta,
            strong.as_mut_ptr(),
        )
    })
}

/// Does a text end with the same tokens, `repeats` times in a row? The length of one copy, at most
/// `longest` (0: 64), and the token that would begin the next one.
#[must_use]
pub fn find_loop(tokens: &[Token], repeats: u32, longest: u32) -> Option<(u32, Token)> {
    let mut next = 0;
    match unsafe { sys::tsl_find_loop(tokens.as_ptr(), tokens.len(), repeats, longest, &mut next) }
    {
        0 => None,
        period => Some((period, next)),
    }
}
