//! What a request to a server constrains its answer to.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::os::raw::c_void;
use std::ptr::null;
use std::slice;

use turnstile_sys as sys;

use crate::{make, with_error, Grammar, Result, SchemaOptions, Vocab};

/// The compile call that a constraint goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    JsonSchema,
    /// A choice is one, too.
    Regex,
    Gbnf,
    Lark,
    Ebnf,
    Tags,
}

/// The constraint of a request, before it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSource {
    pub kind: RequestKind,
    /// What the compile call reads.
    pub text: String,
    /// JSON pointer of the constraint, from the request's root.
    pub pointer: String,
    /// The request wants no white space in JSON.
    pub compact: bool,
}

fn kind_of(kind: sys::tsl_request_kind) -> RequestKind {
    match kind {
        sys::TSL_REQUEST_JSON_SCHEMA => RequestKind::JsonSchema,
        sys::TSL_REQUEST_REGEX => RequestKind::Regex,
        sys::TSL_REQUEST_GBNF => RequestKind::Gbnf,
        sys::TSL_REQUEST_LARK => RequestKind::Lark,
        sys::TSL_REQUEST_EBNF => RequestKind::Ebnf,
        _ => RequestKind::Tags,
    }
}

// SAFETY: `ctx` is the Option of read_request, and the texts are valid during the call.
unsafe extern "C" fn keep(ctx: *mut c_void, source: *const sys::tsl_request_source) {
    let source = &*source;
    let text = slice::from_raw_parts(source.text.cast::<u8>(), source.length);
    *(ctx as *mut Option<RequestSource>) = Some(RequestSource {
        kind: kind_of(source.kind),
        text: String::from_utf8_lossy(text).into_owned(),
        pointer: CStr::from_ptr(source.pointer).to_string_lossy().into_owned(),
        compact: source.compact,
    });
}

/// Say what a request constrains its answer to, and compile nothing.
pub fn read_request(request: &str) -> Result<RequestSource> {
    let mut found: Option<RequestSource> = None;
    with_error(|error| unsafe {
        sys::tsl_request_read(
            request.as_ptr().cast(),
            request.len(),
            null(),
            null(),
            keep,
            (&mut found as *mut Option<RequestSource>).cast(),
            error,
        )
    })?;
    Ok(found.expect("the library calls the sink before it returns"))
}

impl Grammar {
    /// What a request to a server constrains its answer to: the body that OpenAI's API, vLLM,
    /// SGLang, llama.cpp's server or Ollama takes. Errors have the pointer into the request. A
    /// request with tools goes to `Grammar::tools`.
    pub fn request(vocab: &Vocab, request: &str, options: &SchemaOptions) -> Result<Self> {
        let raw = options.raw();
        make(|out, error| unsafe {
            sys::tsl_grammar_request(
                vocab.0.as_ptr(),
                request.as_ptr().cast(),
                request.len(),
                &raw,
                null(),
                out,
                error,
            )
        })
        .map(Grammar)
    }
}
