/* kind.c - see kind.h: the table of kinds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

const tsl__kind_ops *const tsl__kinds[TSL__KIND_COUNT] = {
#define TSL__KIND(name, functions, content, layer, text) [TSL__##name] = &tsl__kind_##functions,
#include "compiler/expr/kind.def"
#undef TSL__KIND
};
