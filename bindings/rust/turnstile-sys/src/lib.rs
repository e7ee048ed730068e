//! Declarations of `turnstile.h`, as far as the crate `turnstile` uses them. What each function
//! does, owns and costs is said there.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

pub type tsl_status = c_int;
pub const TSL_OK: tsl_status = 0;
pub const TSL_REJECTED: tsl_status = 1;
pub const TSL_ERR_ARGUMENT: tsl_status = 3;
pub const TSL_ERR_NO_MEMORY: tsl_status = 2;
pub const TSL_ERR_SYNTAX: tsl_status = 4;
pub const TSL_ERR_SCHEMA: tsl_status = 5;
pub const TSL_ERR_UNSUPPORTED: tsl_status = 6;
pub const TSL_ERR_EMPTY: tsl_status = 7;
pub const TSL_ERR_LIMIT: tsl_status = 8;
pub const TSL_ERR_IO: tsl_status = 9;
pub const TSL_ERR_FORMAT: tsl_status = 10;
pub const TSL_ERR_STATE: tsl_status = 11;
pub const TSL_ERR_LOGITS: tsl_status = 12;
pub const TSL_ERR_CANCELLED: tsl_status = 13;

pub type tsl_token = u32;
pub const TSL_NO_TOKEN: tsl_token = u32::MAX;
pub const TSL_ENCODE_SPECIAL: u32 = 1;
pub const TSL_ENCODE_BOS: u32 = 2;

macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
            _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )* };
}
opaque!(tsl_vocab tsl_grammar tsl_matcher tsl_sampler tsl_budget);
opaque!(tsl_events tsl_beams tsl_align tsl_scores);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsl_error {
    pub status: tsl_status,
    pub offset: usize,
    pub line: u32,
    pub column: u32,
    pub pointer: [c_char; 256],
    pub message: [c_char; 512],
}

#[repr(C)]
pub struct tsl_allocator {
    pub ctx: *mut c_void,
    pub reallocate: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            block: *mut c_void,
            old_size: usize,
            new_size: usize,
        ) -> *mut c_void,
    >,
}

#[repr(C)]
pub struct tsl_vocab_desc {
    pub bytes: *const u8,
    pub offsets: *const u32,
    pub size: u32,
    pub logits_width: u32,
    pub special: *const u8,
    pub eog: *const tsl_token,
    pub eog_count: u32,
}

#[repr(C)]
pub struct tsl_vocab_options {
    pub logits_width: u32,
    pub eog: *const tsl_token,
    pub eog_count: u32,
    pub cache_dir: *const c_char,
    pub pattern: *const c_char,
}

pub type tsl_resolver = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        uri: *const c_char,
        text: *mut *const c_char,
        length: *mut usize,
    ) -> bool,
>;

#[repr(C)]
pub struct tsl_limits {
    pub max_memory: u64,
    pub max_stacks: u32,
    pub max_depth: u32,
    pub max_steps: u64,
    pub cancel: *const c_int,
    pub deadline_us: u64,
    pub text_memory: u64,
}

#[repr(C)]
pub struct tsl_schema_options {
    pub order: c_int,
    pub whitespace: c_int,
    pub whitespace_max: u32,
    pub whitespace_lines: u32,
    pub whitespace_columns: u32,
    pub indent: u32,
    pub spelling: c_int,
    pub generous: bool,
    pub assert_content: bool,
    pub draft: c_int,
    pub ignore_formats: bool,
    pub nullable: bool,
    pub repeated_names: bool,
    pub lazy: bool,
    pub max_nesting: u32,
    pub resolver: tsl_resolver,
    pub resolver_ctx: *mut c_void,
    pub base_uri: *const c_char,
}

#[repr(C)]
pub struct tsl_regex_options {
    pub case_insensitive: bool,
    pub dot_all: bool,
    pub search: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsl_token_bias {
    pub token: tsl_token,
    pub bias: f32,
}

#[repr(C)]
pub struct tsl_sampler_options {
    pub seed: u64,
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    pub legal_mass: bool,
    pub stages: *const c_int,
    pub stage_count: u32,
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
    pub penalty_window: u32,
    pub dry_multiplier: f32,
    pub dry_base: f32,
    pub dry_allowed: u32,
    pub dry_window: u32,
    pub dry_breakers: *const tsl_token,
    pub dry_breaker_count: u32,
    pub bias: *const tsl_token_bias,
    pub bias_count: u32,
    pub allowed: *const tsl_token,
    pub allowed_count: u32,
    pub banned: *const tsl_token,
    pub banned_count: u32,
    pub no_repeat_ngram: u32,
    pub min_tokens: u32,
    pub max_tokens: u32,
    pub eog: *const tsl_token,
    pub eog_count: u32,
    pub loop_repeats: u32,
    pub loop_longest: u32,
    pub penalise_structure: bool,
}

#[repr(C)]
pub struct tsl_draw {
    pub token: tsl_token,
    pub probability: f64,
    pub legal_mass: f64,
    pub allowed: u32,
    pub kept: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsl_stage_left {
    pub stage: c_int,
    pub left: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct tsl_token_logprob {
    pub token: tsl_token,
    pub logprob: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct tsl_step {
    pub legal_mass: f64,
    pub logprob: f64,
    pub masked_logprob: f64,
    pub entropy: f64,
    pub masked_entropy: f64,
    pub allowed: u32,
    pub top_count: u32,
    pub masked_top_count: u32,
}

#[repr(C)]
pub struct tsl_artifact {
    _private: [u8; 0],
}

#[repr(C)]
pub struct tsl_artifact_options {
    pub max_states: u32,
    pub max_walk_steps: u64,
    pub source: *const c_void,
}

#[repr(C)]
pub struct tsl_event {
    pub kind: c_int,
    pub value: c_int,
    pub pointer: *const c_char,
    pub pointer_length: usize,
    pub text: *const c_char,
    pub text_length: usize,
}
pub type tsl_event_sink = Option<unsafe extern "C" fn(ctx: *mut c_void, event: *const tsl_event)>;

pub const TSL_NO_PARENT: u32 = u32::MAX;

#[repr(C)]
pub struct tsl_drafts {
    pub tokens: *const tsl_token,
    pub parents: *const u32,
    pub count: usize,
    pub logits: *const f32,
    pub draft_logits: *const f32,
    pub temperature: f32,
    pub draft_temperature: f32,
    pub draft_masked: bool,
    pub distinct: bool,
}

#[repr(C)]
pub struct tsl_prefix {
    pub tokens: *const tsl_token,
    pub count: usize,
}
pub type tsl_model = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        prefixes: *const tsl_prefix,
        n: usize,
        logits: *mut f32,
    ) -> tsl_status,
>;

#[repr(C)]
pub struct tsl_beam_options {
    pub width: u32,
    pub n_best: u32,
    pub max_tokens: u32,
    pub length_penalty: f32,
}

#[repr(C)]
pub struct tsl_align_options {
    pub seed: u64,
    pub max_tokens: u32,
}

#[repr(C)]
pub struct tsl_score_options {
    pub max_outputs: u32,
    pub max_prefixes: u32,
    pub batch: u32,
    pub all_tokenisations: bool,
    pub plain_json: bool,
    pub open_end: bool,
}

#[repr(C)]
pub struct tsl_parser {
    _private: [u8; 0],
}

#[repr(C)]
pub struct tsl_tools_options {
    pub preset: *const c_char,
    pub tool_choice: *const c_char,
    pub parallel: c_int,
    pub thinking: c_int,
    pub max_thinking_tokens: u32,
    pub lenient: bool,
    pub schema: *const tsl_schema_options,
    pub over: *mut tsl_grammar,
    pub report: Option<tsl_line_sink>,
    pub report_ctx: *mut c_void,
}

#[repr(C)]
pub struct tsl_part {
    pub kind: c_int,
    pub call: u32,
    pub text: *const c_char,
    pub length: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsl_lark_options {
    pub start: *const c_char,
    pub resolver: tsl_resolver,
    pub resolver_ctx: *mut c_void,
    pub lexer: *const c_char,
}

pub type tsl_request_kind = c_int;
pub const TSL_REQUEST_JSON_SCHEMA: tsl_request_kind = 0;
pub const TSL_REQUEST_REGEX: tsl_request_kind = 1;
pub const TSL_REQUEST_GBNF: tsl_request_kind = 2;
pub const TSL_REQUEST_LARK: tsl_request_kind = 3;
pub const TSL_REQUEST_EBNF: tsl_request_kind = 4;
pub const TSL_REQUEST_TAGS: tsl_request_kind = 16;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsl_request_source {
    pub kind: tsl_request_kind,
    pub text: *const c_char,
    pub length: usize,
    pub pointer: *const c_char,
    pub offset: usize,
    pub part: bool,
    pub compact: bool,
}

pub type tsl_request_sink =
    unsafe extern "C" fn(ctx: *mut c_void, source: *const tsl_request_source);

pub type tsl_line_sink = unsafe extern "C" fn(ctx: *mut c_void, line: *const c_char);

extern "C" {
    pub fn tsl_status_name(status: tsl_status) -> *const c_char;

    pub fn tsl_vocab_new(
        desc: *const tsl_vocab_desc, allocator: *const tsl_allocator, out: *mut *mut tsl_vocab,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_vocab_load_file(
        path: *const c_char, options: *const tsl_vocab_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_vocab, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_vocab_load_memory(
        data: *const c_void, size: usize, name: *const c_char, options: *const tsl_vocab_options,
        allocator: *const tsl_allocator, out: *mut *mut tsl_vocab, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_vocab_embedded(
        allocator: *const tsl_allocator, out: *mut *mut tsl_vocab, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_vocab_retain(vocab: *mut tsl_vocab);
    pub fn tsl_vocab_release(vocab: *mut tsl_vocab);
    pub fn tsl_vocab_size(vocab: *const tsl_vocab) -> u32;
    pub fn tsl_vocab_logits_width(vocab: *const tsl_vocab) -> u32;
    pub fn tsl_vocab_mask_words(vocab: *const tsl_vocab) -> usize;
    pub fn tsl_vocab_is_special(vocab: *const tsl_vocab, token: tsl_token) -> bool;
    pub fn tsl_vocab_is_eog(vocab: *const tsl_vocab, token: tsl_token) -> bool;
    pub fn tsl_vocab_eog(vocab: *const tsl_vocab, count: *mut u32) -> *const tsl_token;
    pub fn tsl_vocab_bytes(
        vocab: *const tsl_vocab, token: tsl_token, length: *mut usize,
    ) -> *const u8;
    pub fn tsl_vocab_set_walk_cache(vocab: *mut tsl_vocab, max_bytes: usize);
    pub fn tsl_vocab_find_special(
        vocab: *const tsl_vocab, text: *const c_char, length: usize,
    ) -> tsl_token;
    pub fn tsl_vocab_encode(
        vocab: *const tsl_vocab, text: *const c_char, length: usize, flags: u32,
        ids: *mut tsl_token, capacity: usize, count: *mut usize,
    ) -> tsl_status;

    pub fn tsl_grammar_json_schema(
        vocab: *mut tsl_vocab, schema: *const c_char, length: usize,
        options: *const tsl_schema_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_regex(
        vocab: *mut tsl_vocab, pattern: *const c_char, length: usize,
        options: *const tsl_regex_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_gbnf(
        vocab: *mut tsl_vocab, text: *const c_char, length: usize, root: *const c_char,
        limits: *const tsl_limits, out: *mut *mut tsl_grammar, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_abnf(
        vocab: *mut tsl_vocab, text: *const c_char, length: usize, root: *const c_char,
        limits: *const tsl_limits, out: *mut *mut tsl_grammar, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_ebnf(
        vocab: *mut tsl_vocab, text: *const c_char, length: usize, root: *const c_char,
        limits: *const tsl_limits, out: *mut *mut tsl_grammar, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_lark(
        vocab: *mut tsl_vocab, text: *const c_char, length: usize,
        options: *const tsl_lark_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_request(
        vocab: *mut tsl_vocab, request: *const c_char, length: usize,
        schema: *const tsl_schema_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_request_read(
        request: *const c_char, length: usize, limits: *const tsl_limits,
        allocator: *const tsl_allocator, sink: tsl_request_sink, ctx: *mut c_void,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_tags(
        vocab: *mut tsl_vocab, json: *const c_char, length: usize,
        schema: *const tsl_schema_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_tags_over(
        over: *mut tsl_grammar, json: *const c_char, length: usize,
        schema: *const tsl_schema_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_grammar_tools(
        vocab: *mut tsl_vocab, request: *const c_char, length: usize,
        options: *const tsl_tools_options, limits: *const tsl_limits, out: *mut *mut tsl_grammar,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_tools_write(
        vocab: *mut tsl_vocab, request: *const c_char, length: usize,
        options: *const tsl_tools_options, sink: tsl_line_sink, ctx: *mut c_void,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_tools_preset(
        index: usize, name: *mut *const c_char, json: *mut *const c_char,
    ) -> bool;
    pub fn tsl_parser_new(
        grammar: *mut tsl_grammar, allocator: *const tsl_allocator, out: *mut *mut tsl_parser,
    ) -> tsl_status;
    pub fn tsl_parser_free(parser: *mut tsl_parser);
    pub fn tsl_parser_reset(parser: *mut tsl_parser);
    pub fn tsl_parser_text(
        parser: *mut tsl_parser, text: *const c_char, length: usize,
    ) -> tsl_status;
    pub fn tsl_parser_token(parser: *mut tsl_parser, token: tsl_token) -> tsl_status;
    pub fn tsl_parser_finish(parser: *mut tsl_parser) -> tsl_status;
    pub fn tsl_parser_next(parser: *mut tsl_parser, part: *mut tsl_part) -> bool;
    pub fn tsl_parser_json(parser: *mut tsl_parser) -> *const c_char;
    pub fn tsl_grammar_load(
        vocab: *mut tsl_vocab, path: *const c_char, limits: *const tsl_limits,
        out: *mut *mut tsl_grammar, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_artifact_make(
        grammar: *mut tsl_grammar, options: *const tsl_artifact_options,
        allocator: *const tsl_allocator, out: *mut *mut tsl_artifact, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_artifact_write(
        artifact: *const tsl_artifact, path: *const c_char, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_artifact_free(artifact: *mut tsl_artifact);
    pub fn tsl_grammar_retain(grammar: *mut tsl_grammar);
    pub fn tsl_grammar_release(grammar: *mut tsl_grammar);
    pub fn tsl_grammar_vocab(grammar: *const tsl_grammar) -> *mut tsl_vocab;
    pub fn tsl_grammar_report(grammar: *const tsl_grammar) -> *const c_char;

    pub fn tsl_matcher_new(
        grammar: *mut tsl_grammar, allocator: *const tsl_allocator, out: *mut *mut tsl_matcher,
    ) -> tsl_status;
    pub fn tsl_matcher_free(matcher: *mut tsl_matcher);
    pub fn tsl_matcher_reset(matcher: *mut tsl_matcher);
    pub fn tsl_matcher_fork(matcher: *const tsl_matcher, out: *mut *mut tsl_matcher) -> tsl_status;
    pub fn tsl_matcher_mask(matcher: *mut tsl_matcher, mask: *mut u32) -> tsl_status;
    pub fn tsl_matcher_accept(matcher: *mut tsl_matcher, token: tsl_token) -> tsl_status;
    pub fn tsl_matcher_accept_bytes(
        matcher: *mut tsl_matcher, bytes: *const c_void, length: usize, accepted: *mut usize,
    ) -> tsl_status;
    pub fn tsl_matcher_validate(
        matcher: *mut tsl_matcher, tokens: *const tsl_token, count: usize, valid: *mut usize,
    ) -> tsl_status;
    pub fn tsl_matcher_rollback(matcher: *mut tsl_matcher, count: usize) -> tsl_status;
    pub fn tsl_matcher_history(matcher: *const tsl_matcher) -> usize;
    pub fn tsl_matcher_is_complete(matcher: *const tsl_matcher) -> bool;
    pub fn tsl_matcher_is_terminated(matcher: *const tsl_matcher) -> bool;
    pub fn tsl_matcher_forced_bytes(
        matcher: *mut tsl_matcher, bytes: *mut u8, capacity: usize, length: *mut usize,
    ) -> tsl_status;

    pub fn tsl_mask_apply(
        mask: *const u32, logits: *mut c_void, width: usize, dtype: c_int,
    ) -> tsl_status;

    pub fn tsl_sampler_new(
        options: *const tsl_sampler_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_sampler,
    ) -> tsl_status;
    pub fn tsl_sampler_free(sampler: *mut tsl_sampler);
    pub fn tsl_sampler_draw(
        sampler: *mut tsl_sampler, logits: *const f32, width: usize, mask: *const u32,
        out: *mut tsl_draw,
    ) -> tsl_status;
    pub fn tsl_sampler_accept(sampler: *mut tsl_sampler, token: tsl_token) -> tsl_status;
    pub fn tsl_sampler_prompt(
        sampler: *mut tsl_sampler, tokens: *const tsl_token, count: usize,
    ) -> tsl_status;
    pub fn tsl_sampler_set_matcher(sampler: *mut tsl_sampler, matcher: *const tsl_matcher);
    pub fn tsl_sampler_distribution(
        sampler: *mut tsl_sampler, logits: *const f32, width: usize, mask: *const u32,
        probabilities: *mut f64, left: *mut tsl_stage_left, count: *mut usize,
    ) -> tsl_status;
    pub fn tsl_sampler_cuts(
        sampler: *mut tsl_sampler, logits: *const f32, width: usize, mask: *const u32,
        cuts: *mut u8,
    ) -> tsl_status;
    pub fn tsl_sampler_rollback(sampler: *mut tsl_sampler, count: usize) -> tsl_status;
    pub fn tsl_find_loop(
        tokens: *const tsl_token, count: usize, repeats: u32, longest: u32, next: *mut tsl_token,
    ) -> u32;
    pub fn tsl_sampler_restart(sampler: *mut tsl_sampler);
    pub fn tsl_sampler_fork(
        sampler: *const tsl_sampler, seed: u64, out: *mut *mut tsl_sampler,
    ) -> tsl_status;
    pub fn tsl_step_measure(
        logits: *const f32, width: usize, mask: *const u32, token: tsl_token, top_n: u32,
        top: *mut tsl_token_logprob, masked_top: *mut tsl_token_logprob, out: *mut tsl_step,
    ) -> tsl_status;
    pub fn tsl_guide_classifier_free(
        with: *const f32, without: *const f32, width: usize, scale: f32, out: *mut f32,
    ) -> tsl_status;
    pub fn tsl_guide_contrastive(
        strong: *const f32, weak: *const f32, width: usize, mask: *const u32, alpha: f32,
        beta: f32, out: *mut f32,
    ) -> tsl_status;

    pub fn tsl_budget_new(
        grammar: *mut tsl_grammar, allocator: *const tsl_allocator, out: *mut *mut tsl_budget,
    ) -> tsl_status;
    pub fn tsl_budget_free(budget: *mut tsl_budget);
    pub fn tsl_budget_start(
        budget: *mut tsl_budget, matcher: *const tsl_matcher, max_tokens: u64,
        error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_budget_completion(
        budget: *mut tsl_budget, matcher: *const tsl_matcher, tokens: *mut tsl_token,
        capacity: usize, count: *mut usize,
    ) -> tsl_status;
    pub fn tsl_budget_allows(
        budget: *mut tsl_budget, matcher: *const tsl_matcher, left: u64, token: tsl_token,
    ) -> tsl_status;
    pub fn tsl_budget_mask(
        budget: *mut tsl_budget, matcher: *const tsl_matcher, left: u64, mask: *mut u32,
    ) -> tsl_status;
    pub fn tsl_budget_wind_down(
        budget: *mut tsl_budget, matcher: *const tsl_matcher, left: u64, soft: u64, bias: f32,
        logits: *mut f32,
    ) -> tsl_status;

    pub fn tsl_events_new(
        sink: tsl_event_sink, ctx: *mut c_void, allocator: *const tsl_allocator,
        out: *mut *mut tsl_events,
    ) -> tsl_status;
    pub fn tsl_events_free(events: *mut tsl_events);
    pub fn tsl_events_reset(events: *mut tsl_events);
    pub fn tsl_events_feed(
        events: *mut tsl_events, bytes: *const c_void, length: usize, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_events_end(events: *mut tsl_events, error: *mut tsl_error) -> tsl_status;

    pub fn tsl_matcher_mask_drafts(
        matcher: *mut tsl_matcher, tokens: *const tsl_token, parents: *const u32, count: usize,
        masks: *mut u32, allowed: *mut bool,
    ) -> tsl_status;
    pub fn tsl_speculate(
        matcher: *mut tsl_matcher, drafts: *const tsl_drafts, seed: u64, draws: *mut u64,
        path: *mut u32, accepted: *mut usize, next: *mut tsl_token,
    ) -> tsl_status;
    pub fn tsl_matcher_draft_forced(
        matcher: *mut tsl_matcher, tail: *const tsl_token, tail_count: usize, max_retract: usize,
        tokens: *mut tsl_token, capacity: usize, count: *mut usize, retract: *mut usize,
    ) -> tsl_status;

    pub fn tsl_beam_search(
        grammar: *mut tsl_grammar, model: tsl_model, ctx: *mut c_void,
        options: *const tsl_beam_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_beams, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_beams_free(beams: *mut tsl_beams);
    pub fn tsl_beams_count(beams: *const tsl_beams) -> usize;
    pub fn tsl_beams_tokens(
        beams: *const tsl_beams, i: usize, count: *mut usize,
    ) -> *const tsl_token;
    pub fn tsl_beams_text(beams: *const tsl_beams, i: usize, length: *mut usize) -> *const c_char;
    pub fn tsl_beams_log_probability(beams: *const tsl_beams, i: usize) -> f64;
    pub fn tsl_beams_score(beams: *const tsl_beams, i: usize) -> f64;

    pub fn tsl_align_new(
        grammar: *mut tsl_grammar, model: tsl_model, ctx: *mut c_void,
        options: *const tsl_align_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_align, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_align_free(align: *mut tsl_align);
    pub fn tsl_align_sample(
        align: *mut tsl_align, tokens: *mut tsl_token, count: *mut usize, log_probability: *mut f64,
    ) -> tsl_status;
    pub fn tsl_align_probability(
        align: *mut tsl_align, tokens: *const tsl_token, count: usize, probability: *mut f64,
    ) -> tsl_status;
    pub fn tsl_align_mass(align: *const tsl_align) -> f64;

    pub fn tsl_score_all(
        grammar: *mut tsl_grammar, model: tsl_model, ctx: *mut c_void,
        options: *const tsl_score_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_scores, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_score_all_from(
        matcher: *const tsl_matcher, model: tsl_model, ctx: *mut c_void,
        options: *const tsl_score_options, allocator: *const tsl_allocator,
        out: *mut *mut tsl_scores, error: *mut tsl_error,
    ) -> tsl_status;
    pub fn tsl_scores_free(scores: *mut tsl_scores);
    pub fn tsl_scores_count(scores: *const tsl_scores) -> usize;
    pub fn tsl_scores_text(
        scores: *const tsl_scores, i: usize, length: *mut usize,
    ) -> *const c_char;
    pub fn tsl_scores_log_probability(scores: *const tsl_scores, i: usize) -> f64;
    pub fn tsl_scores_probability(scores: *const tsl_scores, i: usize) -> f64;
    pub fn tsl_scores_missing(scores: *const tsl_scores) -> f64;
}
