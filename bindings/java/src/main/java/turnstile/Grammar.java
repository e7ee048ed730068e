package turnstile;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.lang.ref.Reference;

/**
 * A compiled schema, regular expression or grammar. Many threads may use one.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
public final class Grammar extends Handle {
  Grammar(Pointer pointer) {
    super(pointer, C::tsl_grammar_release);
  }

  /** Begins a text. */
  public Matcher matcher() {
    PointerByReference out = new PointerByReference();
    try {
      TurnstileException.check(C.tsl_matcher_new(pointer(), null, out), null);
      int words = C.tsl_vocab_mask_words(C.tsl_grammar_vocab(pointer())).intValue();
      return new Matcher(out.getValue(), words);
    } finally {
      Reference.reachabilityFence(this);
    }
  }
}
