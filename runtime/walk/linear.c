/* linear.c - see linear.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/linear.h"

#include "runtime/walk/classes.h"
#include "runtime/walk/follow.h"
#include "runtime/kernels/logits.h"
#include "runtime/core/trie.h"
#include "runtime/vocab/token_ring.h"

/* times that a tree of words is met by a row, from which it is counted how many of them it
 * accepts */
#define WORDS_MET 16u
#define WORDS_HIGH TSL__WORDS_HIGH /* bytes that may follow a node: higher ones are read */
/* that letters of any kind may lead to, if all words of these are to be read at once. There are
 * fewer than a loop counts that far */
#define NONASCII_ROWS 24u
#define OFF UINT32_MAX
#define AHEAD_MAX 1024u /* places in rows that are filled in before their bytes are met */
#define HINTED 4096u    /* the same, from which letters may be worth a class */
#define ENTERED 16      /* nodes that can be read in the time that the search takes for one */
#define STEP_NODES 4096u
#define ROWS 256u
#define ROWS_FREE 96u /* that a table must have left to be used again */
#define SLOTS 512u

/* Numbers of rows that are none. ENDS: there the frame ends and no more, where that is kept apart
 * from ASIDE. */
enum { DEAD, UNKNOWN, ASIDE, ENDS, FIRST };

typedef struct tsl__rows {
  uint8_t to[ROWS][256];
  const tsl__state_rec *record[ROWS];
  tsl__state state[ROWS];
  uint32_t count[ROWS];
  uint8_t words[ROWS];   /* how many letters live, whichever they are; 0 until it was requested */
  uint8_t waits[ROWS];   /* how often it is to be met yet before that is requested; 0: it was */
  uint16_t slots[SLOTS]; /* by state and register; 0: empty */
  uint32_t n, ahead;
  bool ends; /* ENDS is kept apart */
  bool last; /* nothing follows the frame: that it may end means nothing */
  /* not NULL: rows of states that may end or call are there, too, in `stop`, with the bytes before
   * which they do */
  tsl__linear_stops *stops;
  bool stop[ROWS];
  tsl__bytes before[ROWS];
  /* rows that a reading began with: what else their states do was done where they were arrived at,
   * so they are in no slot */
  bool start[ROWS];
  /* for which readings the rows are: `last`, are there stops, and before which bytes */
  bool stopping;
  tsl__bytes stops_before;
} table;

/* A reading under way. */
typedef struct reading {
  tsl__space *space;
  const tsl__linear *table;
  table *rows;
  uint8_t *row_of; /* by depth */
  uint32_t *marks;
  tsl__linear_asides *aside;
  int deeper; /* depth minus that in the trie */
  bool last;
} reading;

/* ASCII letters. */
static const tsl__bytes words = {{0, TSL__WORD_LETTERS, 0, 0}};

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row of live and dead bytes, four at a time. */
static void put_live(uint8_t row[256], const tsl__bytes *live) {
#define FOUR(n)                                                                   \
  {                                                                               \
    (n) & 1 ? UNKNOWN : DEAD, (n) & 2 ? UNKNOWN : DEAD, (n) & 4 ? UNKNOWN : DEAD, \
        (n) & 8 ? UNKNOWN : DEAD                                                  \
  }
  static const uint8_t four[16][4] = {FOUR(0),  FOUR(1),  FOUR(2),  FOUR(3), FOUR(4),  FOUR(5),
                                      FOUR(6),  FOUR(7),  FOUR(8),  FOUR(9), FOUR(10), FOUR(11),
                                      FOUR(12), FOUR(13), FOUR(14), FOUR(15)};
#undef FOUR
  for (unsigned b = 0; b < 256; b += 4) memcpy(row + b, four[live->w[b >> 6] >> (b & 63) & 15], 4);
}

static uint8_t add_row(table *rows, const tsl__state_rec *r, tsl__state state, uint32_t count) {
  uint32_t number = rows->n++;
  rows->words[number] = 0;
  rows->waits[number] = WORDS_MET;
  rows->state[number] = state;
  rows->count[number] = count;
  rows->record[number] = r;
  rows->stop[number] = rows->start[number] = false;
  put_live(rows->to[number], &r->live);
  return (uint8_t)number;
}

/* The first row of a table. */
static uint8_t start_rows(table *rows, const tsl__state_rec *r, tsl__state state, uint32_t count) {
  memset(rows->slots, 0, sizeof rows->slots);
  rows->n = FIRST;
  rows->ahead = 0;
  rows->ends = rows->last = false;
  rows->stops = NULL;
  return add_row(rows, r, state, count);
}

/* Are rows that an earlier reading left for readings such as this one, with room for more? */
static bool serves(const table *rows, const tsl__linear_from *from) {
  return rows->n && rows->n <= ROWS - ROWS_FREE && rows->last == from->last &&
         rows->stopping == (from->stops != NULL) &&
         (!from->stops || tsl__bytes_equal(&rows->stops_before, &from->stops->before));
}

/* The row that a reading begins with: in a table that an earlier one left, or in a new one. */
static uint8_t begin_rows(table *rows, const tsl__state_rec *r, const tsl__linear_from *from) {
  uint32_t number = FIRST;
  if (!serves(rows, from)) {
    start_rows(rows, r, from->state, from->count);
    rows->last = from->last;
    rows->stopping = from->stops != NULL;
    if (from->stops) rows->stops_before = from->stops->before;
  } else {
    while (number < rows->n && !(rows->start[number] && rows->state[number] == from->state &&
                                 rows->count[number] == from->count))
      number++;
    if (number == rows->n) add_row(rows, r, from->state, from->count);
  }
  rows->start[number] = true;
  rows->stops = from->stops;
  rows->ahead = 0;
  return (uint8_t)number;
}

/* Is a state one of those that may stop, before some bytes: *before? */
static bool may_stop(tsl__space *space, const table *rows, const tsl__state_rec *r,
                     tsl__bytes *before) {
  if (r->flags & ~TSL__STATE_NULLABLE & ~TSL__STATE_FINAL || r->token_edges || tsl__state_fixed(r))
    return false;
  *before = (tsl__bytes){{0}};
  if (r->edges && !tsl__calls_begin(space, r, before)) *before = TSL__BYTES_ALL;
  if (r->flags & TSL__STATE_NULLABLE && !rows->last) tsl__bytes_or(before, &rows->stops->before);
  return space->status == TSL_OK;
}

/* The row of a state that does nothing but read; ASIDE for others, and where there is no room. */
static uint8_t row_for(tsl__space *space, table *rows, tsl__state state, uint32_t count) {
  uint32_t slot = (uint32_t)tsl__mix((uint64_t)state << 32 | count) % SLOTS;
  for (; rows->slots[slot]; slot = (slot + 1) % SLOTS)
    if (rows->state[rows->slots[slot]] == state && rows->count[rows->slots[slot]] == count)
      return (uint8_t)rows->slots[slot];
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (r && rows->ends && r->flags & TSL__STATE_FINAL) return ENDS;
  tsl__bytes before;
  bool stop = r && rows->stops && !tsl__state_is_plain_on(r, rows->last);
  if (!r || rows->n == ROWS ||
      !(stop ? may_stop(space, rows, r, &before) : tsl__state_is_plain_on(r, rows->last)))
    return ASIDE;
  uint8_t number = add_row(rows, r, state, count);
  if (stop) rows->stop[number] = true, rows->before[number] = before;
  rows->slots[slot] = number;
  return number;
}

/* Where a byte leads that was not met yet; its neighbours of the same range go there, too. */
static uint8_t find_out(tsl__space *space, table *rows, uint8_t from, uint8_t byte) {
  const tsl__state_rec *r = rows->record[from];
  tsl__target t = tsl__state_step(space, r, byte);
  const uint8_t *upper = tsl__state_upper(r);
  uint32_t count, i = 0;
  uint8_t to = DEAD;
  if (t) {
    tsl__state state = tsl__target_resolve(space, t, rows->count[from], &count);
    to = row_for(space, rows, state, count);
  }
  while (upper[i] < byte) i++;
  unsigned first = i ? upper[i - 1] + 1u : 0;
  memset(rows->to[from] + first, to, upper[i] + 1u - first);
  return to;
}

/* The same of a byte that was not met: as long as few were met so. */
static uint8_t find_ahead(tsl__space *space, table *rows, uint8_t from, uint8_t byte) {
  uint8_t to = rows->to[from][byte];
  return to != UNKNOWN ? to : rows->ahead++ < AHEAD_MAX ? find_out(space, rows, from, byte) : DEAD;
}

/* How many letters can always be read from a row, whichever they are. Looks at all rows that these
 * lead to, nearest ones first, until something does not read on. */
static uint8_t find_words(tsl__space *space, table *rows, uint8_t number) {
  uint8_t met[ROWS];
  bool known[ROWS] = {false};
  uint32_t n = 0, most = WORDS_HIGH;
  known[number] = true;
  met[n++] = number;
  for (uint32_t depth = 0, i = 0; depth < most && i < n; depth++) {
    for (uint32_t end = n; i < end; i++)
      for (uint64_t bits = words.w[1]; bits; bits &= bits - 1) {
        uint8_t to = find_ahead(space, rows, met[i], (uint8_t)(64 + __builtin_ctzll(bits)));
        if (to < FIRST) return (uint8_t)depth;
        if (known[to]) continue;
        known[to] = true;
        if (rows->waits[to])
          met[n++] = to;
        else if (depth + 1 + rows->words[to] < most)
          most = depth + 1 + rows->words[to];
      }
  }
  return (uint8_t)most;
}

/* Is what is below a node letters, and no more of them than can always be read from a row? That is
 * made when the row was met a few times so. */
static inline bool lives_as_words(tsl__space *space, table *rows, uint8_t number, unsigned height) {
  if (TSL__UNLIKELY(height > rows->words[number] && rows->waits[number] && !--rows->waits[number]))
    rows->words[number] = find_words(space, rows, number);
  return height <= rows->words[number];
}

static bool letters_help(tsl__space *space, const tsl__linear *t, table *rows, uint8_t number,
                         uint32_t node, bool last) {
  const tsl__state_rec *r = rows->record[number];
  const tsl__hint *h = tsl__state_form(space, r);
  if (!h || !h->like) h = tsl__state_hint(space, r);
  return h && (h->like || (!tsl__bytes_empty(&h->letters) && !h->counted && !h->calls &&
                           (last || !h->ends) && !tsl__linear_beats(space, t, r, h, node)));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* How a node is read that a row leads to. */
typedef enum passage { GO_IN, PASS_OVER, TAKE_ALL, SET_ASIDE } passage;

static void mark(const reading *at, tsl_token t) { tsl__mask_bit_set(at->marks, t); }

/* Mark the tokens below a node, along the table: it is read in order, while the trie's nodes lie
 * elsewhere. */
static inline void mark_below(const reading *at, const tsl__linear_node *n) {
  const tsl__linear_node *end = at->table->nodes + n->next;
  while (++n < end) mark(at, n->token);
}

/* Does nothing live that a node goes on with? Its children lie side by side in the trie, each in a
 * line of its own along the table. */
static bool is_barren(const reading *at, uint8_t number, const tsl__trie_node *n) {
  const tsl__trie_node *child = &at->space->vocab->trie.nodes[n->first_child],
                       *end = child + n->children;
  const uint8_t *to = at->rows->to[number];
  while (child < end && to[child->byte] == DEAD) child++;
  return child == end;
}

static passage take_large(const reading *at, uint8_t number, uint32_t node) {
  const tsl__trie *trie = &at->space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  const tsl__state_rec *r = at->rows->record[number];
  if (n->end - n->own_end >= HINTED && !at->rows->stop[number] &&
      letters_help(at->space, at->table, at->rows, number, node, at->last))
    return SET_ASIDE;
  if (!tsl__trie_below_meets(trie, n, &r->live)) return PASS_OVER;
  return tsl__trie_below_within(trie, n, r->self) ? TAKE_ALL
         : is_barren(at, number, n)               ? PASS_OVER
                                                  : GO_IN;
}

/* Read a node that is large, or has only letters below. */
static passage take_high(const reading *at, uint8_t number, const tsl__linear_node *n) {
  unsigned height = n->below & ~TSL__LINEAR_LARGE;
  passage how = height && lives_as_words(at->space, at->rows, number, height) ? TAKE_ALL
                : n->below & TSL__LINEAR_LARGE ? take_large(at, number, n->node)
                                               : GO_IN;
  if (how == TAKE_ALL) mark_below(at, n);
  return how;
}

static bool set_aside(const reading *at, uint8_t from, const tsl__linear_node *n) {
  tsl__target t =
      n->node == UINT32_MAX ? 0 : tsl__state_step(at->space, at->rows->record[from], n->byte);
  tsl__linear_aside aside = {t, at->rows->count[from], n->node,
                             (uint16_t)(n->above + 1 + at->deeper), false};
  return t == 0 || tsl__vec_push(&at->space->alloc, at->aside, aside) ||
         tsl__space_no_memory(at->space);
}

/* May a row stop at a node, before one of the next bytes? What is a word with all below lives
 * there, if all words do: to stop before that adds nothing. */
static bool stops_at(const reading *at, uint8_t number, const tsl__trie_node *n) {
  const tsl__trie *trie = &at->space->vocab->trie;
  const tsl__bytes *before = &at->rows->before[number];
  if (!tsl__trie_below_meets(trie, n, before)) return false;
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
    const tsl__trie_node *child = &trie->nodes[c];
    if (!tsl__bytes_has(before, trie->labels[c])) continue;
    if (!tsl__bytes_has(&words, trie->labels[c]) ||
        (child->children && !tsl__trie_below_within(trie, child, &words)) ||
        !lives_as_words(at->space, at->rows, number, child->height + 1u))
      return true;
  }
  return false;
}

/* A node where a row that may stop is reached: noted, if it does. False: out of memory (sticky). */
static bool note_stop(const reading *at, uint8_t number, const tsl__linear_node *n) {
  const tsl__trie *trie = &at->space->vocab->trie;
  const table *rows = at->rows;
  if (n->node == UINT32_MAX || !stops_at(at, number, &trie->nodes[n->node])) return true;
  tsl__linear_stop stop = {rows->state[number], rows->count[number], n->node,
                           (uint16_t)(n->above + 1 + at->deeper)};
  return tsl__vec_push(&at->space->alloc, &rows->stops->at, stop) ||
         tsl__space_no_memory(at->space);
}

/* A node whose byte is met for the first time, or leads to what is set aside, or that is large.
 * Returns from where to read on; NULL on failure (sticky). */
static const tsl__linear_node *take_other(const reading *at, const tsl__linear_node *n) {
  const tsl__linear_node *next = at->table->nodes + n->next;
  uint8_t from = at->row_of[n->above], to = at->rows->to[from][n->byte];
  if (to == UNKNOWN && next != n + 1) to = find_out(at->space, at->rows, from, n->byte);
  /* nothing below: where it leads does not matter */
  if (to == UNKNOWN && tsl__state_step(at->space, at->rows->record[from], n->byte))
    mark(at, n->token);
  passage how = to >= FIRST   ? (n->below ? take_high(at, to, n) : GO_IN)
                : to == ASIDE ? SET_ASIDE
                              : PASS_OVER;
  if (how == SET_ASIDE)
    set_aside(at, from, n);
  else if (to >= FIRST)
    mark(at, n->token);
  if (to >= FIRST && at->rows->stop[to] && how < TAKE_ALL && next != n + 1) note_stop(at, to, n);
  at->row_of[n->above + 1] = to;
  return at->space->status != TSL_OK ? NULL : how == GO_IN ? n + 1 : next;
}

/* What is read at each node is kept in locals: rows' numbers are bytes, and writing one would have
 * all of it loaded again. Returns where it stopped; OFF on failure (sticky). */
static inline uint32_t read_along(const reading *at, uint32_t i, uint32_t end, const bool *stops) {
  const tsl__linear_node *nodes = at->table->nodes, *n = nodes + i, *stop = nodes + end;
  uint8_t(*rows)[256] = at->rows->to, *row_of = at->row_of;
  uint32_t *marks = at->marks;
  while (n < stop) {
    for (uint32_t left = STEP_NODES; n < stop && left; left--) {
      uint32_t above = n->above;
      uint8_t to = rows[row_of[above]][n->byte];
      if (TSL__LIKELY(to >= FIRST && n->below < TSL__LINEAR_LARGE)) {
        tsl__mask_bit_set(marks, n->token);
        if (n->below && lives_as_words(at->space, at->rows, to, n->below)) {
          mark_below(at, n);
          n = nodes + n->next;
          continue;
        }
        row_of[above + 1] = to;
        if (stops && stops[to] && nodes + n->next != n + 1 && !note_stop(at, to, n)) return OFF;
        n++;
      } else if (TSL__LIKELY(to == DEAD)) {
        n = nodes + n->next;
      } else if (!(n = take_other(at, n))) {
        return OFF;
      }
    }
    if (n < stop && !tsl__space_step(at->space, STEP_NODES / 4)) return OFF;
  }
  return (uint32_t)(n - nodes);
}

static uint32_t read_on(const reading *at, uint32_t i, uint32_t end) {
  return at->rows->stops ? read_along(at, i, end, at->rows->stop) : read_along(at, i, end, NULL);
}

/* ---- covers ---------------------------------------------------------------------------------- */

/* Do texts of n letters live, whichever they are, and none of more? `n` is what find_words says:
 * after some of them not all letters live. */
static bool ends_after(const table *rows, uint8_t number, unsigned n) {
  uint8_t at[ROWS] = {number};
  for (uint32_t depth = 0, count = 1; depth <= n; depth++) {
    uint8_t then[ROWS];
    bool known[ROWS] = {false};
    uint32_t more = 0;
    for (uint32_t i = 0; i < count; i++)
      for (uint64_t bits = words.w[1]; bits; bits &= bits - 1) {
        uint8_t to = rows->to[at[i]][64 + __builtin_ctzll(bits)];
        if (depth == n ? to != DEAD : to < FIRST) return false;
        if (depth == n || known[to]) continue;
        known[to] = true;
        then[more++] = to;
      }
    memcpy(at, then, count = more);
  }
  return true;
}

/* Do all characters of some bytes lead from a row to one, by the first byte and those after it?
 * *there: that row, or 0 if it is not known yet. */
static bool lead_there(tsl__space *space, table *rows, uint8_t from, const uint8_t (*bytes)[2],
                       unsigned n, uint8_t *there) {
  for (unsigned b = bytes[0][0], last = 0; b <= bytes[0][1]; b++) {
    uint8_t to = find_ahead(space, rows, from, (uint8_t)b);
    if (to < FIRST || (n == 1 && *there && *there != to)) return false;
    if (n == 1)
      *there = to;
    else if (to != last && !lead_there(space, rows, to, bytes + 1, n - 1, there))
      return false;
    last = to;
  }
  return true;
}

/* The row that all letters past ASCII lead to which words may have (tsl__high_letters); DEAD:
 * there is no such row. */
static uint8_t find_past_ascii(tsl__space *space, table *rows, uint8_t number) {
  uint8_t there = DEAD;
  for (uint32_t i = 0; i < TSL__HIGH_LETTERS; i++)
    if (!lead_there(space, rows, number, tsl__high_letters[i].bytes, tsl__high_letters[i].length,
                    &there))
      return DEAD;
  return there;
}

/* Rows that a text may lead to. */
typedef struct rows_met {
  uint8_t at[NONASCII_ROWS];
  bool known[ROWS];
  uint32_t n;
} rows_met;

static bool meet(rows_met *m, uint8_t to) {
  if (to < FIRST || (!m->known[to] && m->n == NONASCII_ROWS)) return false;
  if (!m->known[to]) m->at[m->n++] = to;
  return m->known[to] = true;
}

/* Do all words live, with any letters past ASCII? All rows that letters lead to are looked at;
 * first those that ASCII letters do, most of which are known. */
static bool takes_nonascii(tsl__space *space, table *rows, uint8_t number) {
  rows_met m = {.n = 0};
  meet(&m, number);
  for (uint32_t i = 0, k = 0; k < m.n; k++) {
    for (; i < m.n; i++)
      for (uint64_t bits = words.w[1]; bits; bits &= bits - 1)
        if (!meet(&m, find_ahead(space, rows, m.at[i], (uint8_t)(64 + __builtin_ctzll(bits)))))
          return false;
    if (!meet(&m, find_past_ascii(space, rows, m.at[k]))) return false;
  }
  return true;
}

/* Words of at most n letters are marked; those with a space before them have as many characters
 * more. */
static bool mark_short(const reading *at, const tsl__linear *t, bool spaced, unsigned n) {
  const tsl__lengths *lengths = tsl__lengths_of(at->space);
  const uint32_t *all = t->words[spaced], *few = lengths ? lengths->at_most[n + spaced - 1] : NULL;
  size_t end = few ? tsl_vocab_mask_words(at->space->vocab) : 0;
  TSL__AT_ONCE
  for (size_t i = 0; i < end; i++) at->marks[i] |= all[i] & few[i];
  return few;
}

/* From a row, words are read at once if all of them live, or all of so many letters and no more.
 * Then the table without them will do. `spaced`: a space stands before. False on failure
 * (sticky). */
static bool cover(reading *at, uint8_t row, bool spaced) {
  const tsl__linear *t = at->table;
  table *rows = at->rows;
  if (rows->waits[row]) rows->words[row] = find_words(at->space, rows, row);
  rows->waits[row] = 0;
  unsigned n = rows->words[row];
  bool all = n == WORDS_HIGH, nonascii = all && takes_nonascii(at->space, rows, row);
  if (at->space->status != TSL_OK) return false;
  if (!all && (!n || n + spaced > TSL__SHORT_MAX || !ends_after(rows, row, n))) return true;
  at->table = nonascii ? t->nonascii_rest : t->rest;
  if (!all) return mark_short(at, t, spaced, n);
  tsl__mask_or(at->marks, (nonascii ? t->nonascii_words : t->words)[spaced],
               tsl_vocab_mask_words(at->space->vocab));
  return true;
}

/* All below the space that texts begin with. */
static bool read_spaced(const reading *from) {
  reading at = *from;
  return cover(&at, at.row_of[1], true) &&
         read_on(&at, at.table->space + 1, at.table->nodes[at.table->space].next) != OFF;
}

/* The space, and what follows it. They are read along the table that has all of that, as a table
 * without words may have nothing below it, or not all. */
static bool read_space(const reading *from) {
  const tsl__linear_node *n = from->table->nodes + from->table->space, *on = take_other(from, n);
  return on && (on != n + 1 || from->row_of[1] < FIRST || read_spaced(from));
}

/* All below the root: what follows a space apart from the rest, if anything does. */
static bool read_root(const reading *from) {
  reading at = *from;
  if (!cover(&at, at.row_of[0], false)) return false;
  uint32_t space = at.table->space, i = space ? read_on(&at, 1, space) : 1;
  if (space && i != OFF) i = read_space(from) ? at.table->nodes[space].next : OFF;
  return i != OFF && read_on(&at, i, at.table->n) != OFF;
}

const tsl__linear *tsl__linear_of(const tsl__space *space, const tsl__state_rec *r, uint32_t node) {
  const tsl__linear *t = tsl__linear_table(space);
  const tsl__trie_node *n = &space->vocab->trie.nodes[node];
  return t && n->end - n->own_end >= t->least && r->live_count >= TSL__LINEAR_BYTES ? t : NULL;
}

bool tsl__linear_beats(const tsl__space *space, const tsl__linear *t, const tsl__state_rec *r,
                       const tsl__hint *h, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  uint64_t entered = 0, tokens = n->end - n->own_end;
  for (int w = 0; w < 4; w++)
    for (uint64_t bits = h->exits.w[w] & r->live.w[w]; bits; bits &= bits - 1)
      entered += t->above[w * 64 + __builtin_ctzll(bits)];
  /* of the part below this node as of the whole */
  return entered * ENTERED > t->n && tokens >= t->least;
}

/* The rows that the readings of one mask share; NULL: out of memory. */
static table *rows_for_reading(tsl__space *space) {
  if (!space->walking.rows && (space->walking.rows = tsl__alloc(&space->alloc, sizeof(table))))
    space->walking.rows->n = 0;
  return space->walking.rows;
}

void tsl__linear_forget(tsl__space *space) {
  tsl__free(&space->alloc, space->walking.rows, sizeof(table));
  space->walking.rows = NULL;
}

bool tsl__linear_read(tsl__space *space, const tsl__linear *t, const tsl__linear_from *from,
                      uint32_t *marks, tsl__linear_asides *aside) {
  size_t depths = (size_t)space->vocab->trie.nodes[0].height + 1;
  uint32_t i = t->at[from->node], depth = from->node ? t->nodes[i].above + 1u : 0;
  reading at = {space, t,     rows_for_reading(space),       tsl__alloc(&space->alloc, depths),
                marks, aside, (int)from->depth - (int)depth, from->last};
  const tsl__state_rec *r = tsl__state_expanded(space, from->state);
  bool fine = r && at.rows && at.row_of;
  if (fine) {
    at.row_of[depth] = begin_rows(at.rows, r, from);
    fine = i == 0          ? read_root(&at)
           : i == t->space ? read_spaced(&at)
                           : read_on(&at, i + 1, t->nodes[i].next) != OFF;
  } else if (r) {
    tsl__space_no_memory(space);
  }
  if (!space->walking.depth) tsl__linear_forget(space);
  tsl__free(&space->alloc, at.row_of, depths);
  return fine;
}

/* ---- quotes ---------------------------------------------------------------------------------- */

/* Leave a node to the search. A node that only holds a second token is skipped. */
static bool leave(tsl__space *space, const table *rows, uint8_t from, const tsl__linear_node *n,
                  tsl__linear_asides *aside) {
  if (n->node == UINT32_MAX) return true;
  tsl__linear_aside a = {tsl__state_step(space, rows->record[from], n->byte), rows->count[from],
                         n->node, (uint16_t)(n->above + 1), n->below};
  return tsl__vec_push(&space->alloc, aside, a) || tsl__space_no_memory(space);
}

/* A node that lives is found. Returns the node to read on from. */
static const tsl__linear_node *find_node(const table *rows, uint8_t from, uint8_t to,
                                         const tsl__linear_node *n, const tsl__linear_node *next,
                                         uint32_t tokens, tsl__linear_found *found) {
  uint32_t count = to >= FIRST ? rows->count[to] : rows->count[from] + 1;
  if (n->above >= found->reach) found->reach = n->above + 1u;
  if (count > found->top) found->top = count;
  found->tokens[found->n] = n->token;
  found->n += n->token < tokens;
  if (to != ENDS) return n + 1;
  found->left[found->left_n] = n->node;
  found->left_n += next != n + 1;
  return next;
}

static bool read_quoted(tsl__space *space, const tsl__linear *q, table *rows, uint8_t *row_of,
                        const tsl__bytes *letters, tsl__linear_found *found,
                        tsl__linear_asides *aside) {
  uint32_t met = 0;
  for (const tsl__linear_node *n = q->nodes + 1, *end = q->nodes + q->n; n < end; met++) {
    const tsl__linear_node *next = q->nodes + n->next;
    uint8_t from = row_of[n->above],
            to = n->below && !tsl__bytes_has(letters, n->byte) ? DEAD : rows->to[from][n->byte];
    if (to == UNKNOWN && next != n + 1)
      to = find_out(space, rows, from, n->byte);
    else if (to == UNKNOWN && !tsl__state_step(space, rows->record[from], n->byte))
      to = DEAD; /* nothing below: where it leads does not matter */
    row_of[n->above + 1] = to;
    if (to == ASIDE && !leave(space, rows, from, n, aside)) return false;
    n = to == DEAD || to == ASIDE ? next : find_node(rows, from, to, n, next, q->tokens, found);
  }
  return tsl__space_step(space, met / 4);
}

bool tsl__linear_read_quoted(tsl__space *space, const tsl__linear *quoted,
                             const tsl__linear_from *from, const tsl__bytes *letters,
                             tsl__linear_found *found, tsl__linear_asides *aside) {
  size_t depths = (size_t)space->vocab->trie.nodes[0].height + 1;
  table *rows = tsl__alloc(&space->alloc, sizeof *rows);
  uint8_t *row_of = rows ? tsl__alloc(&space->alloc, depths) : NULL;
  const tsl__state_rec *r = tsl__state_expanded(space, from->state);
  bool fine = r && (row_of || tsl__space_no_memory(space));
  if (fine) {
    row_of[0] = start_rows(rows, r, from->state, from->count);
    rows->ends = true;
    fine = read_quoted(space, quoted, rows, row_of, letters, found, aside);
  }
  tsl__free(&space->alloc, row_of, depths);
  tsl__free(&space->alloc, rows, sizeof *rows);
  return fine;
}
