/* survey.h - how many tokens are allowed where: positions of texts, counted by state and by size of
 * the mask.
 *
 * A position is counted for the state of every frame that reads the next byte. Texts are followed
 * byte by byte, or drawn from the n-gram model token by token. Tested by
 * tests/programs/test_pictures.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_SURVEY_H
#define TSL_CLI_SURVEY_H

#include "cli/pictures/pictures.h"
#include "cli/source.h"

/* masks of 2^i to 2^(i + 1) - 1 tokens, for i from 0; none at all counts as 2^0 */
#define SURVEY_SIZES 24

typedef struct survey {
  picture_state *states; /* by number */
  uint32_t count;        /* of numbers in `states` */
  uint64_t sizes[SURVEY_SIZES];
  uint64_t positions;
} survey;

/* Count the positions of a text, as far as it matches. False after a complaint. */
bool survey_text(survey *v, const source *s, const char *text, size_t length);
/* Count the positions of `n` texts that are drawn. False after a complaint. */
bool survey_sample(survey *v, const source *s, uint64_t n);
/* The histogram, and the states with the most and the fewest tokens that were allowed there. False
 * after a complaint. */
bool survey_print(const survey *v, const tsl_grammar *grammar);
void survey_free(survey *v);

#endif
