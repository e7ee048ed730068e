package turnstile;

import com.sun.jna.Pointer;
import java.lang.ref.Cleaner;
import java.util.function.Consumer;

/**
 * An object of the library, freed by close(), or after it was collected.
 *
 * <p>The library counts references: a grammar keeps its vocabulary and a matcher its grammar, so they
 * may be closed in any order. A call on an object that was closed throws IllegalStateException.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
abstract class Handle implements AutoCloseable {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Pointer pointer;
  private final Cleaner.Cleanable cleanable;
  private volatile boolean closed;

  Handle(Pointer pointer, Consumer<Pointer> free) {
    this.pointer = pointer;
    this.cleanable = CLEANER.register(this, () -> free.accept(pointer));
  }

  final Pointer pointer() {
    if (closed) {
      throw new IllegalStateException("this " + getClass().getSimpleName() + " was closed");
    }
    return pointer;
  }

  /** Frees the object; a second call does nothing. */
  @Override
  public final void close() {
    closed = true;
    cleanable.clean();
  }
}
