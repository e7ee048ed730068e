/* lockstep.h - a string of commands drives a matcher and the naive oracle through the same calls.
 * Whatever the two do not agree on is a finding.
 *
 * Input     kind (1 byte), grammar text, NUL, commands. kind & 3: 0, 1 JSON Schema; 2 regex; 3
 *           GBNF; the other bits are options (see compile_input).
 * Commands  one byte each, its lower four bits name the command, the upper four are its number:
 *             0 to 4  compare the masks, accept the allowed token that the next byte chooses
 *             5       the masks of all copies in one batch: each is what its matcher says alone
 *             6       accept any token (next two bytes): accepted exactly if the oracle accepts it,
 *                     else nothing changes
 *             7       roll back `number` tokens; more than there are is refused
 *             8       fork, and go on with the copy (at most MATCHERS)
 *             9       go on with another of the copies
 *             10      validate a draft of `number` tokens (next bytes); the matcher does not move
 *             11      accept `number` bytes (next bytes) at once
 *             12      the bytes that may come next, those that must, completeness and the shortest
 *                     completion
 *             13      borrow the mask: the same words, and equal masks have equal identities
 *             14      begin anew
 *             15      let another matcher of the grammar make the next mask first (the tables grow
 *                     in between)
 * Repeats   The oracle does not know that items or names must be unique. Where they must, the
 *           engine may allow less; each thing less repeats something (tests/judges/repeats.h), or
 *           no way on is found that does not.
 * Table     Where the last byte is odd, the trie is read along the table of runtime/walk/linear.h
 *           wherever it can be. Without that, only vocabularies larger than these have that table.
 * Properties  besides agreement. An allowed token exists wherever the text is not complete (no dead
 *             end). Calls that fail change nothing. Nothing is in a table twice
 *             (tests/judges/tables.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_LOCKSTEP_H
#define TSL_TESTS_JUDGES_LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

#include "turnstile.h"

/* Run one input over a vocabulary whose token i is the byte i for i < 256; stops quietly where a
 * limit is reached. Returns the masks that were compared. */
unsigned lockstep_run(tsl_vocab *vocab, const uint8_t *data, size_t size);
/* End the process with a message if something does not hold. */
void lockstep_require(int truth, const char *what);

#endif
