/* library.c - the grammars that are built in: the terminals of Lark's common, python and unicode.
 *
 * Problem   Nearly every grammar imports NUMBER, WS or ESCAPED_STRING from Lark's own files. Those
 *           are not there where a server compiles a stranger's text.
 * Idea      Their terminals are written anew here, from what they are documented to match, as Lark
 *           texts that go through the same passes. A grammar may %override and %extend them.
 * Example   %import common.INT        DIGIT: "0".."9"   INT: DIGIT+
 *
 * They are written as what their texts are, without look-behinds. A delimited string ends at its
 * first closing delimiter. _STRING_INNER and _STRING_ESC_INNER are lazy: they end where what
 * follows them in a terminal first can.
 *
 * Tested by tests/lark/test_lark.c, tests/programs/test_lark.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

static const char common[] = "DIGIT: /[0-9]/\n"
                             "HEXDIGIT: /[0-9A-Fa-f]/\n"
                             "INT: /[0-9]+/\n"
                             "SIGNED_INT: /[+-]?[0-9]+/\n"
                             "DECIMAL: /[0-9]+\\.[0-9]*|\\.[0-9]+/\n"
                             "_EXP: /[eE][+-]?[0-9]+/\n"
                             "FLOAT: INT _EXP | DECIMAL _EXP?\n"
                             "SIGNED_FLOAT: /[+-]?/ FLOAT\n"
                             "NUMBER: FLOAT | INT\n"
                             "SIGNED_NUMBER: /[+-]?/ NUMBER\n"
                             "_STRING_INNER: /.*?/\n"
                             "_STRING_ESC_INNER: /([^\\\\\\n]|\\\\.)*?/\n"
                             "ESCAPED_STRING: /\"([^\"\\\\\\n]|\\\\[^\\n])*\"/\n"
                             "LCASE_LETTER: /[a-z]/\n"
                             "UCASE_LETTER: /[A-Z]/\n"
                             "LETTER: /[A-Za-z]/\n"
                             "WORD: /[A-Za-z]+/\n"
                             "CNAME: /[A-Za-z_][A-Za-z_0-9]*/\n"
                             "WS_INLINE: /[ \\t]+/\n"
                             "WS: /[ \\t\\f\\r\\n]+/\n"
                             "CR: /\\r/\n"
                             "LF: /\\n/\n"
                             "NEWLINE: /(\\r?\\n)+/\n"
                             "SH_COMMENT: /#[^\\n]*/\n"
                             "CPP_COMMENT: /\\/\\/[^\\n]*/\n"
                             "C_COMMENT: /\\/\\*([^*]|\\*+[^*\\/])*\\*+\\//\n"
                             "SQL_COMMENT: /--[^\\n]*/\n";

/* Without the look-aheads: they would look at what follows the terminal. */
static const char python[] =
    "NAME: /[^\\W\\d]\\w*/\n"
    "COMMENT: /#[^\\n]*/\n"
    "SLASH: \"/\"\n"
    "ASYNC: \"async\"\n"
    "AWAIT: \"await\"\n"
    "_NEWLINE: ( /\\r?\\n[\\t ]*/ | COMMENT )+\n"
    "_PREFIX: /([ubf]?r?|r[ubf])/i\n"
    "STRING: _PREFIX ( /\"([^\"\\\\\\n]|\\\\[^\\n])*\"/ | /'([^'\\\\\\n]|\\\\[^\\n])*'/ )\n"
    "LONG_STRING: _PREFIX ( /\"\"\"([^\"\\\\]|\\\\.|\"\"?([^\"\\\\]|\\\\.))*\"\"\"/s\n"
    "    | /'''([^'\\\\]|\\\\.|''?([^'\\\\]|\\\\.))*'''/s )\n"
    "_SPECIAL_DEC: /[0-9](_?[0-9])*/\n"
    "DEC_NUMBER: /[1-9](_?[0-9])*|0(_?0)*/\n"
    "HEX_NUMBER: /0[xX](_?[0-9A-Fa-f])+/\n"
    "OCT_NUMBER: /0[oO](_?[0-7])+/\n"
    "BIN_NUMBER: /0[bB](_?[01])+/\n"
    "_EXP: /[eE][+-]?/ _SPECIAL_DEC\n"
    "DECIMAL: \".\" _SPECIAL_DEC | _SPECIAL_DEC \".\" _SPECIAL_DEC?\n"
    "FLOAT_NUMBER: _SPECIAL_DEC _EXP | DECIMAL _EXP?\n"
    "IMAG_NUMBER: (_SPECIAL_DEC | FLOAT_NUMBER) /[jJ]/\n";

static const char unicode[] = "WS_INLINE: /[ \\t\\xa0]+/\n"
                              "WS: /[ \\t\\xa0\\f\\r\\n]+/\n";

const char *tsl__lark_library(const char *name, size_t length) {
  static const struct {
    const char *name, *text;
  } all[] = {{"common", common}, {"python", python}, {"unicode", unicode}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strlen(all[i].name) == length && !memcmp(all[i].name, name, length)) return all[i].text;
  return NULL;
}
