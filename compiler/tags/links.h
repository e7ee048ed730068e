/* links.h - many strings as a trie with failure links (Aho, Corasick 1975). stops.c finds in it how
 * the strings overlap; first.c follows a text along it.
 *
 * The node of a text is the longest suffix of the text with which some string begins. The link of a
 * node leads to the longest proper suffix of it that is a node, too.
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
  /* child: the first node below. next: its next sibling. link: the longest proper suffix that is a
   * node. 0: none, or the root */
  uint32_t child, next, link;
  uint8_t byte;
  /* ends: a string ends here. holds: a string is a proper suffix of this node. begun: this node is
   * a proper suffix of a string */
  bool ends, holds, begun;
} tsl__link;

typedef struct tsl__links {
  tsl__exprs *x;
  tsl__link *at; /* the nodes: the root, then in the order in which they were made */
  uint32_t *row; /* the numbers of the nodes, shorter texts first */
  uint32_t n;
} tsl__links;

/* The node below `from` by a byte; 0: none. *seen: how many nodes were compared, or one more. */
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
