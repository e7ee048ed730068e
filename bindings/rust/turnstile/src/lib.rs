//! Constrained decoding for language models: JSON Schema, regular expressions and GBNF as token
//! masks.
//!
//! ```no_run
//! use turnstile::{Grammar, Matcher, SchemaOptions, Vocab};
//!
//! let vocab = Vocab::from_file("model.gguf")?;
//! let grammar = Grammar::json_schema(&vocab, r#"{"type": "integer"}"#,
//! &SchemaOptions::default())?; let mut matcher = Matcher::new(&grammar)?; let mut mask =
//! vec![0u32; vocab.mask_words()]; while !matcher.is_terminated() {
//!     let mut logits = vec![0f32; vocab.logits_width()]; // the model's
//!     matcher.mask(&mut mask)?;
//!     turnstile::apply_mask(&mask, &mut logits)?;
//!     let token = 0; // chosen from the logits
//!     matcher.accept(token)?;
//! }
//! # Ok::<(), turnstile::Error>(())
//! ```
//!
//! Vocabularies and grammars are immutable, cheap to clone and shared by threads. A matcher is one
//! generation in progress and may move from thread to thread. What each call means and costs is
//! said at length in `turnstile.h`.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::ffi::{CStr, CString};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::{fmt, slice};

use turnstile_sys as sys;

mod decode;
mod request;
mod sample;
mod tools;
pub use decode::{
    beam_search, score_all, score_all_from, Align, Beam, BeamOptions, Budget, Drafts, Event,
    EventKind, Events, Score, ScoreOptions, Scores, Speculated, Value,
};
pub use request::{read_request, RequestKind, RequestSource};
pub use sample::{
    find_loop, guide_classifier_free, guide_contrastive, measure_step, Draw, Sampler,
    SamplerOptions, Stage, Step,
};
pub use tools::{tool_presets, write_tools, Parser, Part, PartKind, Thinking, ToolsOptions};

pub type Token = sys::tsl_token;

// ---- errors -------------------------------------------------------------------------------------

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The name of the status: `TSL_ERR_SYNTAX`, …
    pub status: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// The JSON pointer of the keyword to blame; empty where there is none.
    pub pointer: String,
    /// Byte offset into the text given.
    pub offset: usize,
    /// 1-based; 0 where no text is involved.
    pub line: u32,
    /// 1-based, in bytes.
    pub column: u32,
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        write!(f, "{} ({})", self.message, self.status)?;
        if !self.pointer.is_empty() {
            write!(f, " at {}", self.pointer)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

fn status_name(status: sys::tsl_status) -> &'static str {
    // SAFETY: the name is a string literal of the library, never NULL.
    unsafe { CStr::from_ptr(sys::tsl_status_name(status)) }.to_str().unwrap_or("TSL_ERR")
}

fn plain(status: sys::tsl_status) -> Error {
    let name = status_name(status);
    Error {
        status: name,
        message: name.into(),
        pointer: String::new(),
        offset: 0,
        line: 0,
        column: 0,
    }
}

fn text_of(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn check(status: sys::tsl_status) -> Result<()> {
    if status == sys::TSL_OK {
        Ok(())
    } else {
        Err(plain(status))
    }
}

/// Call a function that fills an error.
fn with_error(call: impl FnOnce(*mut sys::tsl_error) -> sys::tsl_status) -> Result<()> {
    let mut error = sys::tsl_error {
        status: 0,
        offset: 0,
        line: 0,
        column: 0,
        pointer: [0; 256],
        message: [0; 512],
    };
    let status = call(&mut error);
    if status == sys::TSL_OK || error.status == sys::TSL_OK {
        return check(status);
    }
    Err(Error {
        status: status_name(status),
        message: text_of(&error.message),
        pointer: text_of(&error.pointer),
        offset: error.offset,
        line: error.line,
        column: error.column,
    })
}

/// Call a function that makes an object or fills an error.
fn make<T>(
    call: impl FnOnce(*mut *mut T, *mut sys::tsl_error) -> sys::tsl_status,
) -> Result<NonNull<T>> {
    let mut out = null_mut();
    with_error(|error| call(&mut out, error))?;
    Ok(NonNull::new(out).expect("a successful call hands out an object"))
}

/// A call that compiles a text of rules, from the rule that is its default.
type Compile = unsafe extern "C" fn(
    *mut sys::tsl_vocab,
    *const c_char,
    usize,
    *const c_char,
    *const sys::tsl_limits,
    *mut *mut sys::tsl_grammar,
    *mut sys::tsl_error,
) -> sys::tsl_status;

fn notation(vocab: &Vocab, text: &str, compile: Compile) -> Result<Grammar> {
    make(|out, error| unsafe {
        compile(vocab.0.as_ptr(), text.as_ptr().cast(), text.len(), null(), null(), out, error)
    })
    .map(Grammar)
}

fn c_string(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error {
        message: "a NUL byte in a name".into(),
        ..plain(sys::TSL_ERR_ARGUMENT)
    })
}

fn argument(message: &str) -> Error {
    Error { message: message.into(), ..plain(sys::TSL_ERR_ARGUMENT) }
}

// ---- vocabularies -------------------------------------------------------------------------------

/// The tokens of a model.
pub struct Vocab(NonNull<sys::tsl_vocab>);

// SAFETY: immutable and reference-counted; the C library says that threads may share it.
unsafe impl Send for Vocab {}
unsafe impl Sync for Vocab {}

impl Clone for Vocab {
    fn clone(&self) -> Self {
        unsafe { sys::tsl_vocab_retain(self.0.as_ptr()) };
        Vocab(self.0)
    }
}

impl Drop for Vocab {
    fn drop(&mut self) {
        unsafe { sys::tsl_vocab_release(self.0.as_ptr()) }
    }
}

impl Vocab {
    /// From a tokenizer.json, *.gguf, tokenizer.model, tekken.json or *.tiktoken file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_string(path.as_ref().as_os_str().as_bytes())?;
        make(|out, error| unsafe {
            sys::tsl_vocab_load_file(path.as_ptr(), null(), null(), out, error)
        })
        .map(Vocab)
    }

    /// The same from memory. `name` stands in for the file's name.
    pub fn from_bytes(data: &[u8], name: &str) -> Result<Self> {
        let name = c_string(name.as_bytes())?;
        make(|out, error| unsafe {
            sys::tsl_vocab_load_memory(
                data.as_ptr().cast(),
                data.len(),
                name.as_ptr(),
                null(),
                null(),
                out,
                error,
            )
        })
        .map(Vocab)
    }

    /// The vocabulary of 4,096 tokens that the library carries.
    pub fn embedded() -> Result<Self> {
        make(|out, error| unsafe { sys::tsl_vocab_embedded(null(), out, error) }).map(Vocab)
    }

    /// From what each token spells, in the order of ids; `special` and `eog` are ids. Encodes by
    /// the greedy longest token.
    pub fn from_tokens<T: AsRef<[u8]>>(
        tokens: &[T], special: &[Token], eog: &[Token],
    ) -> Result<Self> {
        let too_large = || argument("more tokens, or bytes in them, than 32 bits count");
        let size = u32::try_from(tokens.len()).map_err(|_| too_large())?;
        let (mut bytes, mut offsets, mut flags) = (Vec::new(), vec![0u32], vec![0u8; tokens.len()]);
        for token in tokens {
            bytes.extend_from_slice(token.as_ref());
            offsets.push(u32::try_from(bytes.len()).map_err(|_| too_large())?);
        }
        for id in special {
            *flags.get_mut(*id as usize).ok_or_else(|| argument("a special id is no token's"))? = 1;
        }
        let eog_count = u32::try_from(eog.len()).map_err(|_| too_large())?;
        bytes.push(0); // never an empty block
        let desc = sys::tsl_vocab_desc {
            bytes: bytes.as_ptr(),
            offsets: offsets.as_ptr(),
            size,
            logits_width: 0,
            special: flags.as_ptr(),
            eog: eog.as_ptr(),
            eog_count,
        };
        make(|out, error| unsafe { sys::tsl_vocab_new(&desc, null(), out, error) }).map(Vocab)
    }

    /// Tokens.
    pub fn size(&self) -> usize {
        unsafe { sys::tsl_vocab_size(self.0.as_ptr()) as usize }
    }

    /// Columns of a logits row.
    pub fn logits_width(&self) -> usize {
        unsafe { sys::tsl_vocab_logits_width(self.0.as_ptr()) as usize }
    }

    /// Words of a mask: token i is bit i % 32 of word i / 32.
    pub fn mask_words(&self) -> usize {
        unsafe { sys::tsl_vocab_mask_words(self.0.as_ptr()) }
    }

    pub fn is_special(&self, token: Token) -> bool {
        unsafe { sys::tsl_vocab_is_special(self.0.as_ptr(), token) }
    }

    pub fn is_eog(&self, token: Token) -> bool {
        unsafe { sys::tsl_vocab_is_eog(self.0.as_ptr(), token) }
    }

    /// The tokens that end a generation.
    pub fn eog(&self) -> &[Token] {
        let mut count = 0;
        let ids = unsafe { sys::tsl_vocab_eog(self.0.as_ptr(), &mut count) };
        if count == 0 {
            &[]
        } else {
            unsafe { slice::from_raw_parts(ids, count as usize) }
        }
    }

    /// What a token spells; `None` for an id that is no token's.
    pub fn bytes(&self, token: Token) -> Option<&[u8]> {
        let mut length = 0;
        let bytes = unsafe { sys::tsl_vocab_bytes(self.0.as_ptr(), token, &mut length) };
        if bytes.is_null() {
            None
        } else {
            Some(unsafe { slice::from_raw_parts(bytes, length) })
        }
    }

    /// Bound what grammars of the vocabulary learn from one another (9 MiB unless set; 0: nothing,
    /// and what there is goes). Masks are the same with and without.
    pub fn set_walk_cache(&self, max_bytes: usize) {
        unsafe { sys::tsl_vocab_set_walk_cache(self.0.as_ptr(), max_bytes) }
    }

    /// The special or added token of exactly that text.
    pub fn find_special(&self, text: &str) -> Option<Token> {
        let id = unsafe {
            sys::tsl_vocab_find_special(self.0.as_ptr(), text.as_ptr().cast(), text.len())
        };
        (id != sys::TSL_NO_TOKEN).then_some(id)
    }

    /// Encode text as the model's tokenizer does. With `special`, special tokens that are written
    /// out become those tokens.
    pub fn encode(&self, text: impl AsRef<[u8]>, special: bool) -> Result<Vec<Token>> {
        let text = text.as_ref();
        let flags = if special { sys::TSL_ENCODE_SPECIAL } else { 0 };
        let mut ids = vec![0; text.len() + 4];
        loop {
            let mut count = 0;
            let status = unsafe {
                sys::tsl_vocab_encode(
                    self.0.as_ptr(),
                    text.as_ptr().cast(),
                    text.len(),
                    flags,
                    ids.as_mut_ptr(),
                    ids.len(),
                    &mut count,
                )
            };
            if status == sys::TSL_ERR_LIMIT && count > ids.len() {
                ids.resize(count, 0);
                continue;
            }
            check(status)?;
            ids.truncate(count);
            return Ok(ids);
        }
    }
}

// ---- grammars -----------------------------------------------------------------------------------

/// Where white space may stand between the parts of a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whitespace {
    /// None, one space, or at most two line breaks and 64 columns of indentation.
    #[default]
    Plain,
    /// The same with other numbers, which are not 0: line breaks, columns.
    PlainWithin(u32, u32),
    /// Nowhere.
    Compact,
    /// At most so many characters at each place.
    Bounded(u32),
    /// Newlines, and so many spaces for each level.
    Pretty(u32),
    /// As RFC 8259 allows.
    Any,
}

#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    pub whitespace: Whitespace,
    /// Numbers and strings in every spelling, not only as printers of JSON write them.
    pub any_spelling: bool,
    /// Every JSON text of a valid value, for texts that are read: any order, white space, spelling.
    pub generous: bool,
    /// Members of an object in any order, not as `properties` lists them.
    pub any_order: bool,
    /// Formats are not asserted.
    pub ignore_formats: bool,
    /// contentEncoding, a contentMediaType of JSON, and its contentSchema are asserted.
    pub assert_content: bool,
    /// Levels of arrays and objects in the output; 0: unbounded.
    pub max_nesting: u32,
}

impl SchemaOptions {
    fn raw(&self) -> sys::tsl_schema_options {
        let (whitespace, whitespace_max, indent) = match self.whitespace {
            Whitespace::Plain | Whitespace::PlainWithin(..) => (0, 0, 0),
            Whitespace::Compact => (1, 0, 0),
            Whitespace::Bounded(n) => (2, n, 0),
            Whitespace::Pretty(n) => (3, 0, n),
            Whitespace::Any => (4, 0, 0),
        };
        let (whitespace_lines, whitespace_columns) = match self.whitespace {
            Whitespace::PlainWithin(lines, columns) => (lines, columns),
            _ => (0, 0),
        };
        sys::tsl_schema_options {
            order: self.any_order.into(),
            whitespace,
            whitespace_max,
            whitespace_lines,
            whitespace_columns,
            indent,
            spelling: self.any_spelling.into(),
            generous: self.generous,
            assert_content: self.assert_content,
            draft: 0,
            ignore_formats: self.ignore_formats,
            nullable: false,
            repeated_names: false,
            lazy: false,
            max_nesting: self.max_nesting,
            resolver: None,
            resolver_ctx: null_mut(),
            base_uri: null(),
        }
    }
}

/// A compiled grammar, bound to a vocabulary.
pub struct Grammar(NonNull<sys::tsl_grammar>);

// SAFETY: immutable to its users and reference-counted; its lazy tables are behind a lock.
unsafe impl Send for Grammar {}
unsafe impl Sync for Grammar {}

impl Clone for Grammar {
    fn clone(&self) -> Self {
        unsafe { sys::tsl_grammar_retain(self.0.as_ptr()) };
        Grammar(self.0)
    }
}

impl Drop for Grammar {
    fn drop(&mut self) {
        unsafe { sys::tsl_grammar_release(self.0.as_ptr()) }
    }
}

impl Grammar {
    /// The JSON texts that are valid against a schema.
    pub fn json_schema(vocab: &Vocab, schema: &str, options: &SchemaOptions) -> Result<Self> {
        let raw = options.raw();
        make(|out, error| unsafe {
            sys::tsl_grammar_json_schema(
                vocab.0.as_ptr(),
                schema.as_ptr().cast(),
                schema.len(),
                &raw,
                null(),
                out,
                error,
            )
        })
        .map(Grammar)
    }

    /// The texts that a regular expression (ECMA-262) matches as a whole.
    pub fn regex(vocab: &Vocab, pattern: &str) -> Result<Self> {
        make(|out, error| unsafe {
            sys::tsl_grammar_regex(
                vocab.0.as_ptr(),
                pattern.as_ptr().cast(),
                pattern.len(),
                null(),
                null(),
                out,
                error,
            )
        })
        .map(Grammar)
    }

    /// The sentences of a GBNF grammar, from its rule `root`.
    pub fn gbnf(vocab: &Vocab, text: &str) -> Result<Self> {
        notation(vocab, text, sys::tsl_grammar_gbnf)
    }

    /// The sentences of an ABNF grammar, from its first rule.
    pub fn abnf(vocab: &Vocab, text: &str) -> Result<Self> {
        notation(vocab, text, sys::tsl_grammar_abnf)
    }

    /// The sentences of a Lark grammar, from its rule `start`; it imports what the library has.
    pub fn lark(vocab: &Vocab, text: &str) -> Result<Self> {
        make(|out, error| unsafe {
            sys::tsl_grammar_lark(
                vocab.0.as_ptr(),
                text.as_ptr().cast(),
                text.len(),
                null(),
                null(),
                out,
                error,
            )
        })
        .map(Grammar)
    }

    /// The sentences of an EBNF grammar, XGrammar's notation, from its rule `root`.
    pub fn ebnf(vocab: &Vocab, text: &str) -> Result<Self> {
        notation(vocab, text, sys::tsl_grammar_ebnf)
    }

    /// Map a grammar that `save` or `turnstile compile` has written, for the same vocabulary.
    pub fn load(vocab: &Vocab, path: &str) -> Result<Self> {
        let path = c_string(path.as_bytes())?;
        make(|out, error| unsafe {
            sys::tsl_grammar_load(vocab.0.as_ptr(), path.as_ptr(), null(), out, error)
        })
        .map(Grammar)
    }

    /// Write the grammar as an artifact, for `load`. Fails where its states cannot be listed.
    pub fn save(&self, path: &str) -> Result<()> {
        let path = c_string(path.as_bytes())?;
        let artifact = make(|out, error| unsafe {
            sys::tsl_artifact_make(self.0.as_ptr(), null(), null(), out, error)
        })?;
        let written = with_error(|error| unsafe {
            sys::tsl_artifact_write(artifact.as_ptr(), path.as_ptr(), error)
        });
        unsafe { sys::tsl_artifact_free(artifact.as_ptr()) };
        written
    }

    pub fn vocab(&self) -> Vocab {
        let vocab = unsafe { sys::tsl_grammar_vocab(self.0.as_ptr()) };
        unsafe { sys::tsl_vocab_retain(vocab) };
        Vocab(NonNull::new(vocab).expect("a grammar has a vocabulary"))
    }

    /// What of a schema is enforced, as JSON.
    pub fn report(&self) -> String {
        let report = unsafe { sys::tsl_grammar_report(self.0.as_ptr()) };
        assert!(!report.is_null(), "out of memory");
        unsafe { CStr::from_ptr(report) }.to_string_lossy().into_owned()
    }
}

// ---- matchers -----------------------------------------------------------------------------------

/// One generation in progress.
pub struct Matcher {
    raw: NonNull<sys::tsl_matcher>,
    words: usize,
    width: usize,
}

// SAFETY: a matcher has no ties to a thread; it is used by one at a time, since what changes it
// takes &mut.
unsafe impl Send for Matcher {}

impl Drop for Matcher {
    fn drop(&mut self) {
        unsafe { sys::tsl_matcher_free(self.raw.as_ptr()) }
    }
}

impl Matcher {
    /// At the beginning of the grammar.
    pub fn new(grammar: &Grammar) -> Result<Self> {
        let raw = make(|out, _| unsafe { sys::tsl_matcher_new(grammar.0.as_ptr(), null(), out) })?;
        Ok(Matcher {
            raw,
            words: grammar.vocab().mask_words(),
            width: grammar.vocab().logits_width(),
        })
    }

    /// An independent copy with the same text behind it.
    pub fn fork(&self) -> Result<Self> {
        let raw = make(|out, _| unsafe { sys::tsl_matcher_fork(self.raw.as_ptr(), out) })?;
        Ok(Matcher { raw, words: self.words, width: self.width })
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        unsafe { sys::tsl_matcher_reset(self.raw.as_ptr()) }
    }

    /// Write the allowed tokens into `mask`, which has `Vocab::mask_words()` words.
    pub fn mask(&mut self, mask: &mut [u32]) -> Result<()> {
        if mask.len() != self.words {
            return Err(argument("the mask does not have Vocab::mask_words() words"));
        }
        check(unsafe { sys::tsl_matcher_mask(self.raw.as_ptr(), mask.as_mut_ptr()) })
    }

    /// Advance by a token; false, and no change, if it is not allowed.
    pub fn accept(&mut self, token: Token) -> Result<bool> {
        Self::accepted(unsafe { sys::tsl_matcher_accept(self.raw.as_ptr(), token) })
    }

    /// Advance by bytes; false, and no change, if they are not allowed. They count as one token for
    /// rollback.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        Self::accepted(unsafe {
            sys::tsl_matcher_accept_bytes(
                self.raw.as_ptr(),
                bytes.as_ptr().cast(),
                bytes.len(),
                null_mut(),
            )
        })
    }

    fn accepted(status: sys::tsl_status) -> Result<bool> {
        if status == sys::TSL_REJECTED {
            Ok(false)
        } else {
            check(status).map(|()| true)
        }
    }

    /// How many of the leading tokens could be accepted one after the other.
    pub fn validate(&mut self, tokens: &[Token]) -> Result<usize> {
        let mut valid = 0;
        check(unsafe {
            sys::tsl_matcher_validate(self.raw.as_ptr(), tokens.as_ptr(), tokens.len(), &mut valid)
        })?;
        Ok(valid)
    }

    /// Undo the last accepted tokens.
    pub fn rollback(&mut self, count: usize) -> Result<()> {
        check(unsafe { sys::tsl_matcher_rollback(self.raw.as_ptr(), count) })
    }

    /// Tokens that can be rolled back.
    pub fn history(&self) -> usize {
        unsafe { sys::tsl_matcher_history(self.raw.as_ptr()) }
    }

    /// Is the text so far a whole sentence?
    pub fn is_complete(&self) -> bool {
        unsafe { sys::tsl_matcher_is_complete(self.raw.as_ptr()) }
    }

    /// Has an end-of-generation token been accepted?
    pub fn is_terminated(&self) -> bool {
        unsafe { sys::tsl_matcher_is_terminated(self.raw.as_ptr()) }
    }

    /// The bytes that must come next whatever is chosen, at most `limit` of them.
    pub fn forced_bytes(&mut self, limit: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; limit];
        let mut length = 0;
        check(unsafe {
            sys::tsl_matcher_forced_bytes(self.raw.as_ptr(), bytes.as_mut_ptr(), limit, &mut length)
        })?;
        bytes.truncate(length);
        Ok(bytes)
    }
}

// ---- logits -------------------------------------------------------------------------------------

/// Set the logits of tokens that are not in the mask to -inf.
pub fn apply_mask(mask: &[u32], logits: &mut [f32]) -> Result<()> {
    if mask.len() != (logits.len() + 31) / 32 {
        return Err(argument("a mask has a word for each 32 logits"));
    }
    check(unsafe {
        sys::tsl_mask_apply(mask.as_ptr(), logits.as_mut_ptr().cast(), logits.len(), 0)
    })
}
