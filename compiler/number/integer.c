/* integer.c - unconstrained integers, in every spelling, without a table.
 *
 * An integer may be written 15, 15.0, 1.50e1, 1500e-2. What may follow depends on how many zeros
 * the digits before the point end in: so many places an exponent may take away. Behind a point it
 * depends on the number of digits there, and on the last of them that is not 0. The two numbers are
 * packed into the automaton's parameter, so that no memory is needed and every layer of expressions
 * has the same states.
 *
 *   before the point    zeros                                 integral from exponent -zeros on
 *   "0"                 WHOLE_ZERO                            any exponent
 *   behind the point    bit 31, digits (15 bits), ready (16)  integral from exponent `ready` on;
 *   ready code 0: no digit but 0 so far
 *
 * Limit     Behind the point at most 32,767 digits, and before it at most as many zeros at the end
 *           if a point follows. More are refused (a completion always exists, so that no dead end
 *           arises).
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/integer.h"

#include <stdio.h>

#include "compiler/number/outline.h"
#include "compiler/number/parts.h"

#define FRACTION_BIT 0x80000000u
#define WHOLE_ZERO 0x7fffffffu
#define WHOLE_MAX (WHOLE_ZERO - 1)
#define PLACES_MAX 32767
#define READY_BIAS 32768

typedef struct state {
  bool fraction, zero; /* zero: no digit but 0 so far */
  int64_t digits;      /* behind the point */
  int64_t ready;       /* unless zero */
} state;

static state unpack(uint32_t param) {
  state s = {.fraction = (param & FRACTION_BIT) != 0};
  if (!s.fraction) {
    s.zero = param == WHOLE_ZERO;
    s.ready = -(int64_t)param;
  } else {
    s.digits = (param >> 16) & 0x7fff;
    s.zero = !(param & 0xffff);
    s.ready = (int64_t)(param & 0xffff) - READY_BIAS;
  }
  return s;
}

static bool nullable(void *ctx, uint32_t param) {
  (void)ctx;
  state s = unpack(param);
  return !s.fraction || (s.digits && (s.zero || s.ready <= 0));
}

static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  (void)ctx, (void)param;
  for (const char *c = "./01:EFef"; *c; c++) tsl__bytes_add(out, (uint8_t)*c);
}

static void live(void *ctx, uint32_t param, tsl__bytes *out) {
  state s = unpack(param);
  (void)ctx;
  if (s.fraction || !s.zero) tsl__bytes_add_range(out, '0', '9');
  if (!s.fraction) tsl__bytes_add(out, '.');
  if (!s.fraction || s.digits) tsl__bytes_add(out, 'E'), tsl__bytes_add(out, 'e');
}

static tsl__expr step_digit(tsl__exprs *x, const state *s, bool zero) {
  if (!s->fraction) return s->zero ? TSL__NONE : tsl__integer_whole(x, zero ? 1 - s->ready : 0);
  if (zero)
    return s->zero ? tsl__integer_zero(x, s->digits + 1)
                   : tsl__integer_fraction(x, s->digits + 1, s->ready);
  return tsl__integer_fraction(x, s->digits + 1, s->digits + 1);
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  (void)ctx;
  state s = unpack(param);
  if (byte >= '0' && byte <= '9') return step_digit(x, &s, byte == '0');
  if (byte == '.' && !s.fraction)
    return s.zero ? tsl__integer_zero(x, 0) : tsl__integer_fraction(x, 0, s.ready);
  if ((byte != 'e' && byte != 'E') || (s.fraction && !s.digits)) return TSL__NONE;
  tsl__exponents e;
  /* the holes are many words */
  e.low = s.zero ? -TSL__EXPONENT_INF : s.ready, e.high = TSL__EXPONENT_INF, e.hole_count = 0;
  return tsl__number_exponent(x, &e);
}

static uint32_t shortest(void *ctx, uint32_t param) {
  state s = unpack(param);
  if (nullable(ctx, param)) return 0;
  if (!s.digits) return 1;
  return 1 + (uint32_t)snprintf(NULL, 0, "%lld", (long long)s.ready);
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  state s = unpack(param);
  if (!s.fraction)
    snprintf(out, n, s.zero ? "integer 0" : "integer +%u zeros", param);
  else
    snprintf(out, n, s.zero ? "integer 0.+%d" : "integer .+%d ready %d", (int)s.digits,
             (int)s.ready);
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .ascii = "+-.0123456789Ee",
                                    .plain = true,
                                    .live = live};

tsl__expr tsl__integer_whole(tsl__exprs *x, int64_t zeros) {
  return zeros > (int64_t)WHOLE_MAX ? TSL__NONE : tsl__expr_native(x, &ops, NULL, (uint32_t)zeros);
}

tsl__expr tsl__integer_zero(tsl__exprs *x, int64_t fraction) {
  if (fraction > PLACES_MAX) return TSL__NONE;
  return tsl__expr_native(x, &ops, NULL,
                          fraction < 0 ? WHOLE_ZERO : FRACTION_BIT | (uint32_t)fraction << 16);
}

tsl__expr tsl__integer_fraction(tsl__exprs *x, int64_t fraction, int64_t ready) {
  if (fraction > PLACES_MAX || ready < -PLACES_MAX) return TSL__NONE;
  return tsl__expr_native(x, &ops, NULL,
                          FRACTION_BIT | (uint32_t)fraction << 16 | (uint32_t)(ready + READY_BIAS));
}

tsl__expr tsl__integer_begin(tsl__exprs *x) {
  tsl__expr zero = tsl__expr_seq(x, tsl__expr_literal(x, "0", 1), tsl__integer_zero(x, -1));
  return tsl__expr_alt(x, zero,
                       tsl__expr_seq(x, tsl__expr_range(x, '1', '9'), tsl__integer_whole(x, 0)));
}

bool tsl__integer_is(const tsl__native *native) { return native->ops == &ops; }
tsl__expr tsl__integer_from(tsl__exprs *x, uint32_t param) {
  return tsl__expr_native(x, &ops, NULL, param);
}
