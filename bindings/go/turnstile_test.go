// One generation under a schema, and what is refused.
//
// SPDX-License-Identifier: Apache-2.0
package turnstile

import (
	"encoding/json"
	"errors"
	"math/bits"
	"math/rand"
	"testing"
)

func vocab(t *testing.T) *Vocab {
	t.Helper()
	v, err := EmbeddedVocab()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// draw picks one of the allowed tokens.
func draw(mask []uint32, random *rand.Rand) uint32 {
	var allowed []uint32
	for i, word := range mask {
		for ; word != 0; word &= word - 1 {
			allowed = append(allowed, uint32(32*i+bits.TrailingZeros32(word)))
		}
	}
	return allowed[random.Intn(len(allowed))]
}

func TestGeneration(t *testing.T) {
	v := vocab(t)
	grammar, err := v.JSONSchema(`{"type": "object", "required": ["n"], "additionalProperties": false,
		"properties": {"n": {"type": "integer", "minimum": 10, "maximum": 42}}}`)
	if err != nil {
		t.Fatal(err)
	}
	mask := make([]uint32, v.MaskWords())
	for seed := int64(0); seed < 20; seed++ {
		matcher, err := grammar.Matcher()
		if err != nil {
			t.Fatal(err)
		}
		random, text := rand.New(rand.NewSource(seed)), []byte{}
		for !matcher.IsTerminated() {
			if err := matcher.Mask(mask); err != nil {
				t.Fatal(err)
			}
			token := draw(mask, random)
			if err := matcher.Accept(token); err != nil {
				t.Fatal(err)
			}
			if !v.IsEnd(token) {
				text = append(text, v.Bytes(token)...)
			}
		}
		var value struct{ N int }
		if err := json.Unmarshal(text, &value); err != nil || value.N < 10 || value.N > 42 {
			t.Fatalf("%q: %v", text, err)
		}
	}
}

func TestRejected(t *testing.T) {
	v := vocab(t)
	grammar, err := v.Regex("a+")
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := grammar.Matcher()
	if err != nil {
		t.Fatal(err)
	}
	mask := make([]uint32, v.MaskWords())
	if err := matcher.Mask(mask[1:]); err == nil {
		t.Error("a mask that is too short is taken")
	}
	if err := matcher.Mask(mask); err != nil {
		t.Fatal(err)
	}
	for token := uint32(0); int(token) < v.Size(); token++ {
		allowed := mask[token/32]>>(token%32)&1 == 1
		err := matcher.Accept(token)
		var e *Error
		if allowed != (err == nil) || (err != nil && (!errors.As(err, &e) || e.Status != "TSL_REJECTED")) {
			t.Fatalf("token %d: allowed %v, accepted: %v", token, allowed, err)
		}
		matcher.Reset()
	}
}

func TestError(t *testing.T) {
	_, err := vocab(t).JSONSchema(`{"minimum": "one"}`)
	var e *Error
	if !errors.As(err, &e) || e.Status != "TSL_ERR_SCHEMA" || e.Pointer != "/minimum" {
		t.Fatalf("%v", err)
	}
	if _, err := LoadVocab("/nowhere/at/all"); err == nil {
		t.Error("a file that is not there is read")
	}
}
