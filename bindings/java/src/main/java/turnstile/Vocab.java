package turnstile;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;

/**
 * The tokens of a model, and the compiler of grammars for them. Many threads may use one.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
public final class Vocab extends Handle {
  private Vocab(Pointer pointer) {
    super(pointer, C::tsl_vocab_release);
  }

  /** The library's version. */
  public static String version() {
    return C.tsl_version();
  }

  /** 4,096 tokens that come with the library. */
  public static Vocab embedded() {
    PointerByReference out = new PointerByReference();
    Memory error = TurnstileException.memory();
    TurnstileException.check(C.tsl_vocab_embedded(null, out, error), error);
    return new Vocab(out.getValue());
  }

  /** Reads a tokenizer.json, tiktoken ranks, GGUF, SentencePiece's tokenizer.model or tekken.json. */
  public static Vocab load(String path) {
    PointerByReference out = new PointerByReference();
    Memory error = TurnstileException.memory();
    byte[] name = (path + "\0").getBytes(StandardCharsets.UTF_8);
    TurnstileException.check(C.tsl_vocab_load_file(name, null, null, out, error), error);
    return new Vocab(out.getValue());
  }

  /** The number of tokens. */
  public int size() {
    try {
      return C.tsl_vocab_size(pointer());
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** The number of ints of a mask. */
  public int maskWords() {
    try {
      return C.tsl_vocab_mask_words(pointer()).intValue();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether a token ends a text. */
  public boolean isEnd(int token) {
    try {
      return C.tsl_vocab_is_eog(pointer(), token) != 0;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** What a token stands for in a text; no bytes for a number that is no token. */
  public byte[] bytes(int token) {
    try (Memory length = new Memory(Native.SIZE_T_SIZE)) {
      Pointer at = C.tsl_vocab_bytes(pointer(), token, length);
      if (at == null) {
        return new byte[0];
      }
      long size = Native.SIZE_T_SIZE == 8 ? length.getLong(0) : length.getInt(0);
      return at.getByteArray(0, (int) size);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private interface Compiler {
    int compile(byte[] text, C.Size length, PointerByReference out, Pointer error);
  }

  private Grammar compile(String text, Compiler compiler) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    PointerByReference out = new PointerByReference();
    Memory error = TurnstileException.memory();
    try {
      int status = compiler.compile(bytes, new C.Size(bytes.length), out, error);
      TurnstileException.check(status, error);
      return new Grammar(out.getValue());
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Compiles a JSON Schema with the default options. */
  public Grammar jsonSchema(String schema) {
    Pointer vocab = pointer();
    return compile(
        schema,
        (text, n, out, error) ->
            C.tsl_grammar_json_schema(vocab, text, n, null, null, out, error));
  }

  /** Compiles a regular expression that the whole text matches. */
  public Grammar regex(String pattern) {
    Pointer vocab = pointer();
    return compile(
        pattern,
        (text, n, out, error) -> C.tsl_grammar_regex(vocab, text, n, null, null, out, error));
  }

  /** Compiles a grammar in llama.cpp's notation. */
  public Grammar gbnf(String grammar) {
    Pointer vocab = pointer();
    return compile(
        grammar,
        (text, n, out, error) -> C.tsl_grammar_gbnf(vocab, text, n, null, null, out, error));
  }
}
