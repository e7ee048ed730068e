package turnstile;

import com.sun.jna.Pointer;
import java.lang.ref.Reference;

/**
 * Follows one text. One thread at a time may use it.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
public final class Matcher extends Handle {
  private static final int REJECTED = 1;

  private final int words;

  Matcher(Pointer pointer, int words) {
    super(pointer, C::tsl_matcher_free);
    this.words = words;
  }

  /** Writes a bit for each token: bit i % 32 of int i / 32 is set if token i is allowed next. */
  public void mask(int[] mask) {
    if (mask.length != words) {
      throw TurnstileException.argument("a mask has " + words + " ints, not " + mask.length);
    }
    try {
      TurnstileException.check(C.tsl_matcher_mask(pointer(), mask), null);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Goes on by a token: false, and nothing is changed, if the mask does not allow the token. */
  public boolean accept(int token) {
    try {
      int status = C.tsl_matcher_accept(pointer(), token);
      if (status == REJECTED) {
        return false;
      }
      TurnstileException.check(status, null);
      return true;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Goes back by a number of tokens. */
  public void rollback(int tokens) {
    if (tokens < 0) {
      throw TurnstileException.argument("a matcher goes back by 0 tokens or more, not " + tokens);
    }
    try {
      TurnstileException.check(C.tsl_matcher_rollback(pointer(), new C.Size(tokens)), null);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Begins anew. */
  public void reset() {
    try {
      C.tsl_matcher_reset(pointer());
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether the text may end here. */
  public boolean isComplete() {
    try {
      return C.tsl_matcher_is_complete(pointer()) != 0;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Whether a token ended the text. */
  public boolean isTerminated() {
    try {
      return C.tsl_matcher_is_terminated(pointer()) != 0;
    } finally {
      Reference.reachabilityFence(this);
    }
  }
}
