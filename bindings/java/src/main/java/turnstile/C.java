package turnstile;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/**
 * The functions of turnstile.h that the package calls, by JNA's direct mapping.
 *
 * <p>A size_t is a {@link Size}, a bool of C is a byte: JNA's boolean has the width of an int. Errors
 * are read out of plain memory ({@link TurnstileException}).
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
final class C {
  /** A size_t. */
  public static final class Size extends com.sun.jna.IntegerType {
    private static final long serialVersionUID = 1;

    public Size() {
      this(0);
    }

    Size(long value) {
      super(Native.SIZE_T_SIZE, value, true);
    }
  }

  static {
    Native.register(C.class, "turnstile");
  }

  private C() {}

  static native String tsl_version();

  static native String tsl_status_name(int status);

  static native int tsl_vocab_embedded(Pointer allocator, PointerByReference out, Pointer error);

  static native int tsl_vocab_load_file(
      byte[] path, Pointer options, Pointer allocator, PointerByReference out, Pointer error);

  static native void tsl_vocab_release(Pointer vocab);

  static native int tsl_vocab_size(Pointer vocab);

  static native Size tsl_vocab_mask_words(Pointer vocab);

  static native byte tsl_vocab_is_eog(Pointer vocab, int token);

  static native Pointer tsl_vocab_bytes(Pointer vocab, int token, Pointer length);

  static native int tsl_grammar_json_schema(
      Pointer vocab,
      byte[] schema,
      Size length,
      Pointer options,
      Pointer limits,
      PointerByReference out,
      Pointer error);

  static native int tsl_grammar_regex(
      Pointer vocab,
      byte[] pattern,
      Size length,
      Pointer options,
      Pointer limits,
      PointerByReference out,
      Pointer error);

  static native int tsl_grammar_gbnf(
      Pointer vocab,
      byte[] text,
      Size length,
      Pointer root,
      Pointer limits,
      PointerByReference out,
      Pointer error);

  static native void tsl_grammar_release(Pointer grammar);

  static native Pointer tsl_grammar_vocab(Pointer grammar);

  static native int tsl_matcher_new(Pointer grammar, Pointer allocator, PointerByReference out);

  static native void tsl_matcher_free(Pointer matcher);

  static native int tsl_matcher_mask(Pointer matcher, int[] mask);

  static native int tsl_matcher_accept(Pointer matcher, int token);

  static native int tsl_matcher_rollback(Pointer matcher, Size tokens);

  static native void tsl_matcher_reset(Pointer matcher);

  static native byte tsl_matcher_is_complete(Pointer matcher);

  static native byte tsl_matcher_is_terminated(Pointer matcher);
}
