//! Tags and tools: what an assistant may answer to a request, and the answer read back.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut, NonNull};
use std::slice;

use turnstile_sys as sys;

use crate::{
    argument, c_string, check, make, plain, with_error, Grammar, Result, SchemaOptions, Token,
    Vocab,
};

// ---- grammars -----------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// The text may begin with a thinking block.
    #[default]
    Auto,
    /// It must.
    On,
    /// It must not.
    Off,
}

#[derive(Clone, Default)]
pub struct ToolsOptions {
    /// How the model writes calls: a name of `tool_presets`, or the JSON text of a preset.
    pub preset: String,
    /// "auto", "required", "none" or a tool's name; None: what the request says, else auto.
    pub tool_choice: Option<String>,
    /// May there be several calls; None: what the request says, else yes.
    pub parallel: Option<bool>,
    pub thinking: Thinking,
    /// Of a thinking block; 0: what the request says, else any number.
    pub max_thinking_tokens: u32,
    /// For answers that nobody constrained: a `Parser` of the grammar refuses none, and mends.
    pub lenient: bool,
    /// How JSON is written.
    pub schema: SchemaOptions,
    /// An earlier grammar of tags or tools: what was found out about equal schemas is kept.
    pub over: Option<Grammar>,
}

/// What the library is handed, with what it points into.
struct Raw {
    options: sys::tsl_tools_options,
    _texts: (CString, Option<CString>),
    _schema: Box<sys::tsl_schema_options>,
}

impl ToolsOptions {
    fn raw(&self) -> Result<Raw> {
        let preset = c_string(self.preset.as_bytes())?;
        let choice =
            self.tool_choice.as_ref().map(|choice| c_string(choice.as_bytes())).transpose()?;
        let schema = Box::new(self.schema.raw());
        let options = sys::tsl_tools_options {
            preset: preset.as_ptr(),
            tool_choice: choice.as_ref().map_or(null(), |choice| choice.as_ptr()),
            parallel: match self.parallel {
                None => 0,
                Some(true) => 1,
                Some(false) => -1,
            },
            thinking: self.thinking as c_int,
            max_thinking_tokens: self.max_thinking_tokens,
            lenient: self.lenient,
            schema: &*schema,
            over: self.over.as_ref().map_or(null_mut(), |over| over.0.as_ptr()),
            report: None,
            report_ctx: null_mut(),
        };
        Ok(Raw { options, _texts: (preset, choice), _schema: schema })
    }
}

impl Grammar {
    /// A structural tag in JSON: free text with JSON or other formats between tags. `over`: see
    /// `ToolsOptions`; of the same vocabulary.
    pub fn tags(
        vocab: &Vocab, json: &str, options: &SchemaOptions, over: Option<&Grammar>,
    ) -> Result<Self> {
        if over.map_or(
            false,
            |over| unsafe { sys::tsl_grammar_vocab(over.0.as_ptr()) } != vocab.0.as_ptr(),
        ) {
            return Err(argument("`over` is a grammar of another vocabulary"));
        }
        let raw = options.raw();
        let text = json.as_ptr().cast();
        make(|out, error| match over {
            Some(over) => unsafe {
                sys::tsl_grammar_tags_over(
                    over.0.as_ptr(),
                    text,
                    json.len(),
                    &raw,
                    null(),
                    out,
                    error,
                )
            },
            None => unsafe {
                sys::tsl_grammar_tags(vocab.0.as_ptr(), text, json.len(), &raw, null(), out, error)
            },
        })
        .map(Grammar)
    }

    /// What a model may answer to a request. The request is the body as it is sent (OpenAI's chat
    /// completions or responses, Anthropic's messages), MCP's tools/list, or an array of tools.
    pub fn tools(vocab: &Vocab, request: &str, options: &ToolsOptions) -> Result<Self> {
        let raw = options.raw()?;
        make(|out, error| unsafe {
            sys::tsl_grammar_tools(
                vocab.0.as_ptr(),
                request.as_ptr().cast(),
                request.len(),
                &raw.options,
                null(),
                out,
                error,
            )
        })
        .map(Grammar)
    }
}

unsafe extern "C" fn keep_line(ctx: *mut c_void, line: *const c_char) {
    *(ctx as *mut String) = CStr::from_ptr(line).to_string_lossy().into_owned();
}

/// The structural tag that `Grammar::tools` compiles.
pub fn write_tools(vocab: &Vocab, request: &str, options: &ToolsOptions) -> Result<String> {
    let raw = options.raw()?;
    let mut json = String::new();
    with_error(|error| unsafe {
        sys::tsl_tools_write(
            vocab.0.as_ptr(),
            request.as_ptr().cast(),
            request.len(),
            &raw.options,
            keep_line,
            (&mut json as *mut String).cast(),
            error,
        )
    })?;
    Ok(json)
}

/// Names and JSON texts of the presets.
pub fn tool_presets() -> Vec<(String, String)> {
    let (mut found, mut name, mut json) = (Vec::new(), null(), null());
    // SAFETY: both are strings of the library that live for ever.
    while unsafe { sys::tsl_tools_preset(found.len(), &mut name, &mut json) } {
        let text = |at| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
        found.push((text(name), text(json)));
    }
    found
}

// ---- reading back -------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A piece of free text, unaltered.
    Text,
    Reasoning,
    /// A call begins; the text is the tool's name.
    Call,
    /// A piece of its id, where the format has one.
    Id,
    /// A piece of its arguments: JSON, whatever the format.
    Arguments,
    CallEnd,
    /// Any other tag begins; the text is its begin.
    Tag,
    TagText,
    TagEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    /// 0 for the first call.
    pub call: u32,
    pub text: String,
}

/// Reads an answer back by the states of its own grammar, of `Grammar::tags` or `Grammar::tools`.
/// Text or tokens go in, parts come out as soon as they are certain.
pub struct Parser(NonNull<sys::tsl_parser>);

// SAFETY: it has no ties to a thread; it is used by one at a time, since what changes it takes
// &mut.
unsafe impl Send for Parser {}

impl Drop for Parser {
    fn drop(&mut self) {
        unsafe { sys::tsl_parser_free(self.0.as_ptr()) }
    }
}

fn accepted(status: sys::tsl_status) -> Result<bool> {
    if status == sys::TSL_REJECTED {
        Ok(false)
    } else {
        check(status).map(|()| true)
    }
}

impl Parser {
    pub fn new(grammar: &Grammar) -> Result<Self> {
        make(|out, _| unsafe { sys::tsl_parser_new(grammar.0.as_ptr(), null(), out) }).map(Parser)
    }

    /// Read on; false and no change if the grammar does not allow it.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> Result<bool> {
        let text = text.as_ref();
        accepted(unsafe { sys::tsl_parser_text(self.0.as_ptr(), text.as_ptr().cast(), text.len()) })
    }

    pub fn token(&mut self, token: Token) -> Result<bool> {
        accepted(unsafe { sys::tsl_parser_token(self.0.as_ptr(), token) })
    }

    /// The text is over; false if it is not complete.
    pub fn finish(&mut self) -> Result<bool> {
        accepted(unsafe { sys::tsl_parser_finish(self.0.as_ptr()) })
    }

    /// The next part that is certain.
    pub fn next_part(&mut self) -> Option<Part> {
        const KINDS: [PartKind; 9] = [
            PartKind::Text,
            PartKind::Reasoning,
            PartKind::Call,
            PartKind::Id,
            PartKind::Arguments,
            PartKind::CallEnd,
            PartKind::Tag,
            PartKind::TagText,
            PartKind::TagEnd,
        ];
        let mut part = sys::tsl_part { kind: 0, call: 0, text: null(), length: 0 };
        if !unsafe { sys::tsl_parser_next(self.0.as_ptr(), &mut part) } {
            return None;
        }
        // SAFETY: the bytes are valid until the next call on the parser.
        let bytes = if part.length == 0 {
            &[]
        } else {
            unsafe { slice::from_raw_parts(part.text.cast::<u8>(), part.length) }
        };
        Some(Part {
            kind: KINDS[part.kind as usize],
            call: part.call,
            text: String::from_utf8_lossy(bytes).into_owned(),
        })
    }

    /// All parts so far as JSON: `{"content", "reasoning", "calls": [{"id", "name", "arguments"}],
    /// "tags"}`.
    pub fn json(&mut self) -> Result<String> {
        let json = unsafe { sys::tsl_parser_json(self.0.as_ptr()) };
        if json.is_null() {
            return Err(plain(sys::TSL_ERR_NO_MEMORY));
        }
        Ok(unsafe { CStr::from_ptr(json) }.to_string_lossy().into_owned())
    }

    pub fn reset(&mut self) {
        unsafe { sys::tsl_parser_reset(self.0.as_ptr()) }
    }
}
