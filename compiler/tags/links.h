/* links.h - many strings as a trie with failure links (Aho, Corasick 1975). Of it stops.c sees how
 * they overlap, and first.c follows a text along it.
 *
 * The node of a text is that of its longest end that some string begins with. The link of a node
 * leads to the longest proper suffix of it that is a node, too.
 *
 * Example   Of "ab" and "bc": the nodes a, ab, b, bc. The link of ab leads to b, all others to the
 *           root. After the text "xab" the node is ab, and a `c` leads to bc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TAGS_LINKS_H
#define TSL_COMPILER_TAGS_LINKS_H

#include "compiler/tags/tags.h"

typedef struct tsl__link {
  /* the first one below, the next beside, and the longest suffix; 0: none, the root */
  uint32_t child, next, link;
  uint8_t byte;
  /* a string ends here; some string ends at one of its proper suffixes; some string's end has it as
   * a proper suffix */
  bool ends, holds, begun;
} tsl__link;

typedef struct tsl__links {
  tsl__exprs *x;
  tsl__link *at; /* the root, and then in the order that they were made */
  uint32_t *row; /* the same, shorter ones first */
  uint32_t n;
} tsl__links;

/* The node below `from` by a byte; 0: none. *seen: nodes that were looked at, and one. */
static inline uint32_t tsl__links_below(const tsl__link *at, uint32_t from, uint8_t byte,
                                        uint32_t *seen) {
  uint32_t i = at[from].child;
  for (*seen = 1; i && at[i].byte != byte; i = at[i].next) ++*seen;
  return i;
}

/* The trie of n strings, in memory of the tree of tags. False after a failure. */
bool tsl__links_make(struct tsl__tags_lowering *t, const tsl__string *strings, uint32_t n,
                     tsl__links *out);

#endif
