/* tags_json.h - structural tags as JSON, for tests that compile them.
 *
 * TAG("<t>", ANY, "</t>") is the JSON of a tag with any text in it; NESTED(CLOSED(…)) that of a
 * schema whose values are elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TAGS_JSON_H
#define TSL_TESTS_SUPPORT_TAGS_JSON_H

#include "tests/support/tags.h"

#define TAG(b, c, e) "{\"type\":\"tag\",\"begin\":\"" b "\",\"content\":" c ",\"end\":\"" e "\"}"
#define CONST(t) "{\"type\":\"const_string\",\"value\":\"" t "\"}"
#define SCHEMA "{\"type\":\"json_schema\",\"json_schema\":" S "}"
#define STYLED(style) "{\"type\":\"json_schema\",\"style\":\"" style "\",\"json_schema\":" S "}"
#define NESTED(schema) \
  "{\"type\":\"json_schema\",\"style\":\"minimax_m3_xml\",\"json_schema\":" schema "}"
#define CLOSED(properties, required)                                             \
  "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required \
  "],\"additionalProperties\":false}"
#define TREE                                                                                     \
  "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"k\":{\"type\":\"array\"," \
  "\"items\":{\"$ref\":\"#\"},\"maxItems\":2}},\"required\":[\"n\"]}"
#define LOOSE                                                                                 \
  CLOSED("\"a\":{},\"b\":{\"type\":[\"array\",\"object\"],\"properties\":{\"c\":{}}},\"n\":{" \
         "\"type\":[\"integer\",\"string\"]},\"q\":{\"type\":\"string\"}",                    \
         "")
#define ANY "{\"type\":\"any_text\"}"

#endif
