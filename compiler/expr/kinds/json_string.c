/* json_string.c - the rest of a JSON string whose decoded text matches an expression.
 *
 * Problem   A pattern or key speaks about decoded text. The bytes on the wire may spell a character
 *           raw, as \n, as \u0041 or as a pair of surrogates.
 * Idea      Three wrappers turn a derivative over decoded text into one over the spelling. JSTR(e)
 *           stands between characters, JESC(e) after a backslash, JHEX(e,k,v) after \u and k hex
 *           digits of value v. A raw byte steps e by itself; an escape, once whole, steps e by the
 *           UTF-8 of its character.
 * Dead ends A hex digit is allowed only if some character in the range that its prefix still stands
 *           for is allowed: \uD8 needs a low surrogate to follow that makes a legal character.
 * Collapse  Where all characters of that range lead to the same expression (inside a free string:
 *           always), the digits' value is not kept. JHEX becomes "so many hex digits, then
 *           JSTR(e')". So the free string has a handful of states, not 65,536.
 * Plain     All three have a flag, for what printers of JSON write. With it only the quote, the
 *           backslash and characters that are not printable ASCII have escapes. Others spell
 *           themselves. Past ASCII the raw character and \uXXXX both stay. Models have read texts
 *           of either kind. A model that has begun \u must be able to go on with the character that
 *           it means.
 * Open      JOPEN(e) is JSTR(e) without the closing quote: a part of a string that calls cut into
 *           parts. The flag TSL__JSON_OPEN in JESC and JHEX says to which of both an escape
 *           returns.
 * Example   JSTR(a) = a" | \u0061", and plain a" alone. JOPEN(a) = a | \u0061.
 * Lone      Lone surrogates are no characters: they are refused.
 * Ref       RFC 8259, section 7.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/nonascii.h"
#include "compiler/expr/meaning.h"

/* ---- constructors ---------------------------------------------------------------------------- */

static tsl__expr wrap(tsl__exprs *x, tsl__kind kind, tsl__expr e, uint32_t digits, uint32_t value,
                      uint32_t high) {
  if (e == TSL__NONE) return TSL__NONE;
  tsl__node n = tsl__node_at(x, e);
  tsl__node w = {.kind = (uint8_t)kind, .a = e, .b = digits, .c = value, .d = high, .loop = n.loop};
  w.flags = n.flags & (TSL__COUNTS | TSL__FINITE | TSL__SEARCHED);
  w.traits = (n.traits & (TSL__EXITS | TSL__OVERLAPS)) | TSL__GROUPS;
  uint32_t inner = n.shortest; /* a lower bound: empty.c knows what characters cost */
  uint32_t quote = kind != TSL__K_JOPEN && !(high & TSL__JSON_OPEN), extra = kind == TSL__K_JESC ? 1
                                                                             : kind == TSL__K_JHEX
                                                                                 ? 4 - digits
                                                                                 : 0;
  /* the escape spells one character */
  if ((kind == TSL__K_JESC || kind == TSL__K_JHEX) && inner > 0) inner--;
  w.shortest = tsl__add(inner, extra + quote);
  if (kind == TSL__K_JOPEN) w.flags |= n.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH);
  return kind == TSL__K_JSTR && tsl__is_alone(x, e) ? tsl__append(x, w) : tsl__intern(x, w);
}

#define FLAGS (TSL__JSON_PLAIN | TSL__JSON_OPEN)

/* `flags`: TSL__JSON_PLAIN and TSL__JSON_OPEN, each or neither, here and below. */
static tsl__expr string_of(tsl__exprs *x, tsl__expr text, uint32_t flags) {
  if (!(flags & TSL__JSON_OPEN)) return wrap(x, TSL__K_JSTR, text, 0, 0, flags);
  return text == TSL__EPS ? text : wrap(x, TSL__K_JOPEN, text, 0, 0, flags);
}

tsl__expr tsl__expr_json_string(tsl__exprs *x, tsl__expr text) {
  return string_of(x, text, x->plain_strings ? TSL__JSON_PLAIN : 0);
}

tsl__expr tsl__expr_json_part(tsl__exprs *x, tsl__expr text) {
  return string_of(x, text, TSL__JSON_OPEN | (x->plain_strings ? TSL__JSON_PLAIN : 0));
}

tsl__expr tsl__json_string_like(tsl__exprs *x, const tsl__node *n, tsl__expr text) {
  return string_of(x, text, n->d & TSL__JSON_PLAIN);
}

static tsl__expr hex_digits(tsl__exprs *x, unsigned n, tsl__expr then) {
  if (!x->hex) {
    tsl__bytes set = {{0}};
    tsl__bytes_add_range(&set, '0', '9');
    tsl__bytes_add_range(&set, 'A', 'F');
    tsl__bytes_add_range(&set, 'a', 'f');
    x->hex = tsl__expr_bytes(x, &set);
  }
  for (; n > 0; n--) then = tsl__expr_seq(x, x->hex, then);
  return then;
}

/* \uDC00 … \uDFFF, any of them. */
static tsl__expr low_surrogate(tsl__exprs *x, tsl__expr then) {
  tsl__bytes d = {{0}}, cf = {{0}};
  tsl__bytes_add(&d, 'D');
  tsl__bytes_add(&d, 'd');
  tsl__bytes_add_range(&cf, 'C', 'F');
  tsl__bytes_add_range(&cf, 'c', 'f');
  tsl__expr e = tsl__expr_seq(x, tsl__expr_bytes(x, &cf), hex_digits(x, 2, then));
  e = tsl__expr_seq(x, tsl__expr_bytes(x, &d), e);
  return tsl__expr_seq(x, tsl__expr_literal(x, "\\u", 2), e);
}

/* ---- derivatives by characters --------------------------------------------------------------- */

/* Steps within one character: the first may begin an iteration, no other can. */
static bool compose(tsl__exprs *x, tsl__count first, tsl__count then, tsl__count *out) {
  if (then == TSL__COUNT_CLEAR) return *out = then, true;
  if (then == TSL__COUNT_KEEP)
    return *out = first == TSL__COUNT_CLEAR ? TSL__COUNT_KEEP : first, true;
  if (first == TSL__COUNT_CLEAR || first == TSL__COUNT_KEEP) return *out = then, true;
  tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED,
                  "a counted repetition of parts of a character inside a JSON string");
  return false;
}

static void step_bytes(tsl__exprs *x, tsl__expr e, const uint8_t *bytes, unsigned n, tsl__step how,
                       tsl__parts *out) {
  tsl__parts now = {1, {{TSL__COUNT_KEEP, e}}};
  for (unsigned i = 0; i < n; i++) {
    tsl__parts next = {0};
    for (uint32_t p = 0; p < now.n; p++) {
      tsl__parts one = {0};
      tsl__derive_parts(x, now.at[p].e, bytes[i], how, &one);
      for (uint32_t q = 0; q < one.n; q++) {
        tsl__count count;
        if (compose(x, now.at[p].count, one.at[q].count, &count))
          tsl__parts_add(x, &next, count, one.at[q].e);
      }
    }
    now = next;
  }
  for (uint32_t p = 0; p < now.n; p++) tsl__parts_add(x, out, now.at[p].count, now.at[p].e);
}

/* Where a range of characters leads: anywhere at all, and to one place or to several. */
typedef struct verdict {
  bool any, same;
  tsl__part to; /* if any && same */
} verdict;

static void verdict_add(verdict *v, const tsl__part *p) {
  if (!v->any) {
    v->any = true;
    v->to = *p;
  } else if (v->to.e != p->e || v->to.count != p->count) {
    v->same = false;
  }
}

/* Follow e through byte ranges lo[i] … hi[i], i from `at` to n - 1; stop as soon as both answers
 * are known. `r`: what e reads, if that is known. */
static void follow(tsl__exprs *x, tsl__part from, const tsl__reads *r, const uint8_t *lo,
                   const uint8_t *hi, unsigned at, unsigned n, tsl__step how, verdict *v) {
  tsl__reads own;
  if (v->any && !v->same) return;
  if (at == n) {
    verdict_add(v, &from);
    return;
  }
  if (!r) tsl__reads_of(x, from.e, &own), r = &own;
  for (unsigned b = lo[at]; b <= hi[at] && !(v->any && !v->same);
       b = tsl__edge_from(&r->edges, b + 1)) {
    tsl__parts parts = {0};
    if (tsl__bytes_has(&r->live, b)) tsl__derive_parts(x, from.e, (uint8_t)b, how, &parts);
    if (parts.n != 1) v->same = false;
    for (uint32_t p = 0; p < parts.n; p++) {
      tsl__part next = parts.at[p];
      if (compose(x, from.count, next.count, &next.count))
        follow(x, next, NULL, lo, hi, at + 1, n, how, v);
    }
  }
}

/* An expression of which several ranges of characters are followed: what is needed of it is found
 * out once. */
typedef struct source {
  tsl__expr e, past_ascii; /* past: where any non-ASCII character leads, if `alike` */
  bool read, judged, alike;
  tsl__reads reads; /* if `read` */
} source;

static const tsl__reads *source_reads(tsl__exprs *x, source *s) {
  if (!s->read) tsl__reads_of(x, s->e, &s->reads);
  s->read = true;
  return &s->reads;
}

/* Do all non-ASCII characters lead to one place? Most expressions do not keep them apart. */
static bool is_alike_nonascii(tsl__exprs *x, source *s) {
  tsl__node n = tsl__node_at(x, s->e);
  if (!s->judged)
    s->alike = !n.loop && !(n.flags & (TSL__CALLS | TSL__COUNTS)) &&
               tsl__derive_nonascii(x, s->e, NULL, &s->past_ascii);
  s->judged = true;
  return s->alike;
}

/* As in charset.c's splitting: ranges whose UTF-8 is a row of byte ranges. */
static void follow_range(tsl__exprs *x, source *s, uint32_t lo, uint32_t hi, tsl__step how,
                         verdict *v) {
  static const uint32_t last[] = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
  while (lo <= hi && !(v->any && !v->same)) {
    if (lo >= 0x80 && is_alike_nonascii(x, s)) {
      if (s->past_ascii)
        verdict_add(v, &(tsl__part){TSL__COUNT_CLEAR, s->past_ascii});
      else
        v->same = false;
      return;
    }
    const tsl__reads *r = source_reads(x, s);
    if (lo >= 0x80 && !r->live.w[3]) { /* it begins with no non-ASCII character */
      v->same = false;
      return;
    }
    uint32_t end = hi;
    for (int i = 0; i < 4; i++)
      if (lo <= last[i]) {
        if (end > last[i]) end = last[i];
        break;
      }
    if (lo < 0xD800 && end >= 0xD800) end = 0xD7FF;
    uint8_t a[4], b[4];
    unsigned n = tsl__utf8_encode(lo, a);
    for (unsigned i = n - 1; i >= 1; i--) { /* the widest aligned block from lo on that fits */
      uint32_t bits = ((uint32_t)1 << (6 * i)) - 1;
      if ((lo & bits) == 0 && end - lo >= bits) {
        end = lo + ((end - lo + 1) & ~bits) - 1;
        break;
      }
      if (i == 1 && (lo | bits) < end)
        end = lo | bits;
      else if ((lo & bits) && (lo | bits) < end)
        end = lo | bits;
    }
    n = tsl__utf8_encode(lo, a);
    tsl__utf8_encode(end, b);
    follow(x, (tsl__part){TSL__COUNT_KEEP, s->e}, r, a, b, 0, n, how, v);
    if (end == hi) return;
    lo = end + 1;
  }
}

/* Characters of ASCII that have no escape \uXXXX in plain strings. */
#define PRINTABLE_FIRST 0x20u
#define PRINTABLE_LAST 0x7Eu

/* ---- hex digits ------------------------------------------------------------------------------ */

/* The UTF-16 units that k digits of value v still stand for, split at the surrogates. */
static void follow_units(tsl__exprs *x, tsl__expr e, uint32_t lo, uint32_t hi, uint32_t high,
                         tsl__step how, verdict *v) {
  source s = {.e = e};
  bool plain = high & TSL__JSON_PLAIN;
  high &= ~FLAGS;
  if (plain) {
    bool printable = !high && lo <= PRINTABLE_LAST && hi >= PRINTABLE_FIRST;
    if (printable) v->same = false;
    if (printable && lo < PRINTABLE_FIRST) follow_range(x, &s, lo, PRINTABLE_FIRST - 1, how, v);
    if (printable && hi <= PRINTABLE_LAST) return;
    if (printable) lo = PRINTABLE_LAST + 1;
  }
  if (high) {
    uint32_t base = 0x10000 + ((high - 0xD800) << 10);
    if (lo < 0xDC00) lo = 0xDC00, v->same = false;
    if (hi > 0xDFFF) hi = 0xDFFF, v->same = false;
    if (lo <= hi) follow_range(x, &s, base + (lo - 0xDC00), base + (hi - 0xDC00), how, v);
    return;
  }
  bool pure = hi < 0xD800 || lo > 0xDFFF || (lo >= 0xD800 && hi <= 0xDBFF);
  if (!pure) v->same = false;
  if (lo < 0xD800) follow_range(x, &s, lo, hi < 0xD7FF ? hi : 0xD7FF, how, v);
  if (lo <= 0xDBFF && hi >= 0xD800) {
    uint32_t a = lo > 0xD800 ? lo : 0xD800, b = hi < 0xDBFF ? hi : 0xDBFF;
    follow_range(x, &s, 0x10000 + ((a - 0xD800) << 10), 0x10000 + ((b - 0xD800) << 10) + 0x3FF, how,
                 v);
  }
  if (hi > 0xDFFF) follow_range(x, &s, lo > 0xE000 ? lo : 0xE000, hi, how, v);
}

/* The characters that units lo … hi stand for are [from, to]; false if there are none. `astral`:
 * those of surrogates, else the others. */
static bool characters_of_units(uint32_t lo, uint32_t hi, uint32_t high, bool astral,
                                uint32_t *from, uint32_t *to) {
  high &= ~FLAGS;
  if (high) {
    uint32_t base = 0x10000 + ((high - 0xD800) << 10);
    if (lo < 0xDC00) lo = 0xDC00;
    if (hi > 0xDFFF) hi = 0xDFFF;
    *from = base + (lo - 0xDC00);
    *to = base + (hi - 0xDC00);
    return astral && lo <= hi;
  }
  if (!astral) {
    *from = lo >= 0xD800 && lo <= 0xDFFF ? 0xE000 : lo;
    *to = hi >= 0xD800 && hi <= 0xDFFF ? 0xD7FF : hi;
    return *from <= *to;
  }
  if (lo < 0xD800) lo = 0xD800;
  if (hi > 0xDBFF) hi = 0xDBFF;
  *from = 0x10000 + ((lo - 0xD800) << 10);
  *to = 0x10000 + ((hi - 0xD800) << 10) + 0x3FF;
  return lo <= hi;
}

/* JHEX of those keys that begin with one of these characters. */
static void add_keys(tsl__exprs *x, const tsl__node *keys, uint32_t from, uint32_t to, uint32_t k,
                     uint32_t value, uint32_t high, tsl__parts *out) {
  if (high & TSL__JSON_PLAIN && from <= PRINTABLE_LAST && to >= PRINTABLE_FIRST) {
    if (from < PRINTABLE_FIRST)
      tsl__parts_add(x, out, TSL__COUNT_KEEP,
                     wrap(x, TSL__K_JHEX, tsl__keys_between(x, keys, from, PRINTABLE_FIRST - 1), k,
                          value, high));
    from = PRINTABLE_LAST + 1;
  }
  if (from <= to)
    tsl__parts_add(x, out, TSL__COUNT_KEEP,
                   wrap(x, TSL__K_JHEX, tsl__keys_between(x, keys, from, to), k, value, high));
}

/* JHEX of e. Of keys, only those that the digits may still spell: whoever asks whether any of them
 * is allowed must not be misled by others. */
static void add_digits(tsl__exprs *x, tsl__expr e, uint32_t k, uint32_t value, uint32_t high,
                       tsl__parts *out) {
  tsl__node n = tsl__node_at(x, e);
  uint32_t shift = 4 * (4 - k), lo = value << shift, hi = lo + (((uint32_t)1 << shift) - 1), from,
           to;
  if (n.kind != TSL__K_KEYS) {
    tsl__parts_add(x, out, TSL__COUNT_KEEP, wrap(x, TSL__K_JHEX, e, k, value, high));
    return;
  }
  if (k == 0 && !(high & ~FLAGS)) { /* any character */
    add_keys(x, &n, 0, 0x10FFFF, k, value, high, out);
    return;
  }
  for (int astral = 0; astral < 2; astral++)
    if (characters_of_units(lo, hi, high, astral, &from, &to))
      add_keys(x, &n, from, to, k, value, high, out);
}

/* Does e certainly have a member that begins with a whole character? By structure; false where only
 * derivatives would decide that. */
static bool begins_a_character(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  switch ((tsl__kind)n.kind) {
  case TSL__K_LIT: return (*tsl__literal_at(x, n.a) & 0xC0) != 0x80;
  case TSL__K_BYTES: {
    const tsl__bytes *set = tsl__set_at(x, n.a);
    return set->w[0] || set->w[1] || set->w[3];
  }
  case TSL__K_SEQ:
  case TSL__K_REPEAT: return depth < 8 && begins_a_character(x, n.a, depth + 1);
  case TSL__K_ALT:
    for (uint32_t i = 0; depth < 8 && i < n.b; i++)
      if (begins_a_character(x, tsl__list_at(x, n.a)[i], depth + 1)) return true;
    return false;
  case TSL__K_AND: /* any text but finitely many */
    for (uint32_t i = 0; i < n.b; i++) {
      tsl__expr part = tsl__list_at(x, n.a)[i];
      tsl__node m = tsl__node_at(x, part);
      if (part != x->text && (m.kind != TSL__K_NOT || !(tsl__node_at(x, m.a).flags & TSL__FINITE)))
        return false;
    }
    return true;
  case TSL__K_CASES: return begins_a_character(x, tsl__cases_text(x, &n), depth + 1);
  case TSL__K_KEYS: {
    const tsl__string *s = &tsl__strings_at(x, n.a)->at[n.c - 1];
    return s->length > n.d && ((uint8_t)s->at[n.d] & 0xC0) != 0x80;
  }
  default: return false;
  }
}

/* The state after \u and k digits of value v, as parts. */
static void add_hex(tsl__exprs *x, tsl__expr e, uint32_t k, uint32_t value, uint32_t high,
                    tsl__step how, tsl__parts *out) {
  uint32_t shift = 4 * (4 - k), lo = value << shift, hi = lo + (((uint32_t)1 << shift) - 1);
  verdict v = {false, true, {TSL__COUNT_CLEAR, TSL__NONE}};
  /* any character may be spelled yet */
  uint32_t flags = high & FLAGS;
  if (k == 0 && !(high & ~TSL__JSON_OPEN) && begins_a_character(x, e, 0))
    v = (verdict){true, false, {TSL__COUNT_CLEAR, TSL__NONE}};
  else
    follow_units(x, e, lo, hi, high, how, &v);
  if (!v.any) return;
  if (!v.same) {
    add_digits(x, e, k, value, high, out);
    return;
  }
  tsl__expr then = string_of(x, v.to.e, flags);
  if (high == flags && lo >= 0xD800 && hi <= 0xDBFF) then = low_surrogate(x, then);
  tsl__parts_add(x, out, v.to.count, hex_digits(x, 4 - k, then));
}

/* After \uD8xx, whole: the other half must follow. */
static void add_after_high(tsl__exprs *x, tsl__expr e, uint32_t high, tsl__step how,
                           tsl__parts *out) {
  uint32_t flags = high & FLAGS;
  verdict v = {false, true, {TSL__COUNT_CLEAR, TSL__NONE}};
  follow_units(x, e, 0xDC00, 0xDFFF, high, how, &v);
  if (!v.any) return;
  if (v.same) {
    tsl__parts_add(x, out, v.to.count, low_surrogate(x, string_of(x, v.to.e, flags)));
    return;
  }
  tsl__parts digits = {0};
  add_digits(x, e, 0, 0, high, &digits);
  if (digits.n)
    tsl__parts_add(x, out, TSL__COUNT_KEEP,
                   tsl__expr_seq(x, tsl__expr_literal(x, "\\u", 2), digits.at[0].e));
}

static void add_character(tsl__exprs *x, tsl__expr e, uint32_t cp, uint32_t flags, tsl__step how,
                          tsl__parts *out) {
  uint8_t bytes[4];
  unsigned n = tsl__utf8_encode(cp, bytes);
  tsl__parts parts = {0};
  step_bytes(x, e, bytes, n, how, &parts);
  for (uint32_t i = 0; i < parts.n; i++)
    tsl__parts_add(x, out, parts.at[i].count, string_of(x, parts.at[i].e, flags));
}

static void step_hex(tsl__exprs *x, const tsl__node *n, uint8_t byte, tsl__step how,
                     tsl__parts *out) {
  int digit = tsl__hex_value(byte);
  if (digit < 0) return;
  uint32_t k = n->b + 1, value = n->c << 4 | (uint32_t)digit, flags = n->d & FLAGS,
           high = n->d - flags;
  if (k < 4)
    add_hex(x, n->a, k, value, n->d, how, out);
  else if (high && value >= 0xDC00 && value <= 0xDFFF)
    add_character(x, n->a, 0x10000 + ((high - 0xD800) << 10) + (value - 0xDC00), flags, how, out);
  else if (high || (value >= 0xDC00 && value <= 0xDFFF))
    return;
  else if (value >= 0xD800 && value <= 0xDBFF)
    add_after_high(x, n->a, value | flags, how, out);
  else if (!(flags & TSL__JSON_PLAIN) || tsl__escapes_plainly(value, true))
    add_character(x, n->a, value, flags, how, out);
}

/* ---- the step -------------------------------------------------------------------------------- */

/* Can a whole character follow, spelled as an escape? Not in the middle of a raw one, and not at
 * the end. */
static void add_escape(tsl__exprs *x, tsl__expr e, uint32_t flags, tsl__step how, tsl__parts *out) {
  /* characters that have escapes */
  static const uint32_t any[][2] = {{0, 0xD7FF}, {0xE000, 0x10FFFF}},
                        few[][2] = {{0, PRINTABLE_FIRST - 1},
                                    {'"', '"'},
                                    {'\\', '\\'},
                                    {PRINTABLE_LAST + 1, 0xD7FF},
                                    {0xE000, 0x10FFFF}};
  bool plain = flags & TSL__JSON_PLAIN;
  const uint32_t(*ranges)[2] = plain ? few : any;
  size_t n_ranges = plain ? sizeof few / sizeof *few : sizeof any / sizeof *any;
  verdict v = {!plain && begins_a_character(x, e, 0), false, {TSL__COUNT_CLEAR, TSL__NONE}};
  source s = {.e = e};
  for (size_t i = 0; i < n_ranges && !v.any; i++)
    follow_range(x, &s, ranges[i][0], ranges[i][1], how, &v);
  if (!v.any) return;
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_KEYS) {
    tsl__parts_add(x, out, TSL__COUNT_KEEP, wrap(x, TSL__K_JESC, e, 0, 0, flags));
    return;
  }
  /* of keys, those that such a character begins; surrogates begin none */
  for (size_t i = 0; plain && i < 3; i++)
    tsl__parts_add(
        x, out, TSL__COUNT_KEEP,
        wrap(x, TSL__K_JESC, tsl__keys_between(x, &n, few[i][0], few[i][1]), 0, 0, flags));
  uint32_t rest = plain ? PRINTABLE_LAST + 1 : 0;
  tsl__parts_add(x, out, TSL__COUNT_KEEP,
                 wrap(x, TSL__K_JESC, tsl__keys_between(x, &n, rest, 0x10FFFF), 0, 0, flags));
}

static void step_escape(tsl__exprs *x, const tsl__node *n, uint8_t byte, tsl__step how,
                        tsl__parts *out) {
  if (byte == 'u') {
    add_hex(x, n->a, 0, 0, n->d, how, out);
    return;
  }
  uint8_t means = tsl__escaped(byte);
  if (means && (!(n->d & TSL__JSON_PLAIN) || tsl__escapes_plainly(means, false)))
    add_character(x, n->a, means, n->d, how, out);
}

/* The closing quote: the text may end here, or a key is whole. */
static void step_quote(tsl__exprs *x, tsl__expr e, tsl__step how, tsl__parts *out) {
  tsl__node n = tsl__node_at(x, e);
  if (!tsl__nullable_in(&n, how.phase)) return;
  if (n.kind == TSL__K_CASES) {
    tsl__parts_add(x, out, TSL__COUNT_CLEAR, tsl__cases_after(x, &n));
    return;
  }
  tsl__node name = {.kind = TSL__K_NAME,
                    .a = n.b,
                    .flags = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__FINITE | TSL__SEARCHED};
  tsl__parts_add(x, out, TSL__COUNT_CLEAR, n.kind == TSL__K_KEYS ? tsl__intern(x, name) : TSL__EPS);
}

static void derive_parts(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__step how, tsl__parts *out) {
  tsl__node n = tsl__node_at(x, e);
  how.last = false;
  if (n.kind == TSL__K_JHEX) {
    step_hex(x, &n, byte, how, out);
  } else if (n.kind == TSL__K_JESC) {
    step_escape(x, &n, byte, how, out);
  } else if (byte == '"') {
    if (n.kind == TSL__K_JSTR) step_quote(x, n.a, how, out);
  } else if (byte == '\\') {
    add_escape(x, n.a, n.d, how, out);
  } else if (byte >= 0x20) {
    tsl__parts inner = {0};
    tsl__derive_parts(x, n.a, byte, how, &inner);
    for (uint32_t i = 0; i < inner.n; i++)
      tsl__parts_add(x, out, inner.at[i].count, string_of(x, inner.at[i].e, n.d));
  }
}

/* Each of these bytes leads elsewhere. */
static void read_byte(uint8_t byte, tsl__reads *out) {
  tsl__bytes_add(&out->edges, byte);
  tsl__bytes_add(&out->edges, byte + 1u);
  tsl__bytes_add(&out->live, byte);
}

/* After a backslash: the letters of characters that may follow. Some character may, or there would
 * be no backslash. */
static void read_escape(const tsl__reads *inner, bool plain, tsl__reads *out) {
  for (unsigned i = 0; TSL__ESCAPED[i]; i++)
    if (tsl__bytes_has(&inner->live, (uint8_t)TSL__ESCAPED[i]) &&
        (!plain || tsl__escapes_plainly((uint8_t)TSL__ESCAPED[i], false)))
      read_byte((uint8_t)TSL__ESCAPE_LETTERS[i], out);
  read_byte('u', out);
}

/* May a digit be next that leaves these units? By the first bytes of their characters; `all`: any
 * of these leads on. */
static bool may_be_units(const tsl__bytes *live, bool all, uint32_t lo, uint32_t hi,
                         uint32_t high) {
  uint32_t from, to;
  if (lo >= 0x80 && !live->w[3]) return false; /* no non-ASCII character begins */
  for (int astral = 0; astral < 2; astral++) {
    tsl__bytes first = {{0}};
    if (!characters_of_units(lo, hi, high, astral, &from, &to)) continue;
    if (all) return true;
    tsl__bytes_add_range(&first, tsl__utf8_first(from), tsl__utf8_first(to));
    if (tsl__bytes_meet(&first, live)) return true;
  }
  return false;
}

static void read_digits(const tsl__node *n, const tsl__reads *inner, tsl__reads *out) {
  static const tsl__bytes begins = {
      {UINT64_MAX, UINT64_MAX, 0, TSL__ALL_LEADS << (TSL__LEAD & 63)}};
  uint32_t shift = 4 * (3 - n->b);
  bool all = tsl__bytes_within(&begins, &inner->live);
  for (uint32_t digit = 0; digit < 16; digit++) {
    uint32_t lo = (n->c << 4 | digit) << shift;
    uint32_t hi = lo + (((uint32_t)1 << shift) - 1);
    if ((n->d & ~TSL__JSON_OPEN) == TSL__JSON_PLAIN && lo >= PRINTABLE_FIRST &&
        hi <= PRINTABLE_LAST)
      continue;
    if (!may_be_units(&inner->live, all, lo, hi, n->d)) continue;
    read_byte((uint8_t) "0123456789abcdef"[digit], out);
    if (digit >= 10) read_byte((uint8_t) "ABCDEF"[digit - 10], out);
  }
}

static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  tsl__reads inner;
  (void)e, (void)last;
  out->guessed = true;
  tsl__reads_of(x, n->a, &inner);
  if (n->kind == TSL__K_JESC) {
    read_escape(&inner, n->d & TSL__JSON_PLAIN, out);
    return TSL__NONE;
  }
  if (n->kind == TSL__K_JHEX) {
    read_digits(n, &inner, out);
    return TSL__NONE;
  }
  /* an escape spells what begins a character */
  tsl__bytes escaped = {{UINT64_MAX, UINT64_MAX, 0, UINT64_MAX}};
  if (n->d & TSL__JSON_PLAIN) {
    escaped = (tsl__bytes){{0xFFFFFFFFu, 0, 0, UINT64_MAX}};
    for (const char *c = "\"\\\x7F"; *c; c++) tsl__bytes_add(&escaped, (uint8_t)*c);
  }
  bool whole = tsl__bytes_meet(&inner.live, &escaped);
  inner.edges.w[0] &= ~(uint64_t)0xFFFFFFFF;
  inner.live.w[0] &= ~(uint64_t)0xFFFFFFFF & ~((uint64_t)1 << '"');
  inner.live.w['\\' >> 6] &= ~((uint64_t)1 << ('\\' & 63));
  if (whole) tsl__bytes_add(&inner.live, '\\');
  if (n->kind == TSL__K_JSTR &&
      tsl__node_at(x, n->a).flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH))
    tsl__bytes_add(&inner.live, '"');
  tsl__bytes_or(&out->edges, &inner.edges);
  tsl__bytes_or(&out->live, &inner.live);
  for (const char *c = "\"\\"; *c; c++) {
    tsl__bytes_add(&out->edges, (uint8_t)*c);
    tsl__bytes_add(&out->edges, (uint8_t)*c + 1u);
  }
  tsl__bytes_add(&out->edges, 0x20);
  return TSL__NONE;
}

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  tsl__parts parts = {0};
  (void)n;
  derive_parts(x, e, byte, (tsl__step){TSL__PHASE_LOW, false, last}, &parts);
  return parts.n ? parts.at[0].e : TSL__NONE;
}

/* A raw byte steps the decoded text; control characters, the quote and the backslash do not. */
static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  tsl__bytes control = {{0xFFFFFFFFu, 0, 0, 0}};
  (void)x, (void)e;
  tsl__alike_split(out, &control);
  tsl__alike_split_byte(out, '"');
  tsl__alike_split_byte(out, '\\');
  *last = false;
  *next = n->a;
  return true;
}

/* ---- what other files ask -------------------------------------------------------------------- */

static uint32_t shortest_string(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                                unsigned depth) {
  (void)e, (void)spelled;
  return tsl__add(1, tsl__shortest_in(x, n->a, true, depth + 1));
}

static uint32_t shortest_part(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                              unsigned depth) {
  (void)e, (void)spelled;
  return tsl__shortest_in(x, n->a, true, depth + 1);
}

/* Only a search finds out which characters an escape can be. */
static uint32_t shortest_escape(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                                unsigned depth) {
  tsl__node inner = tsl__node_at(x, n->a);
  (void)spelled, (void)depth;
  if (inner.kind == TSL__K_CASES) { /* the escape of its text alone, and then the rest */
    tsl__expr alone = wrap(x, n->kind, tsl__cases_text(x, &inner), n->b, n->c, n->d);
    return tsl__add(tsl__expr_shortest(x, alone), tsl__cases_rest(x, &inner));
  }
  return n->loop || n->flags & TSL__CALLS ? n->shortest : tsl__shortest_by_search(x, e, false);
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  if (n->kind == TSL__K_JHEX)
    tsl__print_format(w, "j\\u%u:%X:%X ", n->b, n->c, n->d & ~FLAGS);
  else
    tsl__print_text(w, n->kind == TSL__K_JESC ? "j\\" : "j\"");
  tsl__print_expr(x, n->a, w, depth + 1);
  tsl__print_char(w, n->d & TSL__JSON_OPEN ? '~' : '"');
}

/* The end of a string, and what escapes are made of, besides the decoded text. */
static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  static const char spelled[] = TSL__ESCAPE_LETTERS "u0123456789abcdefABCDEF";
  (void)a, (void)depth;
  tsl__alphabet_text(out, spelled, sizeof spelled - 1);
  return n->a;
}

/* The fields b and c are 0 but for JHEX. */
static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_node(m, n, n->b, n->c, n->d, n->a, TSL__NONE, out);
}

const tsl__kind_ops tsl__kind_json_string = {.derive = derive,
                                             .derive_parts = derive_parts,
                                             .reads = reads,
                                             .alike = alike,
                                             .shortest = shortest_string,
                                             .print = print,
                                             .alphabet = alphabet,
                                             .meaning = meaning};
const tsl__kind_ops tsl__kind_json_escape = {.derive = derive,
                                             .derive_parts = derive_parts,
                                             .reads = reads,
                                             .shortest = shortest_escape,
                                             .print = print,
                                             .alphabet = alphabet,
                                             .meaning = meaning};
const tsl__kind_ops tsl__kind_json_hex = {.derive = derive,
                                          .derive_parts = derive_parts,
                                          .reads = reads,
                                          .shortest = shortest_escape,
                                          .print = print,
                                          .alphabet = alphabet,
                                          .meaning = meaning};
const tsl__kind_ops tsl__kind_json_part = {.derive = derive,
                                           .derive_parts = derive_parts,
                                           .reads = reads,
                                           .alike = alike,
                                           .shortest = shortest_part,
                                           .print = print,
                                           .alphabet = alphabet,
                                           .meaning = meaning};
