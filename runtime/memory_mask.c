/* memory_mask.c - the mask of a position with a memory: the plain one less the tokens that lead nowhere.
 *
 * Items     Candidates are the tokens that some deny takes too (its own mask tells) and those that pass the end of one item and enter the next: they must hold a comma, and in
 *           a string a quote before it: the vocabulary has them as lists. Each candidate is tried, but:
 *             - the others repeat nothing that is under way. Those whose commas are none of an array's lead somewhere; of the rest one of each outline (`",` with any text before
 *               it) is tried: if any number of values may come after it (memory_plenty.c), so they may after the others;
 *             - for that nothing need be compared: what such a token ends is not put to what was used, unless few values may come next;
 *             - of those that differ in white space between values alone, one is;
 *             - of those that a deny takes and that begin alike the longest is, if it leads somewhere: so then do the others;
 *             - text that lengthens a string of which there are any number is not, the beginning of an escape with it;
 *             - where all led to any number of values, none is at the same frames, whichever items were read (TSL__MOVE_PLENTY, tsl__memory_shape);
 *           but those that spell a whole item, which may repeat what was read just before, are tried each.
 * Names     In the middle of a name the vocabulary's trie and the names used are gone down together: a token that ends in between may lead nowhere only where names
 *           are constrained; an escape is read once it is known which character it is, unless that may matter before; where a name that was used is closed, the whole subtree goes. After a comma the same begins at the few nodes of the trie that are white space and a
 *           quote. Tokens that hold a comma and a whole string after it are tried (most vocabularies have none), and where the schema constrains names also those with a
 *           beginning of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/memory_run.h"

#include "runtime/fixed.h"

static bool holds_name(const uint8_t *at, const uint8_t *end);
static const uint8_t *past_space(const uint8_t *at, const uint8_t *end);

/* Does the token lead somewhere? */
static bool leads(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token) {
  if (!tsl__run_token(space, r, from, token)) return false;
  return !tsl__run_watched(space, r) || tsl__run_alive(space, r);
}

/* The plain mask, of which many tokens are asked. */
typedef struct plain_mask {
  tsl__mask mask;
  uint32_t *bits; /* written out; NULL: it was not worth it yet */
} plain_mask;

#define MANY 64u /* tokens from which that is worth it */

static bool write_out(tsl__space *space, plain_mask *m) {
  if (m->bits) return true;
  m->bits = tsl__alloc(&space->alloc, tsl_vocab_mask_words(space->vocab) * sizeof *m->bits);
  if (m->bits) tsl__mask_write(space, m->mask, m->bits);
  return m->bits;
}

/* Is the token in it? It is one of `n`. */
static inline bool may_come(tsl__space *space, plain_mask *m, tsl_token t, size_t n) {
  return m->bits || (n >= MANY && write_out(space, m)) ? tsl__mask_bit(m->bits, t) : tsl__mask_has(space, m->mask, t);
}

#define AHEAD_MAX 4u /* frames that may be empty (white space) between an array's bracket and its first item */

/* May an item begin here that must be new, in an array that nothing is known of yet? */
static bool item_ahead(tsl__space *space, tsl__state state, tsl__stack tail, uint32_t depth) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || depth == AHEAD_MAX) return false;
  for (uint32_t i = 0; i < r->edges; i++) {
    tsl__state then = tsl__target_state(tsl__state_edges(r)[i].push);
    if (then && ((tsl__state_at(space, then)->guarded & TSL__NEW_ITEM) || item_ahead(space, then, 0, depth + 1))) return true;
    if (!then && item_ahead(space, tsl__target_state(tsl__state_edges(r)[i].to), tail, depth + 1)) return true;
  }
  const tsl__stack_rec *t = tail && (r->flags & TSL__STATE_NULLABLE) ? tsl__stack_at(space, tail) : NULL;
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

/* Tokens that may pass from one item into the next. */
static const tsl__tokens *crossing(tsl__space *space, const tsl__memory *m, tsl__stack plain) {
  const tsl__crossing *c = tsl__crossing_known(space);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  bool array = o && o->array && !m->in_string;
  if (!o && first_item_ahead(space, plain)) return &c->comma;
  if (!array && !(o && o->remembers)) return &c->whole;
  if (!o->array) return m->in_string ? &c->closed_quoted : &c->closed;
  return m->in_string ? &c->quoted : &c->comma;
}

/* ---- items -------------------------------------------------------------------------------------------------------- */

/* Has nothing been read that white space would end? */
static bool between(const tsl__space *space, tsl__stack at) {
  const tsl__text *t = tsl__space_at(space, texts, tsl__remembered_at(space, at)->text);
  return !t->n || memchr("[{,: \t\n\r", t->at[t->n - 1], 8);
}

/* May the byte be in a number or a literal? */
static bool is_bare(uint8_t b) { return (b >= '0' && b <= '9') || ((b | 0x20) >= 'a' && (b | 0x20) <= 'z') || b == '-' || b == '+' || b == '.'; }

/* Does a token spell the beginning of one item at most after its first comma between values? */
static bool begins_one(const uint8_t *at, const uint8_t *end, bool in_string) {
  for (; at < end && (in_string || *at != ','); at++) {
    if (in_string && *at == '\\') at++;
    else if (*at == '"') in_string = !in_string;
  }
  if (at >= end) return true;
  for (at++; at < end && memchr(" \t\n\r[{", *at, 6); at++) {
  }
  if (at < end && *at == '"') return !memchr(at + 1, '"', (size_t)(end - at - 1));
  for (; at < end; at++)
    if (memchr("[]{},:\"", *at, 7)) return false;
  return true;
}

/* What a token does to the structure of the text, its content left out: 0 where more of what comes next is in it, or too much. */
static uint64_t outline(const uint8_t *at, const uint8_t *end, bool in_string) {
  uint64_t made = 0;
  for (; at < end; at++) {
    bool structural = *at == '"' || (!in_string && memchr("[]{},:", *at, 6));
    if (in_string && *at == '\\') return 0;
    if (!structural && made && (in_string || !memchr(" \t\n\r", *at, 4))) return 0;
    if (!structural) continue;
    if (made >> 56) return 0;
    made = made << 8 | *at;
    in_string ^= *at == '"';
  }
  return made;
}

/* A bracket outside strings: of containers that began in the token, `within` are open, else those from `open` on. */
static void pass_bracket(const tsl__space *space, uint8_t byte, uint32_t *open, uint32_t *within) {
  if (byte == '[' || byte == '{') ++*within;
  else if (*within) --*within;
  else if (*open) *open = tsl__open_at(space, *open)->below;
}

/* Does a token pass a comma, but for those of objects that are open already? `open`: the container where it begins, 0: which one is not known. */
static bool passes_on(const tsl__space *space, uint32_t open, const uint8_t *at, const uint8_t *end, bool in_string) {
  bool known = open;
  uint32_t within = 0;
  for (; at < end; at++) {
    if (*at == '"') in_string = !in_string;
    else if (in_string) at += *at == '\\';
    else if (memchr("[]{}", *at, 4)) pass_bracket(space, *at, &open, &within);
    else if (*at == ',' && (within || !known || (open && tsl__open_at(space, open)->array))) return true;
  }
  return false;
}

/* Where the run is, nothing is under way yet but perhaps an opening quote. Are there any number of values that may come? */
static bool others_come(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token) {
  if (r->in_string) return !tsl__run_watched(space, r);
  for (const char *b = "\"1"; *b && space->status == TSL_OK; b++)
    if (tsl__run_token(space, r, from, token) && tsl__run_byte(space, r, (uint8_t)*b) && !tsl__run_watched(space, r)) return true;
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
  plain_mask *plain;
  tsl__tokens *gone;
  const tsl__memory *memory;
  bool known;          /* the memory tells where in the text this is */
  bool begun;          /* white space would end what is under way */
  bool endless;        /* a string is under way that any text of raw ASCII characters leaves one of any number */
  bool plenty;         /* all that was tried led to where any number of values may come */
  tried tried[TRIED_MAX];
  uint32_t tried_count;
  uint32_t n;
  uint64_t fine[OUTLINES_MAX]; /* of tokens after which there are any number of values */
  TSL__VEC(uint32_t) listed;   /* that a deny takes: listed_as of it */
  tsl_token led[LED_MAX];      /* of these, that led somewhere */
  uint32_t led_count;
} trials;

/* A number for the token's bytes without the white space between values, which means nothing: but for one where it ends a number or a literal. 0: a long token. */
static uint64_t without_space(const trials *t, const uint8_t *at, const uint8_t *end) {
  uint8_t kept[32], n = 0;
  bool in_string = t->memory->in_string, escaped = t->memory->escaped, bare = t->begun;
  for (; at < end; at++) {
    bool space = !in_string && memchr(" \t\n\r", *at, 4);
    if (space && !bare) continue;
    if (n == sizeof kept) return 0;
    kept[n++] = space ? ' ' : *at;
    bare = !in_string && is_bare(*at);
    if (*at == '"' && !escaped) in_string = !in_string;
    escaped = in_string && *at == '\\' && !escaped;
  }
  return tsl__hash(kept, n) | 1;
}

/* After an open escape: may any number of values come if a line feed is what is escaped? What was used has hardly one there, and few states read it. */
static bool feeds_line(tsl__space *space, tsl__run *r) {
  return tsl__run_byte(space, r, 'n') && (!tsl__run_watched(space, r) || (!tsl__run_taken(space, r) && tsl__run_plenty(space, r)));
}

/* As `leads`, for a token that begins one item at most. *plenty: after it any number of values may come, or nothing need be new, whatever was read. */
static bool leads_briefly(tsl__space *space, trials *t, tsl_token token, bool *plenty) {
  tsl__run *r = t->run;
  r->brief = true;
  bool accepted = tsl__run_token(space, r, t->at, token);
  r->brief = false;
  *plenty = accepted && !tsl__run_taken(space, r) && ((!r->fresh && !r->denies.n) || tsl__run_plenty(space, r));
  if (!accepted || *plenty) return accepted;
  if (r->fresh) return leads(space, r, t->at, token);
  bool escaped = t->memory->n && r->escaped; /* else what comes is asked of the run where it is: see `settled` */
  if (escaped && feeds_line(space, r)) return true;
  if (escaped && !tsl__run_token(space, r, t->at, token)) return false;
  return !tsl__run_watched(space, r) || tsl__run_alive(space, r);
}

/* Where the run is after a token: does that it leads somewhere not depend on the text read before? It goes on within the item, which was known to repeat nothing, or in a string of
 * which there are any number, or in an item of which there are. */
static bool settled(tsl__space *space, const trials *t) {
  return (t->run->open == t->memory->open && !t->run->denies.n) || tsl__run_strings_on(space, t->run) || tsl__run_plenty(space, t->run);
}

/* As `leads`; asked once of tokens that differ in white space alone. `one`: it begins one item at most. */
static bool leads_as_others(tsl__space *space, trials *t, tsl_token token, bool one) {
  const tsl_vocab *v = space->vocab;
  bool plenty = false;
  uint64_t hash = !t->known ? 0 : without_space(t, v->bytes + v->offsets[token], v->bytes + v->offsets[token + 1]);
  for (uint32_t i = 0; hash && i < t->tried_count; i++)
    if (t->tried[i].hash == hash) return t->tried[i].good;
  bool good = one && t->known ? leads_briefly(space, t, token, &plenty) : leads(space, t->run, t->at, token);
  t->plenty = t->plenty && (!one || (good && (plenty || settled(space, t)))); /* the others are tried everywhere */
  if (hash && t->tried_count < TRIED_MAX) t->tried[t->tried_count++] = (tried){hash, good};
  return good;
}

/* Does a token that no deny takes lead somewhere? */
static bool leads_somewhere(tsl__space *space, trials *t, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  bool one = begins_one(at, end, t->memory->in_string), plenty;
  if (t->memory->escaped || !t->known || !one) return leads_as_others(space, t, token, false); /* whether an item in it is a repetition, the text tells */
  if (!passes_on(space, t->memory->open, at, end, t->memory->in_string)) return true;
  uint64_t made = outline(at, end, t->memory->in_string);
  for (uint32_t i = 0; made && i < t->n; i++)
    if (t->fine[i] == made) return true;
  if (!made || t->n == OUTLINES_MAX || (made & 0xFF) == ':') return leads_as_others(space, t, token, true);
  bool good = leads_briefly(space, t, token, &plenty);
  t->plenty = t->plenty && plenty;
  if (plenty || (good && others_come(space, t->run, t->at, token))) t->fine[t->n++] = made;
  return good;
}

static void take_out(tsl__space *space, trials *t, tsl_token token) {
  if (!tsl__vec_push(&space->alloc, t->gone, token)) tsl__space_no_memory(space);
}

static bool is_raw(uint8_t byte) { return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\'; }

/* May an open escape still become a raw ASCII character? */
static bool may_be_raw(const uint8_t *open, uint32_t count) {
  static const char begin[] = "\\u00";
  return count < 6 && !memcmp(open, begin, count < 4 ? count : 4) && (count < 5 || (open[4] >= '2' && open[4] <= '7'));
}

/* Does the token lengthen a string, raw ASCII characters alone? The last one may be an escape that is open. */
static bool lengthens(const tsl__space *space, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  uint32_t i = v->offsets[token], end = v->offsets[token + 1];
  while (i < end && is_raw(v->bytes[i])) i++;
  return i == end || may_be_raw(v->bytes + i, end - i);
}

/* Those that a deny takes, long ones first: a text that ends well after one is such a text after all that it begins with, so where one leads somewhere they do. Those with white
 * space come last, which mostly differ from others in that alone, and the short ones first: any will do. */
#define LISTED_LENGTH 511u /* longer ones are as long: the order is of no importance */
#define LISTED_TOKEN (TSL_MAX_VOCAB - 1)

static uint32_t listed_as(const tsl_vocab *v, tsl_token token) {
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  uint32_t length = (uint32_t)(end - at), spaced = 0;
  for (; at < end && !spaced; at++) spaced = memchr(" \t\n\r", *at, 4) != NULL;
  if (length > LISTED_LENGTH) length = LISTED_LENGTH;
  return (spaced ? LISTED_LENGTH + 1 + length : LISTED_LENGTH - length) * TSL_MAX_VOCAB + token;
}

/* A token that a deny takes, as it does `n`. */
static void list_denied(tsl__space *space, trials *t, tsl_token token, size_t n) {
  const tsl_vocab *v = space->vocab;
  if (!t->memory->in_string && !t->begun && tsl__mask_bit(tsl__crossing_known(space)->space, token)) return;
  if (!may_come(space, t->plain, token, n) || tsl_vocab_is_eog(v, token) || (t->endless && lengthens(space, token))) return;
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
  size_t n = tsl__sort_unique(t->listed.at, t->listed.n);
  for (size_t i = 0; i < n && space->status == TSL_OK; i++) {
    tsl_token token = t->listed.at[i] & LISTED_TOKEN;
    if (begins_led(v, t, token)) continue;
    bool one = !t->memory->escaped && begins_one(v->bytes + v->offsets[token], v->bytes + v->offsets[token + 1], t->memory->in_string);
    if (!leads_as_others(space, t, token, one)) take_out(space, t, token);
    else if (t->led_count < LED_MAX) t->led[t->led_count++] = token;
  }
}

#define WORDS 16u /* of a mask looked at together: most hold nothing */

/* Those of these words. */
static void list_words(tsl__space *space, trials *t, const uint32_t *bits, size_t from, size_t to) {
  for (size_t w = from; w < to; w++)
    for (uint32_t some = bits[w]; some && space->status == TSL_OK; some &= some - 1) list_denied(space, t, (tsl_token)(w * 32 + (unsigned)__builtin_ctz(some)), MANY);
}

static void list_mask(tsl__space *space, trials *t, tsl__mask denied) {
  const tsl__mask_rec *r = tsl__mask_at(space, denied);
  if (!r->base_count) {
    tsl_token some[TSL__JOINED_MAX];
    tsl__patches_read(tsl__mask_plus(r), some);
    for (uint32_t i = 0; i < r->plus_count && space->status == TSL_OK; i++) list_denied(space, t, some[i], r->plus_count);
    return;
  }
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = tsl__alloc(&space->alloc, words * sizeof *bits);
  if (!bits || !write_out(space, t->plain)) {
    tsl__free(&space->alloc, bits, words * sizeof *bits);
    tsl__space_no_memory(space);
    return;
  }
  tsl__mask_write(space, denied, bits);
  const uint32_t *may = t->plain->bits;
  for (size_t from = 0, to; from < words; from = to) {
    uint32_t any = 0;
    to = words - from < WORDS ? words : from + WORDS;
    for (size_t w = from; w < to; w++) any |= bits[w] &= may[w];
    if (any) list_words(space, t, bits, from, to);
  }
  tsl__free(&space->alloc, bits, words * sizeof *bits);
}

static bool denied(tsl__space *space, const tsl__memory *m, tsl_token token) {
  for (uint32_t i = 0; i < m->n; i++)
    if (tsl__mask_has(space, tsl__stack_mask(space, m->denies[i].at), token)) return true;
  return false;
}

/* Does a token that begins within a string end there too? */
static bool stays(const tsl__space *space, tsl_token token) { return tsl__mask_bit(tsl__crossing_known(space)->dull_quoted, token); }

static void try_crossing(tsl__space *space, trials *t, const tsl__tokens *list) {
  for (size_t i = 0; i < list->n && space->status == TSL_OK; i++) {
    tsl_token token = list->at[i];
    if (!may_come(space, t->plain, token, list->n) || (t->memory->in_string && stays(space, token)) || tsl_vocab_is_eog(space->vocab, token) || denied(space, t->memory, token)) continue;
    if (!leads_somewhere(space, t, token)) take_out(space, t, token);
  }
}

/* Does every raw ASCII character lead from the state to itself? Then texts of such characters can go on in any way. */
static bool takes_any(const tsl__space *space, tsl__state state) {
  static const tsl__bytes raw = {{0xFFFFFFFB00000000u, 0x7FFFFFFFEFFFFFFFu, 0, 0}};
  const tsl__bytes *self = tsl__state_at(space, state)->self;
  return (self->w[0] & raw.w[0]) == raw.w[0] && (self->w[1] & raw.w[1]) == raw.w[1];
}

/* Is a string under way, no name, that may go on in any way? */
static bool is_endless(const tsl__space *space, const tsl__memory *m, tsl__stack plain) {
  const tsl__stack_rec *r = tsl__stack_at(space, plain);
  if (!m->in_string || m->escaped || (!tsl__open_at(space, m->open)->array && tsl__open_at(space, m->open)->used)) return false;
  for (uint32_t i = 0; i < r->n; i++)
    if (takes_any(space, tsl__stack_cell(space, r, i)->state)) return true;
  return false;
}

static void narrow_items(tsl__space *space, tsl__run *r, tsl__stack at, plain_mask *plain, tsl__tokens *gone) {
  const tsl__remembered *p = tsl__remembered_at(space, at);
  const tsl__memory *m = tsl__memory_at(space, p->memory);
  const tsl__crossing *c = tsl__crossing_known(space);
  const tsl__tokens *list = crossing(space, m, p->memory ? p->plain : at);
  if (!list->n && !m->n) return;
  trials t = {.run = r, .at = at, .plain = plain, .gone = gone, .memory = m, .known = p->memory};
  tsl__stack found = 0;
  uint32_t shape = p->memory && list != &c->whole ? tsl__memory_shape(space, p->memory) : 0;
  bool plenty = shape && tsl__move_find(space, p->plain, TSL__MOVE_PLENTY | shape, &found);
  t.begun = !between(space, at);
  t.endless = m->n && is_endless(space, m, p->plain);
  for (uint32_t i = 0; i < m->n && space->status == TSL_OK; i++) list_mask(space, &t, tsl__stack_mask(space, m->denies[i].at));
  if (t.listed.n) try_listed(space, &t);
  tsl__vec_free(&space->alloc, &t.listed);
  t.plenty = shape && !m->n && !m->escaped;
  if (plenty) list = m->in_string ? &c->several_quoted : &c->several;
  try_crossing(space, &t, list);
  if (t.plenty && !plenty && space->status == TSL_OK) tsl__move_add(space, p->plain, TSL__MOVE_PLENTY | shape, 1); /* whichever items were read */
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

/* A frame that spells a name: its state and register. */
typedef struct speller {
  tsl__state state; /* 0: it is not known which one */
  uint32_t count;
  bool beside;      /* others may spell names that this one does not */
} speller;

/* A node of the trie, reached by `depth` bytes, and the names of a group that may be spelled there: [lo, hi), which have the first `known` bytes in common. */
typedef struct spot {
  uint32_t node, depth, lo, hi, known;
  speller speller;
  uint8_t open[12], open_count; /* an escape that is open */
  bool unread;                  /* which the speller has not read: see spell_escape */
} spot;

typedef struct descent {
  tsl__run *run;
  tsl__stack at;
  plain_mask *plain;
  tsl__tokens *gone;
  uint32_t taken;
  bool few;                 /* names are constrained: those with some beginning may be used up, else it is only asked where one is closed, and by no speller */
  const tsl__taken *group;
  TSL__VEC(uint8_t) prefix; /* decoded, of the name under way */
  TSL__VEC(spot) spots;
} descent;

static const speller no_speller;

static bool spells_any(const tsl__space *space, speller s) { return s.state && takes_any(space, s.state); }

/* Does it spell all texts, or all but some? */
static bool spells_most(const tsl__space *space, speller s) {
  const tsl__fixed *f = s.state ? tsl__state_fixed(tsl__state_at(space, s.state)) : NULL;
  return (f && f->others) || spells_any(space, s);
}

/* Does every raw ASCII character lead to where texts can go on in any way? So it does where a frame is called that spells any. */
static bool begins_any(tsl__space *space, speller s) {
  const tsl__state_rec *r = s.state ? tsl__state_expanded(space, s.state) : NULL;
  tsl__target first = r && !(r->flags & (TSL__STATE_FORK | TSL__STATE_LOOP)) ? tsl__state_step(space, r, ' ') : 0;
  if (!first || !takes_any(space, tsl__target_state(first))) return false;
  for (unsigned i = 0, byte = 0; byte < 0x7F; byte = tsl__state_upper(r)[i++] + 1u) {
    unsigned upper = tsl__state_upper(r)[i];
    bool raw = upper >= ' ' && !(byte == upper && (byte == '"' || byte == '\\'));
    if (raw && r->targets[i] != first) return false;
  }
  return true;
}

/* The frames that spell a name which begins in this state: those that it calls itself, and those that a frame for a whole member calls first. */
static uint32_t called_spellers(tsl__space *space, const tsl__state_rec *s, speller *found, bool within) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->edges; k++) {
    uint32_t count;
    tsl__state callee = tsl__target_resolve(space, tsl__state_edges(s)[k].to, 0, &count);
    const tsl__state_rec *r;
    if (tsl__state_edges(s)[k].push && (tsl__state_at(space, tsl__target_state(tsl__state_edges(s)[k].push))->guarded & TSL__NEW_NAME)) *found = (speller){callee, count, false}, n++;
    else if (!within && !(tsl__state_at(space, callee)->flags & TSL__STATE_KEYED) && (r = tsl__state_expanded(space, callee))) n += called_spellers(space, r, found, true);
  }
  return n;
}

/* From where the run is: in a name, or where one begins. */
static speller speller_of(tsl__space *space, const tsl__run *r) {
  speller found = no_speller;
  uint32_t n = 0;
  for (size_t i = 0; i < r->step.landed.n; i++) {
    const tsl__cell *c = &r->step.landed.at[i];
    const tsl__state_rec *s = tsl__state_expanded(space, c->state);
    if (s && tsl__cell_names(space, c)) found = (speller){c->state, c->count, false}, n++;
    if (s) n += called_spellers(space, s, &found, false);
    found.beside = true;
    if (spells_most(space, found) || begins_any(space, found)) return found;
  }
  found.beside = false;
  return n == 1 ? found : no_speller;
}

/* One byte on; false: this name can't be spelled. */
static bool spell(tsl__space *space, speller *s, uint8_t byte) {
  if (!s->state || (byte < 0x7F && byte != '\\' && spells_any(space, *s))) return true;
  const tsl__state_rec *r = tsl__state_expanded(space, s->state);
  tsl__target t = r ? tsl__state_step(space, r, byte) : 0;
  if (!t && !s->beside) return false;
  s->state = t ? tsl__target_resolve(space, t, s->count, &s->count) : 0;
  if (s->state && tsl__state_at(space, s->state)->flags & TSL__STATE_FORK) s->state = 0;
  return true;
}

/* Try the tokens order[begin … end). */
static void try_tokens(tsl__space *space, descent *d, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end && space->status == TSL_OK; i++) {
    tsl_token t = space->vocab->trie.order[i];
    if (may_come(space, d->plain, t, end - begin) && !leads(space, d->run, d->at, t) && !tsl__vec_push(&space->alloc, d->gone, t)) tsl__space_no_memory(space);
  }
}

/* Here a name that was used is closed: mostly no frame lets that pass, and no token goes on. */
static void try_subtree(tsl__space *space, descent *d, const spot *at) {
  const tsl_vocab *v = space->vocab;
  const tsl__trie_node *node = &v->trie.nodes[at->node];
  const uint8_t *bytes = v->bytes + v->offsets[v->trie.order[node->begin]];
  bool passes = tsl__run_load(space, d->run, d->at);
  for (uint32_t i = 0; passes && i < at->depth; i++) passes = tsl__run_byte(space, d->run, bytes[i]);
  if (passes) {
    try_tokens(space, d, node->begin, node->end);
    return;
  }
  for (uint32_t i = node->begin; i < node->end && space->status == TSL_OK; i++)
    if (may_come(space, d->plain, v->trie.order[i], node->end - node->begin) && !tsl__vec_push(&space->alloc, d->gone, v->trie.order[i])) tsl__space_no_memory(space);
}

/* Can there be anything to take out at the node or below? */
static bool worth(const tsl__space *space, const descent *d, const spot *s) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[s->node];
  if (n->below == UINT16_MAX) return true;
  const tsl__bytes *below = &trie->sets[n->below];
  if (!d->few) return tsl__bytes_has(below, '"');
  if (s->open_count || !spells_any(space, s->speller)) return true;
  return tsl__bytes_has(below, '"') || tsl__bytes_has(below, '\\') || below->w[2] || below->w[3];
}

/* To a child: its names are those of `to`, and its speller is there already. */
static void push_spot(tsl__space *space, descent *d, spot to, uint32_t child) {
  to.node = child;
  to.depth++;
  if (worth(space, d, &to) && !tsl__vec_push(&space->alloc, &d->spots, to)) tsl__space_no_memory(space);
}

/* What the speller reads of an escape that has `n` bytes, `byte` the last: it spells a JSON string, and goes by an escape where it goes by the character. So, where any raw ASCII
 * character leads to any number of names, the beginning of an escape that may become one does too: the escape is read when it is known which. false: this name can't be spelled. */
static bool spell_escape(tsl__space *space, spot *to, uint32_t n, uint8_t byte, const uint8_t *utf8, uint32_t length) {
  if (n == 1) to->unread = spells_most(space, to->speller) || begins_any(space, to->speller);
  if (to->unread && to->open_count && may_be_raw(to->open, to->open_count)) return true;
  bool raw = to->unread && length == 1 && is_raw(*utf8);
  for (uint32_t i = 0; to->unread && !raw && i < n - 1; i++)
    if (!spell(space, &to->speller, to->open[i])) return false;
  to->unread = false;
  return spell(space, &to->speller, raw ? *utf8 : byte);
}

/* An escape goes on, or begins. */
static void push_escaped(tsl__space *space, descent *d, spot to, uint8_t byte) {
  uint8_t utf8[4];
  uint32_t child = tsl__trie_child(&space->vocab->trie, to.node, byte), bytes = to.open_count + 1u;
  if (!child) return;
  uint32_t n = tsl__escape_byte(to.open, &to.open_count, byte, utf8);
  for (uint32_t i = 0; i < n && to.lo < to.hi; i++) tsl__taken_narrow(d->group, to.known++, utf8[i], &to.lo, &to.hi);
  if (to.open_count) tsl__taken_narrow_open(d->group, to.known, to.open, to.open_count, &to.lo, to.hi);
  if (to.lo < to.hi && spell_escape(space, &to, bytes, byte, utf8, n)) push_spot(space, d, to, child);
}

static void look_on_raw(tsl__space *space, descent *d, spot at) {
  const tsl__spelled *names = d->group->names;
  if (names[at.lo].n == at.known) {
    spot closed = at;
    closed.node = tsl__trie_child(&space->vocab->trie, at.node, '"');
    closed.depth++;
    if (closed.node) try_subtree(space, d, &closed);
    if (++at.lo == at.hi) return;
  }
  push_escaped(space, d, at, '\\');
  while (at.lo < at.hi && space->status == TSL_OK) {
    uint8_t byte = names[at.lo].at[at.known];
    uint32_t child = byte >= 0x20 && byte != '"' && byte != '\\' ? tsl__trie_child(&space->vocab->trie, at.node, byte) : 0;
    spot to = at;
    tsl__taken_narrow(d->group, at.known, byte, &to.lo, &to.hi);
    at.lo = to.hi;
    to.known++;
    if (child && spell(space, &to.speller, byte)) push_spot(space, d, to, child);
  }
}

static void look_at_spot(tsl__space *space, descent *d, spot at, bool first) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[at.node];
  bool ends = d->few && !first && n->begin < n->own_end;
  if (ends && !at.unread && (!at.speller.state || !tsl__state_endless(space, at.speller.state, at.speller.count))) try_tokens(space, d, n->begin, n->own_end);
  if (!at.open_count) look_on_raw(space, d, at);
  static const char second[] = "\"\\/bfnrtu", digits[] = "0123456789abcdefABCDEF";
  const char *next = at.open_count == 1 ? (d->group->shortened ? second : "u") : at.open_count == 6 ? "\\" : at.open_count == 7 ? "u" : digits;
  for (; at.open_count && n->children && *next; next++) push_escaped(space, d, at, (uint8_t)*next);
}

/* From a node, with the prefix spelled. */
static void descend(tsl__space *space, descent *d, spot at) {
  at.known = (uint32_t)d->prefix.n;
  for (uint32_t i = d->taken; i && space->status == TSL_OK; i = d->group->next) {
    d->group = tsl__space_at(space, taken, i);
    tsl__taken_range(d->group, d->prefix.at, at.known, &at.lo, &at.hi);
    if (at.lo == at.hi) continue;
    look_at_spot(space, d, at, true);
    while (d->spots.n && space->status == TSL_OK) look_at_spot(space, d, d->spots.at[--d->spots.n], false);
  }
}

/* In the middle of a name. */
static void narrow_name(tsl__space *space, descent *d) {
  bool loaded = d->few ? tsl__run_load(space, d->run, d->at) : tsl__run_load_memory(space, d->run, tsl__remembered_at(space, d->at));
  const tsl__spelling *s = loaded ? tsl__run_spelling(space, d->run) : NULL;
  if (!s || !tsl__taken_rivals(space, d->taken, s)) return;
  if (!tsl__vec_reserve(&space->alloc, &d->prefix, s->decoded.n + 1)) {
    tsl__space_no_memory(space);
    return;
  }
  if (s->decoded.n) memcpy(d->prefix.at, s->decoded.at, s->decoded.n);
  d->prefix.n = s->decoded.n;
  spot begin = {.speller = d->few ? speller_of(space, d->run) : no_speller, .open_count = s->open_count};
  memcpy(begin.open, s->open, sizeof begin.open);
  descend(space, d, begin);
}

/* Before a name: white space, its opening quote and more in one token. Whichever white space it is, the same names may follow. */
static void narrow_before(tsl__space *space, descent *d) {
  const tsl_vocab *v = space->vocab;
  const tsl__crossing *c = tsl__crossing_known(space);
  speller begin = no_speller;
  bool known = !d->few;
  for (uint32_t i = 0; i < c->names_count && space->status == TSL_OK; i++) {
    const tsl__trie_node *n = &v->trie.nodes[c->names[i].node];
    const uint8_t *bytes = v->bytes + v->offsets[v->trie.order[n->begin]];
    bool passes = known || tsl__run_load(space, d->run, d->at);
    for (uint32_t k = 0; !known && passes && k < c->names[i].depth; k++) passes = tsl__run_byte(space, d->run, bytes[k]);
    if (!passes) continue;
    if (!known) begin = speller_of(space, d->run);
    known = true;
    descend(space, d, (spot){.node = c->names[i].node, .depth = c->names[i].depth, .speller = begin});
  }
}

/* May a name that begins so, its opening quote included, be one that an object has? */
static bool may_become(const tsl__space *space, uint32_t taken, const uint8_t *at, const uint8_t *end) {
  uint32_t n = (uint32_t)(end - at) - 1, lo, hi;
  if (*at != '"' || memchr(at + 1, '"', n) || memchr(at + 1, '\\', n)) return true;
  for (; taken; taken = ((const tsl__taken *)tsl__space_at(space, taken, taken))->next) {
    tsl__taken_range(tsl__space_at(space, taken, taken), at + 1, n, &lo, &hi);
    if (lo < hi) return true;
  }
  return false;
}

/* May the beginning of a name after a token's first comma be one of those that its object has? In a token that holds more, that is not looked at. */
static bool may_repeat(tsl__space *space, const tsl__memory *m, tsl_token token) {
  const tsl_vocab *v = space->vocab;
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  bool in_string = m->in_string;
  uint32_t open = m->open, within = 0;
  if (!open || m->escaped || (tsl__crossing_known(space)->named.n && holds_name(at, end))) return true;
  for (; at < end && (in_string || *at != ','); at++) {
    if (*at == '"') in_string = !in_string;
    else if (in_string) at += *at == '\\';
    else if (memchr("[]{}", *at, 4)) pass_bracket(space, *at, &open, &within);
  }
  if (at >= end || within) return at < end;
  const tsl__open *o = tsl__open_at(space, open);
  const uint8_t *name = past_space(at + 1, end);
  return open && o->used && (o->array || name == end || may_become(space, o->used, name, end));
}

static void narrow_names(tsl__space *space, tsl__run *r, tsl__stack at, plain_mask *plain, tsl__tokens *gone) {
  const tsl__memory *m = tsl__memory_at(space, tsl__remembered_at(space, at)->memory);
  const tsl__crossing *c = tsl__crossing_known(space);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  descent d = {.run = r, .at = at, .plain = plain, .gone = gone, .taken = o && !o->array ? o->used : 0, .few = space->watches & TSL__FEW_NAMES};
  const tsl__tokens *crossing = space->watches & TSL__FEW_NAMES && m->open ? &c->begun : &c->named;
  for (size_t i = 0; i < crossing->n && space->status == TSL_OK; i++) {
    tsl_token t = crossing->at[i];
    if (may_repeat(space, m, t) && may_come(space, plain, t, crossing->n) && !leads(space, r, at, t) && !tsl__vec_push(&space->alloc, gone, t)) tsl__space_no_memory(space);
  }
  if (d.taken && m->name) narrow_name(space, &d);
  else if (d.taken && o->expects && !m->in_string) narrow_before(space, &d);
  tsl__vec_free(&space->alloc, &d.prefix);
  tsl__vec_free(&space->alloc, &d.spots);
}

/* ---- together ----------------------------------------------------------------------------------------------------- */

/* The plain mask without the tokens that are gone. */
static tsl__mask without(tsl__space *space, tsl__mask plain, tsl__tokens *gone) {
  tsl__gather *g = space->gather;
  gone->n = tsl__sort_unique(gone->at, gone->n);
  tsl__gather_clear(g);
  tsl__gather_mask(space, g, plain);
  tsl__gather_remove_all(space, g, gone->at, gone->n);
  return tsl__gather_done(space, g);
}

/* May no token repeat a name from there? */
static bool harmless(tsl__space *space, uint32_t memory) {
  bool named = tsl__crossing_known(space)->named.n; /* tokens that hold a whole name, which mostly are none */
  if (named || !memory) return !named;
  const tsl__memory *m = tsl__memory_at(space, memory);
  const tsl__open *o = m->open ? tsl__open_at(space, m->open) : NULL;
  if (m->open && space->watches & TSL__FEW_NAMES) return false;
  return !(o && !o->array && o->used && (m->name || (o->expects && !m->in_string)));
}

static TSL__SELDOM tsl__mask narrowed(tsl__space *space, tsl__stack at, tsl__mask plain) {
  tsl__tokens gone = {0};
  tsl__run *r = tsl__run_take(space);
  if (!r) return 0;
  plain_mask p = {plain, NULL};
  if (space->watches & TSL__NEW_ITEM) narrow_items(space, r, at, &p, &gone);
  if (space->watches & TSL__NEW_NAME) narrow_names(space, r, at, &p, &gone);
  tsl__free(&space->alloc, p.bits, tsl_vocab_mask_words(space->vocab) * sizeof *p.bits);
  tsl__mask made = gone.n && space->status == TSL_OK ? without(space, plain, &gone) : plain;
  tsl__vec_free(&space->alloc, &gone);
  tsl__run_give(space, r);
  return made;
}

tsl__mask tsl__memory_mask(tsl__space *space, tsl__stack at, tsl__mask plain) {
  if (!tsl__crossing_of(space)) return 0;
  if (!(space->watches & TSL__NEW_ITEM) && harmless(space, tsl__remembered_at(space, at)->memory)) return plain;
  return narrowed(space, at, plain);
}

/* ---- tokens that may pass from one item into the next ----------------------------------------------------------------- */

#define CROSSINGS 3u /* bitsets of tsl__crossing */

static const uint8_t *past_space(const uint8_t *at, const uint8_t *end) {
  while (at < end && memchr(" \t\n\r", *at, 4)) at++;
  return at;
}

/* After the quote that closes a string; NULL: there is none. */
static const uint8_t *past_string(const uint8_t *at, const uint8_t *end) {
  for (; at < end && *at != '"'; at++) at += *at == '\\';
  return at < end ? at + 1 : NULL;
}

/* After a value that is whole, white space before it; NULL: there is none. */
static const uint8_t *past_value(const uint8_t *at, const uint8_t *end) {
  const uint8_t *begin = past_space(at, end);
  unsigned depth = 0;
  if (begin < end && (!is_bare(*begin) || *begin == '.' || *begin == '+') && !memchr("\"[{", *begin, 3)) return NULL;
  for (at = begin; at; ) {
    if (at == end) return depth == 0 && at > begin ? at : NULL;
    if (!depth && at > begin && memchr("]},: \t\n\r", *at, 8)) return at;
    if (*at == '"') {
      at = past_string(at + 1, end);
      continue;
    }
    depth += *at == '[' || *at == '{';
    if (*at == ']' || *at == '}') {
      if (depth-- == 0) return NULL;
    } else if (!memchr("[{,: \t\n\r", *at, 8) && !is_bare(*at)) {
      return NULL;
    }
    at++;
  }
  return NULL;
}

/* Does an array begin, with a whole item and a comma? */
static bool holds_item(const uint8_t *at, const uint8_t *end) {
  while (at < end && (at = memchr(at, '[', (size_t)(end - at)))) {
    const uint8_t *after = past_value(++at, end);
    if (after && (after = past_space(after, end)) < end && *after == ',') return true;
  }
  return false;
}

/* Are there these two bytes, one after the other? */
static bool in_order(const uint8_t *at, const uint8_t *end, uint8_t first, uint8_t second) {
  const uint8_t *found = memchr(at, first, (size_t)(end - at));
  return found && memchr(found, second, (size_t)(end - found));
}

/* Does a comma come that is not in a string, and nothing that JSON has in strings alone? */
static bool has_comma(const uint8_t *at, const uint8_t *end) {
  bool comma = false;
  while (at && at < end) {
    if (!memchr("[]{},:\" \t\n\r+-.0123456789truefalsnE", *at, 34)) return false;
    comma = comma || *at == ',';
    at = *at == '"' ? past_string(at + 1, end) : at + 1;
  }
  return comma;
}

/* Does a comma come, and the beginning of a string after it, its first byte included? */
static bool begins_name(const uint8_t *at, const uint8_t *end) {
  while (at && (at = memchr(at, ',', (size_t)(end - at)))) {
    const uint8_t *quote = past_space(++at, end);
    if (quote + 1 < end && *quote == '"') return true;
  }
  return false;
}

/* Does a comma come, and a whole string after it that may be a name? */
static bool holds_name(const uint8_t *at, const uint8_t *end) {
  const uint8_t *colon = memchr(at, ':', (size_t)(end - at));
  if (colon && begins_name(colon, end)) return true;
  while ((at = memchr(at, ',', (size_t)(end - at)))) {
    const uint8_t *quote = past_space(++at, end);
    const uint8_t *after = quote < end && *quote == '"' ? past_string(quote + 1, end) : NULL;
    if (after && ((after = past_space(after, end)) == end || *after == ':')) return true;
  }
  return false;
}

static bool any_of(const uint8_t *at, const uint8_t *end, const char *characters) {
  for (; at < end; at++)
    if (memchr(characters, *at, strlen(characters))) return true;
  return false;
}

static void put(uint32_t *set, tsl_token t, bool bit) { set[t >> 5] |= (uint32_t)bit << (t & 31); }

static bool add_to(tsl__tokens *list, const tsl_allocator *a, tsl_token t, bool holds) { return !holds || tsl__vec_push(a, list, t); }

/* false: out of memory. */
static bool classify(tsl__crossing *c, const tsl_allocator *a, tsl_token t, const uint8_t *at, const uint8_t *end) {
  const uint8_t *quote = memchr(at, '"', (size_t)(end - at));
  bool whole = holds_item(at, end), comma = memchr(at, ',', (size_t)(end - at)) != NULL;
  put(c->dull, t, !any_of(at, end, "[]{},:\""));
  put(c->dull_quoted, t, !any_of(at, end, "\"\\"));
  put(c->space, t, past_space(at, end) == end);
  if (!add_to(&c->several, a, t, comma && !begins_one(at, end, false)) || !add_to(&c->several_quoted, a, t, comma && !begins_one(at, end, true))) return false;
  if (!add_to(&c->comma, a, t, whole || has_comma(at, end)) || !add_to(&c->quoted, a, t, quote && memchr(quote, ',', (size_t)(end - quote)))) return false;
  return add_to(&c->whole, a, t, whole) && add_to(&c->closed, a, t, whole || in_order(at, end, '}', ',')) &&
         add_to(&c->closed_quoted, a, t, whole || (quote && in_order(quote, end, '}', ','))) && add_to(&c->named, a, t, holds_name(at, end)) && add_to(&c->begun, a, t, begins_name(at, end));
}

/* The nodes of the trie after white space and a quote. */
static bool find_names(const tsl_vocab *v, const tsl_allocator *a, tsl__crossing *c) {
  const tsl__trie *trie = &v->trie;
  TSL__VEC(struct tsl__name_start) at = {0}, found = {0};
  bool fine = tsl__vec_push(a, &at, ((struct tsl__name_start){0, 0}));
  while (fine && at.n) {
    struct tsl__name_start s = at.at[--at.n];
    for (const char *b = " \t\n\r\""; fine && *b; b++) {
      struct tsl__name_start child = {tsl__trie_child(trie, s.node, (uint8_t)*b), s.depth + 1};
      if (child.node && trie->nodes[child.node].children) fine = *b == '"' ? tsl__vec_push(a, &found, child) : tsl__vec_push(a, &at, child);
    }
  }
  tsl__vec_free(a, &at);
  c->names = found.at;
  c->names_count = (uint32_t)found.n;
  c->names_capacity = (uint32_t)found.cap;
  return fine;
}

tsl__crossing *tsl__crossing_make(const tsl_vocab *v, const tsl_allocator *a) {
  tsl__crossing *c = tsl__alloc_zero(a, sizeof *c);
  if (!c) return NULL;
  c->words = tsl_vocab_mask_words(v);
  c->dull = tsl__alloc_zero(a, CROSSINGS * c->words * sizeof *c->dull);
  bool fine = c->dull && find_names(v, a, c);
  if (fine) {
    c->dull_quoted = c->dull + c->words;
    c->space = c->dull_quoted + c->words;
  }
  for (tsl_token t = 0; fine && t < v->size; t++) fine = classify(c, a, t, v->bytes + v->offsets[t], v->bytes + v->offsets[t + 1]);
  if (!fine) tsl__crossing_free(c, a), c = NULL;
  return c;
}

void tsl__crossing_free(tsl__crossing *c, const tsl_allocator *a) {
  if (!c) return;
  tsl__tokens *lists[] = {&c->comma, &c->quoted, &c->whole, &c->closed, &c->closed_quoted, &c->several, &c->several_quoted, &c->named, &c->begun};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) tsl__vec_free(a, lists[i]);
  tsl__free(a, c->dull, c->dull ? CROSSINGS * c->words * sizeof *c->dull : 0);
  tsl__free(a, c->names, c->names_capacity * sizeof *c->names);
  tsl__free(a, c, sizeof *c);
}

size_t tsl__crossing_memory(const tsl__crossing *c) {
  if (!c) return 0;
  size_t listed = c->comma.cap + c->quoted.cap + c->whole.cap + c->closed.cap + c->closed_quoted.cap + c->several.cap + c->several_quoted.cap + c->named.cap + c->begun.cap;
  return sizeof *c + CROSSINGS * c->words * sizeof *c->dull + listed * sizeof(tsl_token) + c->names_capacity * sizeof *c->names;
}

/* A grammar that was loaded has no layer below: its vocabulary keeps it for all of them. */
const tsl__crossing *tsl__crossing_of(tsl__space *space) {
  const tsl__crossing *known = tsl__crossing_known(space);
  if (known) return known;
  tsl_vocab *v = (tsl_vocab *)(uintptr_t)space->vocab;
  pthread_mutex_lock(&v->lock);
  tsl__crossing *made = atomic_load_explicit(&v->crossing, memory_order_acquire);
  if (!made && (made = tsl__crossing_make(v, &v->alloc))) atomic_store_explicit(&v->crossing, made, memory_order_release);
  pthread_mutex_unlock(&v->lock);
  if (!made) tsl__space_no_memory(space);
  return made;
}
