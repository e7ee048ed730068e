package turnstile;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;

/**
 * Why a call failed.
 *
 * <p>The library writes a tsl_error: status (int), offset (size_t), line, column (uint32_t), pointer
 * (256 bytes), message (512 bytes). The test reads a pointer and a line back, so that it fails if the
 * struct is another one.
 *
 * <p>SPDX-License-Identifier: Apache-2.0
 */
public final class TurnstileException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final int LINE = 2 * Native.SIZE_T_SIZE;
  private static final int POINTER = LINE + 8;
  private static final int MESSAGE = POINTER + 256;
  private static final int SIZE = MESSAGE + 512;

  private final String status;
  private final String pointer;
  private final int line;
  private final int column;

  private TurnstileException(
      String status, String message, String pointer, int line, int column) {
    super(
        (line > 0 ? line + ":" + column + ": " : "")
            + message
            + " ("
            + status
            + ")"
            + (pointer.isEmpty() ? "" : " at " + pointer));
    this.status = status;
    this.pointer = pointer;
    this.line = line;
    this.column = column;
  }

  /** The name of a status of the C interface, such as TSL_ERR_SCHEMA. */
  public String status() {
    return status;
  }

  /** The JSON pointer of the keyword to blame; empty where there is none. */
  public String pointer() {
    return pointer;
  }

  /** The line to blame, from 1; 0 where there is none. */
  public int line() {
    return line;
  }

  /** The column to blame in bytes, from 1; 0 where there is none. */
  public int column() {
    return column;
  }

  /** Memory for a tsl_error, all zero. */
  static Memory memory() {
    Memory error = new Memory(SIZE);
    error.clear();
    return error;
  }

  /** Throw if a call failed. `error` is what the call was given, or null. */
  static void check(int status, Pointer error) {
    if (status == 0) {
      return;
    }
    String name = C.tsl_status_name(status);
    if (error == null) {
      throw new TurnstileException(name, "the library refused the call", "", 0, 0);
    }
    throw new TurnstileException(
        name,
        error.getString(MESSAGE, "UTF-8"),
        error.getString(POINTER, "UTF-8"),
        error.getInt(LINE),
        error.getInt(LINE + 4));
  }

  static TurnstileException argument(String message) {
    return new TurnstileException("TSL_ERR_ARGUMENT", message, "", 0, 0);
  }
}
