/* core.h - the keywords of several subschemas of one value, a smallest set of which clashes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_REPORT_CORE_H
#define TSL_COMPILER_SCHEMA_REPORT_CORE_H

#include "compiler/schema/goal.h"

#define TSL__CORE_MAX 64u /* subschemas of one value */

struct core_part {
  sid id, copy;          /* a node; and the same with the keywords of the mask alone */
  uint64_t mask;         /* of its keywords; 0: the part is gone */
  const tsl__json *name; /* of `required`, the one that is needed; NULL: several, or all */
};

/* Parts that nothing satisfies together. */
struct core {
  struct schema *s;
  struct core_part at[TSL__CORE_MAX];
  uint32_t n;
  bool full; /* some part found no place: nothing is known */
};

/* What n nodes ask together. */
goal tsl__core_goal(struct schema *s, const sid *ids, uint32_t n);
/* Add a node with some of its keywords. Those that its allOf, references and so on lead to become
 * parts of their own. */
void tsl__core_add(struct core *c, sid id, uint64_t mask);
/* Drop keywords, and required names, as long as nothing satisfies what is left. */
void tsl__core_shrink(struct core *c);
/* The subschemas of a member or item that must be there, if nothing satisfies them together; how
 * many, 0: there is no such member. */
uint32_t tsl__core_inside(struct core *c, sid out[TSL__CORE_MAX]);
/* Put one subschema in place of a keyword of a part. */
void tsl__core_replace(struct core *c, uint32_t part, enum keyword k, sid by);
/* Does nothing satisfy the parts? */
bool tsl__core_is_empty(const struct core *c);

#endif
