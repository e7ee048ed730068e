/* core_rules.c - the core rules of RFC 5234, appendix B.1.
 *
 * A grammar that names one of these without a definition of its own gets it from here. So they are
 * text, read by the same parser: each line is one rule, and only the lines that are requested are
 * read. A rule may name others of the list, which are then requested in turn.
 *
 * Example   stamp = 8DIGIT "T" 6DIGIT     DIGIT is not defined: the line "DIGIT = ..." is read.
 *
 * Tested by tests/abnf/test_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/abnf.h"

const char tsl__abnf_core_rules[] =
    "ALPHA = %x41-5A / %x61-7A\n"
    "BIT = \"0\" / \"1\"\n"
    "CHAR = %x01-7F\n"
    "CR = %x0D\n"
    "CRLF = CR LF\n"
    "CTL = %x00-1F / %x7F\n"
    "DIGIT = %x30-39\n"
    "DQUOTE = %x22\n"
    "HEXDIG = DIGIT / \"A\" / \"B\" / \"C\" / \"D\" / \"E\" / \"F\"\n"
    "HTAB = %x09\n"
    "LF = %x0A\n"
    "LWSP = *(WSP / CRLF WSP)\n"
    "OCTET = %x00-FF\n"
    "SP = %x20\n"
    "VCHAR = %x21-7E\n"
    "WSP = SP / HTAB\n";
