/* require.h - what ends a fuzz target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_FUZZ_REQUIRE_H
#define TSL_FUZZ_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

/* End the process with a message if something does not hold. */
#define require(truth, what) \
  ((truth) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what), abort()))

#endif
