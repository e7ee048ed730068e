// Package turnstile makes a language model write text that fits a JSON Schema, a regular expression
// or a grammar. At every step it says which tokens are allowed.
//
//	vocab, err := turnstile.LoadVocab("tokenizer.json")
//	grammar, err := vocab.JSONSchema(`{"type": "integer"}`)
//	matcher, err := grammar.Matcher()
//	mask := make([]uint32, vocab.MaskWords())
//	err = matcher.Mask(mask)      // bit i%32 of word i/32: token i is allowed
//	err = matcher.Accept(token)
//
// A vocabulary and a grammar may be used by many goroutines at once, a matcher by one at a time. Each
// keeps what it stands on, and is freed when it is collected, or by Close.
//
// The package is thin: it has vocabularies, grammars, matchers and masks. `./dev go` puts the C
// sources beside it (build/go), which cgo compiles; no library of the system is needed.
//
// SPDX-License-Identifier: Apache-2.0
package turnstile

/*
#cgo CFLAGS: -std=c11 -DPCRE2_STATIC -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DSUPPORT_UNICODE
#cgo CFLAGS: -w -I${SRCDIR} -I${SRCDIR}/include
#cgo !windows LDFLAGS: -lm -lpthread
#cgo windows LDFLAGS: -ladvapi32
#include <stdlib.h>
#include "turnstile.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Error is why a call failed. Status is the name of a status of the C interface. Pointer names the
// keyword of a schema that is to blame; Line and Column are 0 where they are unknown.
type Error struct {
	Status, Message, Pointer string
	Line, Column             int
}

func (e *Error) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("%d:%d: ", e.Line, e.Column)
	}
	if e.Pointer != "" {
		return fmt.Sprintf("%s%s (%s) at %s", where, e.Message, e.Status, e.Pointer)
	}
	return fmt.Sprintf("%s%s (%s)", where, e.Message, e.Status)
}

func failed(status C.tsl_status, from *C.tsl_error) error {
	if status == C.TSL_OK {
		return nil
	}
	e := &Error{Status: C.GoString(C.tsl_status_name(status))}
	if from != nil {
		e.Message, e.Pointer = C.GoString(&from.message[0]), C.GoString(&from.pointer[0])
		e.Line, e.Column = int(from.line), int(from.column)
	}
	return e
}

// Version is the library's.
func Version() string { return C.GoString(C.tsl_version()) }

// Vocab is the tokens of a model.
type Vocab struct{ c *C.tsl_vocab }

func newVocab(c *C.tsl_vocab) *Vocab {
	v := &Vocab{c}
	runtime.SetFinalizer(v, (*Vocab).Close)
	return v
}

// EmbeddedVocab has 4,096 tokens and comes with the library.
func EmbeddedVocab() (*Vocab, error) {
	var e C.tsl_error
	var c *C.tsl_vocab
	if err := failed(C.tsl_vocab_embedded(nil, &c, &e), &e); err != nil {
		return nil, err
	}
	return newVocab(c), nil
}

// LoadVocab reads a tokenizer.json, tiktoken ranks, GGUF, SentencePiece's tokenizer.model or
// tekken.json.
func LoadVocab(path string) (*Vocab, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var e C.tsl_error
	var c *C.tsl_vocab
	if err := failed(C.tsl_vocab_load_file(name, nil, nil, &c, &e), &e); err != nil {
		return nil, err
	}
	return newVocab(c), nil
}

// Close frees the vocabulary; grammars that stand on it keep it.
func (v *Vocab) Close() {
	if v.c != nil {
		C.tsl_vocab_release(v.c)
		v.c = nil
	}
	runtime.SetFinalizer(v, nil)
}

// Size is the number of tokens.
func (v *Vocab) Size() int { return int(C.tsl_vocab_size(v.c)) }

// MaskWords is the number of 32-bit words of a mask.
func (v *Vocab) MaskWords() int { return int(C.tsl_vocab_mask_words(v.c)) }

// IsEnd says whether a token ends a text.
func (v *Vocab) IsEnd(token uint32) bool { return bool(C.tsl_vocab_is_eog(v.c, C.tsl_token(token))) }

// Bytes is what a token stands for in a text.
func (v *Vocab) Bytes(token uint32) []byte {
	var size C.size_t
	at := C.tsl_vocab_bytes(v.c, C.tsl_token(token), &size)
	if at == nil {
		return nil
	}
	bytes := C.GoBytes(unsafe.Pointer(at), C.int(size))
	runtime.KeepAlive(v)
	return bytes
}

// Grammar is a compiled schema, regular expression or grammar.
type Grammar struct{ c *C.tsl_grammar }

func (v *Vocab) compile(text string, call func(*C.char, C.size_t, **C.tsl_grammar, *C.tsl_error) C.tsl_status) (*Grammar, error) {
	at := C.CString(text)
	defer C.free(unsafe.Pointer(at))
	var e C.tsl_error
	var c *C.tsl_grammar
	if err := failed(call(at, C.size_t(len(text)), &c, &e), &e); err != nil {
		return nil, err
	}
	runtime.KeepAlive(v)
	g := &Grammar{c}
	runtime.SetFinalizer(g, (*Grammar).Close)
	return g, nil
}

// JSONSchema compiles a JSON Schema with the default options.
func (v *Vocab) JSONSchema(schema string) (*Grammar, error) {
	return v.compile(schema, func(at *C.char, n C.size_t, g **C.tsl_grammar, e *C.tsl_error) C.tsl_status {
		return C.tsl_grammar_json_schema(v.c, at, n, nil, nil, g, e)
	})
}

// Regex compiles a regular expression that the whole text matches.
func (v *Vocab) Regex(pattern string) (*Grammar, error) {
	return v.compile(pattern, func(at *C.char, n C.size_t, g **C.tsl_grammar, e *C.tsl_error) C.tsl_status {
		return C.tsl_grammar_regex(v.c, at, n, nil, nil, g, e)
	})
}

// GBNF compiles a grammar in llama.cpp's notation.
func (v *Vocab) GBNF(grammar string) (*Grammar, error) {
	return v.compile(grammar, func(at *C.char, n C.size_t, g **C.tsl_grammar, e *C.tsl_error) C.tsl_status {
		return C.tsl_grammar_gbnf(v.c, at, n, nil, nil, g, e)
	})
}

// Close frees the grammar; matchers that stand on it keep it.
func (g *Grammar) Close() {
	if g.c != nil {
		C.tsl_grammar_release(g.c)
		g.c = nil
	}
	runtime.SetFinalizer(g, nil)
}

// Matcher follows one text.
type Matcher struct {
	c     *C.tsl_matcher
	words int
}

// Matcher begins a text. The grammar's vocabulary says how long its masks are.
func (g *Grammar) Matcher() (*Matcher, error) {
	var c *C.tsl_matcher
	if err := failed(C.tsl_matcher_new(g.c, nil, &c), nil); err != nil {
		return nil, err
	}
	m := &Matcher{c, int(C.tsl_vocab_mask_words(C.tsl_grammar_vocab(g.c)))}
	runtime.KeepAlive(g)
	runtime.SetFinalizer(m, (*Matcher).Close)
	return m, nil
}

// Close frees the matcher.
func (m *Matcher) Close() {
	if m.c != nil {
		C.tsl_matcher_free(m.c)
		m.c = nil
	}
	runtime.SetFinalizer(m, nil)
}

// Mask writes a bit for each token: set, the token is allowed next. mask has MaskWords words.
func (m *Matcher) Mask(mask []uint32) error {
	if len(mask) != m.words {
		return &Error{Status: "TSL_ERR_ARGUMENT", Message: fmt.Sprintf("a mask has %d words, not %d", m.words, len(mask))}
	}
	return failed(C.tsl_matcher_mask(m.c, (*C.uint32_t)(unsafe.Pointer(&mask[0]))), nil)
}

// Accept goes on by a token. A token that the mask does not allow is an Error of TSL_REJECTED, and
// changes nothing.
func (m *Matcher) Accept(token uint32) error {
	return failed(C.tsl_matcher_accept(m.c, C.tsl_token(token)), nil)
}

// Rollback goes back by a number of tokens.
func (m *Matcher) Rollback(tokens int) error {
	return failed(C.tsl_matcher_rollback(m.c, C.size_t(tokens)), nil)
}

// Reset begins anew.
func (m *Matcher) Reset() { C.tsl_matcher_reset(m.c) }

// IsComplete says whether the text may end here.
func (m *Matcher) IsComplete() bool { return bool(C.tsl_matcher_is_complete(m.c)) }

// IsTerminated says whether a token ended the text.
func (m *Matcher) IsTerminated() bool { return bool(C.tsl_matcher_is_terminated(m.c)) }
