/* decode.h - beams and drafts on logits that a user brings (turnstile sample --beam, --drafts).
 *
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_BROUGHT_DECODE_H
#define TSL_CLI_BROUGHT_DECODE_H

#include "cli/brought/rows.h"
#include "cli/source.h"

/* The most likely texts, where each line has "prefix", a list of ids, and "logits". A line of JSON
 * for each text. The exit code. */
int brought_beams(const source *s, rows *r, const tsl_beam_options *options);

/* Each line has "drafts", a list of ids, and "logits", a row at the position and one after each
 * draft. A line may have "draft_logits", the row from which each draft was drawn. A line of JSON
 * for each: the drafts that were accepted, and the token after them. The exit code. */
int brought_drafts(const source *s, rows *r, uint64_t seed, float temperature);

/* Print ids as a list of JSON. */
void brought_print_ids(const tsl_token *ids, size_t n);

#endif
