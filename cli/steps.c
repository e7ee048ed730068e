/* steps.c - a generation as a table. See steps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/steps.h"

#include <inttypes.h>

void steps_head(FILE *to) {
  const char *bold = cli_style_on(to, CLI_BOLD), *plain = cli_style_on(to, CLI_PLAIN);
  fprintf(to, "%s%5s  %9s  %8s  %9s  %s%s\n", bold, "step", "allowed", "legal", "mask", "token",
          plain);
}

void steps_line(FILE *to, const generation *g, uint64_t number, const generation_step *step) {
  size_t length;
  const uint8_t *bytes = tsl_vocab_bytes(g->vocab, step->draw.token, &length);
  const char *why = step->closing ? "closing" : step->forced ? "forced" : NULL;
  bool changed = !why && step->want.legal_mass < 0.1;
  fprintf(to, "%5" PRIu64 "  %9" PRIu32 "  ", number, step->draw.allowed);
  fputs(cli_style_on(to, changed ? CLI_RED : CLI_GREEN), to);
  if (why)
    fprintf(to, "%8s", why);
  else
    fprintf(to, "%7.3f%%", step->want.legal_mass * 100);
  fprintf(to, "%s  %6.2f µs  ", cli_style_on(to, CLI_PLAIN), step->mask_us);
  cli_print_quoted(to, bytes, length, 60);
  putc('\n', to);
}
