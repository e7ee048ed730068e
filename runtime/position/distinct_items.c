/* distinct_items.c - the tokens that complete a repeated item, or after which every text repeats an
 * item. See distinct_tokens.h.
 *
 * Problem   Each token of the plain mask could be tried: its bytes are read, and a search looks for
 *           a way on. The plain mask may have 100,000 tokens.
 * Idea      Only two kinds of tokens can fail. The first kind is accepted by a deny as well: such
 *           tokens are in the mask of the deny. Where the plain mask has few tokens, each is read
 *           by the deny instead. The second kind passes from one item into the next. Such a token
 *           holds a comma, and within a string a quote before it; the vocabulary has lists of them
 *           (boundary.h).
 * Fewer     Most of these candidates need no trial of their own:
 *           - A token whose commas are those of objects alone repeats no item, and leads somewhere.
 *           - One token is tried for each outline (`",` with any text before it). If any number of
 *             values may come after it (distinct_unbounded.c), they may come after the others. If
 *             it begins a string of any text, this also holds after some of that text.
 *           - For that, the item that the token ends is not compared with the used ones, unless few
 *             values may come next (tsl__run.drops_items).
 *           - Of tokens that differ in white space between values alone, one is tried.
 *           - Of denied tokens that begin alike, the longest is tried. If it leads somewhere, its
 *             beginnings do too.
 *           - Text that lengthens a string with any number of texts is not tried. Nor is the
 *             beginning of an escape there, or text in a name where all but a few names may come.
 *             Nor is a token that leaves more texts of a string or a number than were used.
 *           - If all tokens led to any number of values, none is tried again at the same frames,
 *             whichever items were read (tsl__key_unbounded, tsl__distinct_shape). How many
 *             characters a string has makes no difference to that, far from its limit (alike).
 *           A token that spells a whole item may repeat the item before it. So each of these is
 *           tried, unless the item is the empty string, which has one spelling.
 * Example   After ["a","b the deny of "a" is dead. The token `",` is tried: any number of strings
 *           may come next. So `x",` and `yz",` are not tried. The token `","a",` is: it is removed.
 * Cost      One trial where one outline decides; at worst a search for each candidate.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_tokens.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/fixed.h"
#include "runtime/kernels/logits.h"
#include "runtime/position/distinct_tokens.h"

/* frames that may be empty (white space) between an array's bracket and its first item */
#define AHEAD_MAX 4u
/* bytes that may come where a line break, or a space of an indentation, may: a closing bracket is
 * the other one */
#define INDENT_LIVE 2u

/* May an item begin here that must be new, in an array that nothing is known of yet? */
static bool item_ahead(tsl__space *space, tsl__state state, tsl__stack tail, uint32_t depth) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || depth == AHEAD_MAX) return false;
  for (uint32_t i = 0; i < r->edges; i++) {
    tsl__state then = tsl__target_state(tsl__state_edges(r)[i].push);
    if (then && ((tsl__state_at(space, then)->guarded & TSL__NEW_ITEM) ||
                 item_ahead(space, then, 0, depth + 1)))
      return true;
    if (!then && item_ahead(space, tsl__target_state(tsl__state_edges(r)[i].to), tail, depth + 1))
      return true;
  }
  const tsl__stack_rec *t =
      tail && (r->flags & TSL__STATE_NULLABLE) ? tsl__stack_at(space, tail) : NULL;
  for (uint32_t i = 0; t && i < t->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, t, i);
    if (item_ahead(space, c->state, c->tail, depth + 1)) return true;
  }
  return false;
}

static bool first_item_ahead(tsl__space *space, tsl__stack plain) {
  const tsl__stack_rec *r = tsl__stack_at(space, plain);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    if (item_ahead(space, c->state, c->tail, 0)) return true;
  }
  return false;
}

/* May a line break come, or a space, and hardly anything else? In indented text these lead to an
 * item. */
static bool indented(tsl__space *space, tsl__stack plain) {
  const tsl__stack_rec *at = tsl__stack_at(space, plain);
  for (uint32_t i = 0; i < at->n; i++) {
    const tsl__state_rec *r = tsl__state_expanded(space, tsl__stack_cell(space, at, i)->state);
    if (r && r->live_count <= INDENT_LIVE &&
        (tsl__bytes_has(&r->live, '\n') || tsl__bytes_has(&r->live, ' ')))
      return true;
  }
  return false;
}

/* Tokens that may pass from one item into the next. *ahead: nothing is known, but that an item may
 * begin here. */
static const tsl__passings *boundary(tsl__space *space, const tsl__distinct *m, tsl__stack plain,
                                     bool *ahead) {
  const tsl__boundary *c = tsl__boundary_known(space);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  bool array = o && o->array && !m->in_string;
  *ahead = !o && first_item_ahead(space, plain);
  if (*ahead || (!o && indented(space, plain))) return &c->first;
  if (!array && !(o && o->remembers)) return &c->whole;
  if (!o->array) return m->in_string ? &c->closed_quoted : &c->closed;
  return m->in_string ? &c->quoted : &c->comma;
}

/* Has nothing been read that white space would end? */
static bool between(const tsl__space *space, tsl__stack at) {
  const tsl__text *t = tsl__space_at(space, texts, tsl__with_distinct_at(space, at)->text);
  return !t->n || memchr("[{,: \t\n\r", t->at[t->n - 1], 8);
}

/* A bracket outside strings: of containers that began in the token, `within` are open, else those
 * from `open` on. */
static void pass_bracket(const tsl__space *space, uint8_t byte, uint32_t *open, uint32_t *within) {
  if (byte == '[' || byte == '{')
    ++*within;
  else if (*within)
    --*within;
  else if (*open)
    *open = tsl__open_at(space, *open)->below;
}

/* Does a token pass a comma, but for those of objects that are open already? `open`: the container
 * where it begins, 0: which one is not known. */
static bool passes_on(const tsl__space *space, uint32_t open, const uint8_t *at, const uint8_t *end,
                      bool in_string) {
  bool known = open;
  uint32_t within = 0;
  for (; at < end; at++) {
    if (*at == '"')
      in_string = !in_string;
    else if (in_string)
      at += *at == '\\';
    else if (memchr("[]{}", *at, 4))
      pass_bracket(space, *at, &open, &within);
    else if (*at == ',' && (within || !known || (open && tsl__open_at(space, open)->array)))
      return true;
  }
  return false;
}

/* Where the run is, nothing is under way yet but perhaps an opening quote. Are there any number of
 * values that may come? */
static bool others_come(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token) {
  if (r->in_string) return !tsl__run_watched(space, r);
  for (const char *b = "\"1"; *b && space->status == TSL_OK; b++)
    if (tsl__run_token(space, r, from, token) && tsl__run_byte(space, r, (uint8_t)*b) &&
        !tsl__run_watched(space, r))
      return true;
  return false;
}

#define OUTLINES_MAX 16u
#define TRIED_MAX 32u
#define LED_MAX 32u

/* A token without its white space, and whether it led somewhere. */
typedef struct tried {
  uint64_t hash;
  bool good;
} tried;

typedef struct trials {
  tsl__run *run;
  tsl__stack at;
  tsl__probed_mask *plain;
  tsl__tokens *gone;
  const tsl__distinct *distinct;
  tsl__stack frames; /* see `alike`; what is found out is kept there */
  uint32_t shape;    /* of the record, 0: not known */
  bool known;        /* the distinct record says where in the text this is */
  bool ahead;        /* it says nothing, but that an item may begin here: nothing is under way */
  bool begun;        /* white space would end what is under way */
  /* a string is under way that any text of raw ASCII characters leaves one of any number */
  bool endless;
  tsl__onward onward;
  bool unbounded; /* all that was tried led to where any number of values may come */
  tried tried[TRIED_MAX];
  uint32_t tried_count;
  uint32_t n;
  uint64_t fine[OUTLINES_MAX]; /* of tokens after which there are any number of values */
  uint64_t fine_kinds[TSL__PASSING_KINDS / 64]; /* so are tokens of these kinds (boundary.h) */
  /* and any text of a string that they begin, where it is of raw ASCII characters, leaves any
   * number */
  bool any[OUTLINES_MAX];
  /* that a deny takes: listed_as of it, in order once they are all there */
  TSL__VEC(uint32_t) listed;
  tsl_token led[LED_MAX]; /* of these, that led somewhere */
  uint32_t led_count;
} trials;

/* A number for the token's bytes without the white space between values, which means nothing.
 * Exceptions are one where it ends a number or a literal, and a line break, as in indented text an
 * array ends with one. 0: a long token. */
static uint64_t without_space(const trials *t, const uint8_t *at, const uint8_t *end) {
  uint8_t kept[32], n = 0;
  bool in_string = t->distinct->in_string, escaped = t->distinct->escaped, bare = t->begun;
  for (; at < end; at++) {
    bool blank = !in_string && memchr(" \t\n\r", *at, 4), line = blank && *at == '\n';
    if (blank && !bare && (!line || (n && kept[n - 1] == '\n'))) continue;
    if (n == sizeof kept) return 0;
    kept[n++] = line ? '\n' : blank ? ' ' : *at;
    bare = !in_string && tsl__is_bare(*at);
    if (*at == '"' && !escaped) in_string = !in_string;
    escaped = in_string && *at == '\\' && !escaped;
  }
  return tsl__hash(kept, n) | 1;
}

/* Read a token. An item that it ends is not kept, and the one after that is not compared. Where
 * items must be equal both are: whether the array may end depends on what the token ends. */
static bool read_dropping(tsl__space *space, trials *t, tsl_token token) {
  t->run->drops_items = !(space->positions.watches & TSL__SAME_ITEM);
  bool accepted = tsl__run_token(space, t->run, t->at, token);
  t->run->drops_items = false;
  return accepted;
}

/* After an open escape: may any number of values come if it goes on with this letter? */
static bool escapes_on(tsl__space *space, tsl__run *r, char letter) {
  return tsl__run_byte(space, r, (uint8_t)letter) &&
         ((!r->fresh && !tsl__run_watched(space, r)) ||
          (!tsl__run_seen(space, r) && tsl__run_unbounded(space, r)));
}

/* The run is in an item that is compared with nothing yet. May more strings come in an array than
 * values were used? The one that the token ended counts as used. In an object a string may be a
 * name: several names may belong to one value. */
static bool outnumbers(tsl__space *space, const trials *t, tsl__run *r) {
  if (!r->in_string && !r->escaped && !tsl__run_byte(space, r, '"')) return false;
  return !r->escaped && r->open && tsl__open_at(space, r->open)->array &&
         tsl__run_strings_on(space, r, tsl__used_in_all(space, t->distinct->open) + 1);
}

/* As `leads`, for a token that begins one item at most. *unbounded: after it any number of values
 * may come, or nothing need be new, whatever was read. */
static bool leads_dropping(tsl__space *space, trials *t, tsl_token token, bool *unbounded) {
  tsl__run *r = t->run;
  bool accepted = read_dropping(space, t, token);
  *unbounded = accepted && !tsl__run_seen(space, r) &&
               ((!r->fresh && !r->denies.n) || tsl__run_unbounded(space, r));
  if (!accepted || *unbounded) return accepted;
  bool escaped = r->escaped && (r->fresh || t->distinct->n);
  /* a line feed, as what was used has hardly one there, and few states read it; or any character */
  if (escaped &&
      (escapes_on(space, r, 'n') || (read_dropping(space, t, token) && escapes_on(space, r, 'u'))))
    return *unbounded = r->fresh, true;
  if (r->fresh) return outnumbers(space, t, r) || tsl__run_leads(space, r, t->at, token);
  /* else what comes is looked up in the run where it is: see `settled` */
  if (escaped && !read_dropping(space, t, token)) return false;
  return !tsl__run_watched(space, r) || tsl__run_alive(space, r);
}

/* Where the run is after a token: does that it leads somewhere not depend on the text read before?
 * It goes on within the item, which was known to repeat nothing. Or it goes on in a string, or in
 * an item, of which there are any number. */
static bool settled(tsl__space *space, const trials *t) {
  return (t->run->open == t->distinct->open && !t->run->denies.n) ||
         tsl__run_strings_on(space, t->run, TSL__ENDLESS) || tsl__run_unbounded(space, t->run);
}

/* As `leads`; once for tokens that differ in white space alone. `one`: it begins one item at
 * most. */
static bool leads_as_others(tsl__space *space, trials *t, tsl_token token, bool one) {
  const tsl_vocab *v = space->vocab;
  bool unbounded = false;
  uint64_t hash = !t->known && !t->ahead ? 0
                                         : without_space(t, v->bytes + v->offsets[token],
                                                         v->bytes + v->offsets[token + 1]);
  for (uint32_t i = 0; hash && i < t->tried_count; i++)
    if (t->tried[i].hash == hash) return t->tried[i].good;
  bool good = one ? leads_dropping(space, t, token, &unbounded)
                  : tsl__run_leads(space, t->run, t->at, token);
  /* the others are tried everywhere */
  t->unbounded = t->unbounded && (!one || (good && (unbounded || settled(space, t))));
  if (hash && t->tried_count < TRIED_MAX) t->tried[t->tried_count++] = (tried){hash, good};
  return good;
}

/* Is it text of raw ASCII characters alone? The last one may be an escape that is open. */
static bool is_raw(const uint8_t *at, const uint8_t *end) {
  while (at < end && tsl__is_raw(*at)) at++;
  return at == end || tsl__may_be_raw(at, (uint32_t)(end - at));
}

/* Is a string under way, no name, that text of raw ASCII characters leaves as it is? */
static bool takes_text(const tsl__space *space, const tsl__run *r) {
  for (size_t i = 0; r->in_string && !r->in_name && i < r->step.landed.n; i++)
    if (tsl__takes_any(space, r->step.landed.at[i].state)) return true;
  return false;
}

/* Is it known that after tokens of this outline there are any number of values? */
static bool is_fine(const trials *t, uint64_t made, const uint8_t *rest, const uint8_t *end) {
  for (uint32_t i = 0; made && i < t->n; i++)
    if (t->fine[i] == made && (rest == end || (t->any[i] && is_raw(rest, end)))) return true;
  return false;
}

/* Is there one comma in all, and no more than the beginning of a value after it? That must hold
 * whether the token begins in a string or not. What it ends is then compared with nothing in it. */
static bool one_comma(const uint8_t *at, const uint8_t *end) {
  const uint8_t *comma = memchr(at, ',', (size_t)(end - at));
  return comma && !memchr(comma + 1, ',', (size_t)(end - comma - 1)) &&
         tsl__begins_one(at, end, false) && tsl__begins_one(at, end, true);
}

/* The text of an item without what is around it: is it the empty string? That is spelled in one
 * way. */
static bool is_empty(const uint8_t *at, uint32_t n) {
  while (n && memchr(" \t\n\r", *at, 4)) at++, n--;
  while (n && memchr(" \t\n\r", at[n - 1], 4)) n--;
  return n == 2 && !memcmp(at, "\"\"", 2);
}

/* Was it used? */
static bool used_empty(const tsl__space *space, uint32_t used) {
  for (const tsl__used *u; used; used = u->next) {
    u = tsl__space_at(space, used, used);
    for (uint32_t i = 0; i < u->count; i++)
      if (is_empty(u->texts[i].at, u->texts[i].n)) return true;
  }
  return false;
}

/* Does a token end the string that is an array's item? Is the empty one, which is new, all that it
 * then spells but perhaps a quote? And may any number of values come after that? */
static bool passes_empty(tsl__space *space, trials *t, tsl_token token) {
  static const char begin[] = "\",\"\",";
  const tsl_vocab *v = space->vocab;
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1],
                *quote = memchr(at, '"', (size_t)(end - at));
  const tsl__open *o = t->distinct->open ? tsl__open_at(space, t->distinct->open) : NULL;
  bool unbounded, array = o && o->array && o->start != TSL__OPEN_NONE && t->distinct->in_string &&
                          !t->distinct->escaped;
  uint32_t shape = 0;
  if (!array || !quote || memchr(at, '\\', (size_t)(quote - at)) || end - quote < 5 ||
      memcmp(quote, begin, 5) || end - quote > 6 || (end - quote == 6 && quote[5] != '"'))
    return false;
  uint32_t spelled =
      ((const tsl__text *)tsl__space_at(space, texts, tsl__with_distinct_at(space, t->at)->text))
          ->total -
      o->start;
  if ((quote == at && spelled <= 1) || used_empty(space, o->used)) return false;
  bool noted = tsl__move_find(space, t->frames, tsl__key_passes(token), &shape);
  if (noted && shape == t->shape) return true;
  if (!leads_dropping(space, t, token, &unbounded) || !unbounded) return false;
  if (!noted && t->shape) tsl__move_add(space, t->frames, tsl__key_passes(token), t->shape);
  return true;
}

static bool kind_is_fine(const trials *t, uint32_t kind) {
  return t->fine_kinds[kind / 64] >> kind % 64 & 1;
}
static void set_kind_fine(trials *t, uint32_t kind) {
  t->fine_kinds[kind / 64] |= (uint64_t)(kind != 0) << kind % 64;
}

/* Does a token that no deny takes lead somewhere? */
static bool leads_somewhere(tsl__space *space, trials *t, tsl_token token, uint32_t kind) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1], *rest;
  bool one = tsl__begins_one(at, end, t->distinct->in_string), unbounded;
  if (!t->known && one_comma(at, end)) return leads_as_others(space, t, token, true);
  if (t->known && !one && passes_empty(space, t, token)) return true;
  /* the text decides whether an item in it is a repetition */
  if (t->distinct->escaped || !t->known || !one) return leads_as_others(space, t, token, false);
  if (!passes_on(space, t->distinct->open, at, end, t->distinct->in_string)) return true;
  uint64_t made = tsl__outline(at, end, t->distinct->in_string, &rest);
  if (is_fine(t, made, rest, end)) return set_kind_fine(t, kind), true;
  if (!made || rest < end || t->n == OUTLINES_MAX || (made & 0xFF) == ':')
    return leads_as_others(space, t, token, true);
  bool good = leads_dropping(space, t, token, &unbounded);
  t->unbounded = t->unbounded && unbounded;
  t->any[t->n] = unbounded && takes_text(space, t->run);
  if (unbounded || (good && others_come(space, t->run, t->at, token))) t->fine[t->n++] = made;
  return good;
}

static void take_out(tsl__space *space, trials *t, tsl_token token) {
  if (!tsl__vec_push(&space->alloc, t->gone, token)) tsl__space_no_memory(space);
}

/* Tokens that a deny accepts, long ones first. If a token leads somewhere, so do its beginnings:
 * the rest of the token is a text after them. Tokens with white space come last, short ones first:
 * they mostly differ from others in white space alone, so any of them will do. */
#define LISTED_LENGTH 511u /* longer ones are as long: the order is of no importance */
#define LISTED_TOKEN (TSL_MAX_VOCAB - 1)

static uint32_t listed_as(const tsl_vocab *v, tsl_token token) {
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  uint32_t length = (uint32_t)(end - at), spaced = 0;
  for (; at < end && !spaced; at++) spaced = memchr(" \t\n\r", *at, 4) != NULL;
  if (length > LISTED_LENGTH) length = LISTED_LENGTH;
  return (spaced ? LISTED_LENGTH + 1 + length : LISTED_LENGTH - length) * TSL_MAX_VOCAB + token;
}

/* A token that a deny takes. */
static void list_denied(tsl__space *space, trials *t, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  if (!t->distinct->in_string && !t->begun &&
      tsl__mask_bit(tsl__boundary_known(space)->space, token))
    return;
  if (!tsl__probed_has(space, t->plain, token) || tsl_vocab_is_eog(v, token) ||
      (t->endless && is_raw(at, end)) || tsl__run_lengthens(space, t->run, &t->onward, at, end))
    return;
  if (!tsl__vec_push(&space->alloc, &t->listed, listed_as(v, token))) tsl__space_no_memory(space);
}

/* Does one that led somewhere begin with the token? */
static bool begins_led(const tsl_vocab *v, const trials *t, tsl_token token) {
  const uint8_t *at = v->bytes + v->offsets[token];
  uint32_t n = v->offsets[token + 1] - v->offsets[token];
  for (uint32_t i = t->led_count; i-- > 0;) {
    uint32_t begin = v->offsets[t->led[i]];
    if (v->offsets[t->led[i] + 1] - begin >= n && !memcmp(v->bytes + begin, at, n)) return true;
  }
  return false;
}

static void try_listed(tsl__space *space, trials *t) {
  const tsl_vocab *v = space->vocab;
  for (size_t i = 0; i < t->listed.n && space->status == TSL_OK; i++) {
    tsl_token token = t->listed.at[i] & LISTED_TOKEN;
    if (begins_led(v, t, token)) continue;
    bool one = !t->distinct->escaped &&
               tsl__begins_one(v->bytes + v->offsets[token], v->bytes + v->offsets[token + 1],
                               t->distinct->in_string);
    if (!leads_as_others(space, t, token, one))
      take_out(space, t, token);
    else if (t->led_count < LED_MAX)
      t->led[t->led_count++] = token;
  }
}

#define WORDS 16u /* of a mask looked at together: most hold nothing */

/* White space alone, where it means nothing; else NULL. */
static const uint32_t *idle_space(const tsl__space *space, const trials *t) {
  return !t->distinct->in_string && !t->begun ? tsl__boundary_known(space)->space : NULL;
}

/* List the tokens of some words of a mask. */
static void list_words(tsl__space *space, trials *t, const uint32_t *bits, size_t from, size_t to) {
  for (size_t w = from; w < to; w++)
    for (uint32_t some = bits[w]; some && space->status == TSL_OK; some &= some - 1)
      list_denied(space, t, (tsl_token)(w * 32 + (unsigned)__builtin_ctz(some)));
}

/* Is there anything in WORDS words? And anything but others? */
static bool has_any(const uint32_t *bits) {
  uint32_t any = 0;
  TSL__AT_ONCE_INTO(|, any)
  for (size_t w = 0; w < WORDS; w++) any |= bits[w];
  return any;
}

static bool has_more(const uint32_t *bits, const uint32_t *others) {
  uint32_t any = 0;
  TSL__AT_ONCE_INTO(|, any)
  for (size_t w = 0; w < WORDS; w++) any |= bits[w] & ~others[w];
  return any;
}

static void list_mask(tsl__space *space, trials *t, tsl__stack deny) {
  tsl__space *spelled = tsl__deny_enter(space);
  tsl__mask denied = spelled ? tsl__stack_mask(spelled, deny) : 0;
  tsl__deny_leave(space);
  if (space->status != TSL_OK) return;
  const tsl__mask_rec *r = tsl__mask_at(spelled, denied);
  if (!r->base_count) {
    tsl_token some[TSL__JOINED_MAX];
    tsl__patches_read(tsl__mask_plus(r), some);
    for (uint32_t i = 0; i < r->plus_count && space->status == TSL_OK; i++)
      list_denied(space, t, some[i]);
    return;
  }
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = tsl__alloc(&space->alloc, words * sizeof *bits);
  if (!bits || !tsl__probed_write(space, t->plain)) {
    tsl__free(&space->alloc, bits, words * sizeof *bits);
    tsl__space_no_memory(space);
    return;
  }
  tsl__mask_write(spelled, r, bits);
  tsl__mask_and(bits, t->plain->bits, words);
  if (idle_space(space, t)) tsl__mask_andnot(bits, idle_space(space, t), words);
  for (size_t from = 0, to; from < words; from = to) {
    to = words - from < WORDS ? words : from + WORDS;
    if (words - from < WORDS || has_any(bits + from)) list_words(space, t, bits, from, to);
  }
  tsl__free(&space->alloc, bits, words * sizeof *bits);
}

#define FEW 64u /* tokens that are spelled to a deny one by one rather than that its mask is made */

/* List a token that may be in the plain mask, if a deny accepts its bytes. */
static void list_spelled(tsl__space *space, trials *t, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  tsl__stepping *s = &t->run->deny;
  size_t n = v->special[token] ? 0 : v->offsets[token + 1] - v->offsets[token];
  bool takes = false;
  for (uint32_t i = 0; n && i < t->distinct->n && !takes; i++)
    takes = tsl__deny_takes(space, s, t->distinct->denies[i].at, v->bytes + v->offsets[token], n);
  if (takes) list_denied(space, t, token);
}

/* The tokens of the plain mask that mean something here; false: there are more than FEW. */
static bool few_plain(tsl__space *space, trials *t, tsl_token *few, uint32_t *n) {
  const tsl__mask_rec *r = tsl__mask_at(space, t->plain->mask);
  const uint32_t *spaces = idle_space(space, t);
  size_t words = tsl_vocab_mask_words(space->vocab);
  *n = 0;
  if (!r->base_count && r->plus_count <= FEW)
    return tsl__patches_read(tsl__mask_plus(r), few), *n = r->plus_count, true;
  if (!spaces || !tsl__probed_write(space, t->plain)) return false;
  const uint32_t *bits = t->plain->bits;
  for (size_t from = 0, to; from < words; from = to) {
    to = words - from < WORDS ? words : from + WORDS;
    for (size_t w = words - from < WORDS || has_more(bits + from, spaces + from) ? from : to;
         w < to; w++)
      for (uint32_t some = bits[w] & ~spaces[w]; some; some &= some - 1) {
        if (*n == FEW) return false;
        few[(*n)++] = (tsl_token)(w * 32 + (unsigned)__builtin_ctz(some));
      }
  }
  return true;
}

static void list_all_denied(tsl__space *space, trials *t) {
  tsl_token few[FEW];
  uint32_t n = 0;
  if (t->distinct->n && few_plain(space, t, few, &n)) {
    for (uint32_t i = 0; i < n && space->status == TSL_OK; i++) list_spelled(space, t, few[i]);
  } else {
    for (uint32_t i = 0; i < t->distinct->n && space->status == TSL_OK; i++)
      list_mask(space, t, t->distinct->denies[i].at);
  }
  if (t->listed.n) t->listed.n = tsl__sort_unique(t->listed.at, t->listed.n);
}

/* Was it listed? */
static bool denied(const tsl__space *space, const trials *t, tsl_token token) {
  uint32_t key = t->listed.n ? listed_as(space->vocab, token) : 0;
  size_t lo = 0, hi = t->listed.n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (t->listed.at[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < t->listed.n && t->listed.at[lo] == key;
}

/* Does a token that begins within a string end there too? */
static bool stays(const tsl__space *space, tsl_token token) {
  return tsl__mask_bit(tsl__boundary_known(space)->unstructured_quoted, token);
}

/* Is it a token of the plain mask that means something here? */
static bool needs_trial(tsl__space *space, const trials *t, tsl_token token) {
  return tsl__probed_has(space, t->plain, token) &&
         !(t->distinct->in_string && stays(space, token)) && !tsl_vocab_is_eog(space->vocab, token);
}

static void try_boundary(tsl__space *space, trials *t, const tsl__passings *list) {
  /* where there is no memory for it each is looked up */
  if (list->n > TSL__PROBED_MANY) (void)tsl__probed_write(space, t->plain);
  for (size_t i = 0; i < list->n && space->status == TSL_OK; i++) {
    tsl_token token = list->at[i].token;
    if (kind_is_fine(t, list->at[i].kind) || !needs_trial(space, t, token) ||
        denied(space, t, token))
      continue;
    if (!leads_somewhere(space, t, token, list->at[i].kind)) take_out(space, t, token);
  }
}

/* Items may have to be repeated before their array may end. A token may end one that is new, and
 * the array with it, or lead to nothing but its end. */
static void try_ends(tsl__space *space, trials *t) {
  const tsl__boundary *c = tsl__boundary_known(space);
  const tsl__tokens *list = t->distinct->in_string ? &c->ends_quoted : &c->ends;
  if (!(space->positions.watches & TSL__SAME_ITEM) || !t->known || !t->distinct->open ||
      !tsl__open_at(space, t->distinct->open)->remembers)
    return;
  for (size_t i = 0; i < list->n && space->status == TSL_OK; i++) {
    tsl_token token = list->at[i];
    if (needs_trial(space, t, token) && !leads_as_others(space, t, token, false))
      take_out(space, t, token);
  }
}

/* Can texts of raw ASCII characters go on in any way, or in any but to what a few names are? That
 * may be in this frame, or one that it calls, or that those call. */
static bool spells_any(tsl__space *space, tsl__state state, unsigned calls) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  uint32_t count;
  if (r && (tsl__is_others(r) || tsl__takes_any(space, state))) return true;
  for (uint32_t k = 0; r && calls && k < r->edges; k++)
    if (spells_any(space, tsl__target_resolve(space, tsl__state_edges(r)[k].to, 0, &count),
                   calls - 1))
      return true;
  return false;
}

/* Is such a string under way, and no name that must be new? */
static bool is_endless(tsl__space *space, const tsl__distinct *m, tsl__stack plain) {
  const tsl__stack_rec *r = tsl__stack_at(space, plain);
  if (!m->in_string || m->escaped ||
      (!tsl__open_at(space, m->open)->array && tsl__open_at(space, m->open)->used))
    return false;
  for (uint32_t i = 0; i < r->n; i++)
    if (spells_any(space, tsl__stack_cell(space, r, i)->state, 2)) return true;
  return false;
}

/* The frames, with the least register that makes no difference to tokens which end the string under
 * way. It makes none above the loop's minimum, if the maximum is out of reach for these tokens. */
static tsl__stack alike(tsl__space *space, tsl__run *r, tsl__stack plain) {
  uint32_t reach = tsl__boundary_known(space)->reach;
  if (!tsl__step_load(space, &r->step, plain)) return plain;
  for (size_t i = 0; i < r->step.landed.n; i++) {
    tsl__cell *c = &r->step.landed.at[i];
    const tsl__state_rec *s = tsl__state_at(space, c->state);
    bool far = s->flags & TSL__STATE_LOOP && c->count > s->loop_min &&
               s->loop_max != TSL__COUNT_INF && s->loop_max - c->count >= reach;
    if (far) c->count = s->loop_min;
  }
  return tsl__step_collect(space, &r->step);
}

void tsl__narrow_items(tsl__space *space, tsl__run *r, tsl__stack at, tsl__probed_mask *plain,
                       tsl__tokens *gone) {
  const tsl__with_distinct *p = tsl__with_distinct_at(space, at);
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  const tsl__boundary *c = tsl__boundary_known(space);
  bool ahead;
  const tsl__passings *list = boundary(space, m, p->distinct ? p->plain : at, &ahead);
  if (!list->n && !m->n) return;
  trials t = {.run = r,
              .at = at,
              .plain = plain,
              .gone = gone,
              .distinct = m,
              .known = p->distinct,
              .ahead = ahead};
  tsl__stack found = 0;
  /* else each is tried with the items that were read */
  bool known = !(space->positions.watches & TSL__SAME_ITEM);
  uint32_t shape =
      known && p->distinct && list != &c->whole ? tsl__distinct_shape(space, p->distinct) : 0;
  t.shape = shape;
  t.frames = shape && m->in_string ? alike(space, r, p->plain) : p->plain;
  bool unbounded = shape && tsl__move_find(space, t.frames, tsl__key_unbounded(shape), &found);
  t.begun = !between(space, at);
  t.endless = m->n && is_endless(space, m, p->plain);
  if (m->n && known) t.onward = tsl__run_onward(space, at);
  list_all_denied(space, &t);
  try_listed(space, &t);
  t.unbounded = shape && !m->n && !m->escaped;
  if (unbounded) list = m->in_string ? &c->several_quoted : &c->several;
  try_boundary(space, &t, list);
  try_ends(space, &t);
  tsl__vec_free(&space->alloc, &t.listed);
  /* whichever items were read */
  if (t.unbounded && !unbounded && space->status == TSL_OK)
    tsl__move_add(space, t.frames, tsl__key_unbounded(shape), 1);
}
