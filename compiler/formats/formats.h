/* formats.h - what the `format` keyword of JSON Schema asserts.
 *
 * Exact after their RFCs:
 *   date           RFC 3339, with leap years.
 *   time, date-time  RFC 3339. Second 60 is allowed only at 23:59 UTC, by arithmetic on the offset.
 *                  Whether that day had a leap second is not checked. Draft 3's time is hh:mm:ss.
 *   duration       RFC 3339, appendix A.
 *   email          RFC 5321 Mailbox, without its limits of length.
 *   ipv4, ipv6     RFC 3986, section 3.2.2; no scope.
 *   uri, uri-reference  RFC 3986. iri, iri-reference: RFC 3987. uri-template: RFC 6570.
 *   uuid           RFC 4122, either case.
 *   json-pointer   RFC 6901.
 *   relative-json-pointer
 *                  the ABNF of draft-bhutton-relative-json-pointer-00, with changes of the index:
 *                  0-1 and 0+1/a. 0-1# is refused: it occurs in an example only.
 * With limits:
 *   hostname       RFC 1123 with RFC 5890's reserved labels. A label that begins with "xn--" is an
 *                  A-label: its Punycode decodes to a U-label as below. A few valid ones are
 *                  refused (a_label.c).
 *   idn-hostname   Labels of code points with the derived property that RFC 5892 gives them, and
 *                  its rules of context. The Bidi rule (RFC 5893) holds for all labels of a name.
 *                  The Unicode version is that of idn_points.def. Two things are not checked.
 *                  Normalisation across code points. That an A-label has at most 63 octets, where
 *                  a U-label is written: it has at most 59 code points instead.
 *   idn-email      RFC 6531: any code point past ASCII in the local part; the domain as
 *                  idn-hostname or an address literal.
 *   regex          ECMA-262 (2024) with the flag u, names of groups, references, ranges, counts and
 *                  properties included; its limits are in regex_format.c.
 *
 * Tested by tests/formats/test_formats.c, and against the JSON Schema Test Suite where it is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_FORMATS_FORMATS_H
#define TSL_COMPILER_FORMATS_FORMATS_H

#include "compiler/expr/expr.h"

/* The expression over the decoded text for a format name. TSL__NONE with *known == false if nobody
 * knows the name, or it can't be enforced; TSL__NONE with *known == true if x failed (see
 * tsl__exprs_status). Cost: microseconds; milliseconds for idn-hostname and idn-email: keep the
 * result. */
tsl__expr tsl__format_expr(tsl__exprs *x, const char *name, size_t length, bool *known);

/* The name of format `index`, from 0 (static); NULL behind the last one. */
const char *tsl__format_name(size_t index);

/* What draft 3 calls a time: hh:mm:ss, without fraction and offset. */
tsl__expr tsl__format_clock(tsl__exprs *x);

/* A pattern of the library itself, which is correct: TSL__NONE only if x fails (sticky). */
tsl__expr tsl__format_pattern(tsl__exprs *x, const char *pattern);

/* host.c: the rest of a host name at the beginning of a label, `total` octets having been read;
 * TSL__NAME_FREE (label.h): there are no limits. `idn` NULL: ASCII only. `name`: TSL__NAME_ flags
 * of the labels before. */
tsl__expr tsl__format_hostname(tsl__exprs *x);
tsl__expr tsl__format_host_label(tsl__exprs *x, void *idn, uint32_t total, uint32_t name);

/* a_label.c: the rest of a host name after "xn--", which is counted in `total`. TSL__NONE: there is
 * no room. No label that has begun takes more octets than this to its end. */
#define TSL__A_LABEL_TO_GO 12u
tsl__expr tsl__format_a_label(tsl__exprs *x, void *idn, uint32_t total, uint32_t name);

/* regex_format.c: a whole pattern. */
tsl__expr tsl__format_regex(tsl__exprs *x);

/* idn.c: what follows the first byte of a dot after a label; TSL__NONE if that byte begins no dot.
 * `total`: the code points that were read, or TSL__NAME_FREE. */
tsl__expr tsl__format_idn_hostname(tsl__exprs *x);
tsl__expr tsl__format_idn_dot(tsl__exprs *x, void *idn, uint32_t total, uint32_t name,
                              uint8_t byte);

#endif
