/* trace_page.h - the inspector as text: what comes before the record, and what comes after it. Made
 * of page/ when the tool is built (page/bundle.py).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_TRACE_PAGE_H
#define TSL_CLI_TRACE_PAGE_H

#include <stddef.h>

extern const char trace_page_head[], trace_page_tail[];
extern const size_t trace_page_head_length, trace_page_tail_length;

#endif
