/* reads.c - what is known of an expression's derivatives before one is made.
 *
 * Problem   A state has up to 256 derivatives, and a derivative costs far more than a look. Most
 *           bytes lead nowhere, and most of the others lead where their neighbour does.
 * Idea      Collect two things from the parts that can be read first. `edges` says where the
 *           derivative changes from a byte to the next, and `live` which bytes can lead somewhere.
 *           One derivative for each range between two edges is enough. Each kind adds its own
 *           (kind.h).
 * Example   Of [0-9]+|nu the edges are '0', ':' (behind '9'), 'n' and 'o', the live bytes are the
 *           digits and 'n': two derivatives instead of 256.
 * Classes   A class of non-ASCII characters is spelled in some ten ways, and a pattern has it in
 *           every state: what it reads is remembered.
 * Cost      One look at each part that can be read first.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

bool tsl__first_bytes(const tsl__exprs *x, const tsl__node *n, tsl__bytes *out) {
  if (n->kind == TSL__K_LIT) return tsl__bytes_add(out, *tsl__literal_at(x, n->a)), true;
  if (n->kind != TSL__K_STRSET && n->kind != TSL__K_KEYS) return false;
  const tsl__strings *s = tsl__strings_at(x, n->a);
  for (uint32_t i = n->b; i < n->c;) {
    if (s->at[i].length == n->d) {
      i++;
      continue;
    }
    uint8_t byte = (uint8_t)s->at[i].at[n->d];
    tsl__bytes_add(out, byte);
    uint32_t lo = i, hi = n->c;
    tsl__strings_narrow(s, &lo, &hi, n->d, byte);
    i = hi;
  }
  return true;
}

const tsl__known_reads *tsl__class_reads(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  if (!x->known_reads &&
      !(x->known_reads = tsl__alloc_zero(&x->alloc, TSL__KNOWN_READS * sizeof *x->known_reads))) {
    tsl__expr_no_memory(x);
    return NULL;
  }
  tsl__known_reads *known = &x->known_reads[tsl__mix(e) % TSL__KNOWN_READS];
  if (known->e != e) {
    tsl__reads own = {.guessed = false};
    for (uint32_t i = 0; i < n->b; i++) tsl__reads_add(x, tsl__list_at(x, n->a)[i], false, &own);
    if (x->status != TSL_OK) return NULL;
    *known =
        (tsl__known_reads){.e = e, .guessed = own.guessed, .edges = own.edges, .live = own.live};
  }
  return known;
}

static size_t chain_place(tsl__expr e, bool last) {
  return tsl__mix((uint64_t)e << 1 | last) % TSL__CHAIN_READS;
}

const tsl__known_reads *tsl__chain_reads(const tsl__exprs *x, tsl__expr e, bool last) {
  const tsl__known_reads *known = x->chain_reads ? &x->chain_reads[chain_place(e, last)] : NULL;
  return known && known->e == e && known->last == last ? known : NULL;
}

const tsl__known_reads *tsl__chain_reads_note(tsl__exprs *x, const tsl__known_reads *own) {
  if (!x->chain_reads)
    x->chain_reads = tsl__alloc_zero(&x->alloc, TSL__CHAIN_READS * sizeof *x->chain_reads);
  if (!x->chain_reads) {
    tsl__expr_no_memory(x);
    return NULL;
  }
  tsl__known_reads *slot = &x->chain_reads[chain_place(own->e, own->last)];
  *slot = *own;
  return slot;
}

void tsl__reads_add(tsl__exprs *x, tsl__expr e, bool last, tsl__reads *out) {
  while (e && x->status == TSL_OK) { /* what is read after a failure counts for nothing */
    tsl__node n = tsl__node_at(x, e);
    const tsl__kind_ops *kind = tsl__kinds[n.kind];
    tsl__worked(x, 1);
    e = kind->reads ? kind->reads(x, e, &n, &last, out) : TSL__NONE;
  }
}

void tsl__reads_of(tsl__exprs *x, tsl__expr e, tsl__reads *out) {
  memset(out, 0, sizeof *out);
  tsl__reads_add(x, e, true, out);
}

void tsl__boundaries(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__reads r;
  tsl__reads_of(x, e, &r);
  *out = r.edges;
}
