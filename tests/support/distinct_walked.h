/* distinct_walked.h - schemas whose items or names must differ: random walks under masks go through
 * all of them (test_distinct.c, test_distinct_tokens.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_DISTINCT_WALKED_H
#define TSL_TESTS_SUPPORT_DISTINCT_WALKED_H

static const char *const walked[] = {
    /* `{},` is a token of some vocabularies */
    "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[{}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"string\","
    "\"maxLength\":2}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"integer\","
    "\"minimum\":0,\"maximum\":30}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"string\","
    "\"pattern\":\"^(a|b.?|[0-9]{2})$\"}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"object\","
    "\"properties\":{\"id\":{\"enum\":[1,2,\"a\"]},\"x\":{\"type\":\"boolean\"}},"
    "\"additionalProperties\":false}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"array\","
    "\"maxItems\":2,\"items\":{\"type\":[\"boolean\",\"null\"]}}}",
    "{\"type\":\"object\"}",
    "{\"type\":\"object\",\"minProperties\":3,\"additionalProperties\":{\"type\":\"null\"}}",
    "{\"type\":\"object\",\"minProperties\":2,\"patternProperties\":{\"^(a|ab?c*)$\":{\"const\":0}}"
    ",\"additionalProperties\":false}",
    "{\"type\":\"object\",\"properties\":{\"ab\":{\"const\":1}},\"additionalProperties\":{\"type\":"
    "\"boolean\"},\"minProperties\":2}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"object\","
    "\"minProperties\":1,\"additionalProperties\":{\"const\":0},\"propertyNames\":{\"maxLength\":2}"
    "}}",
    /* nothing is written without an escape */
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"string\",\"pattern\":\"^[\\\\n\\\\t]{1,9}$\"}}",
    "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[\\\\n\\\\u001f]{1,2}$\"},"
    "\"minProperties\":2}",
    /* nor without a digit that is not 0 */
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"maxItems\":4,\"items\":{\"type\":"
    "\"string\",\"pattern\":\"^[\\\\u001e\\\\u001f]{1,2}$\"}}",
    "{\"$ref\":\"#/$defs/l\",\"$defs\":{\"l\":{\"anyOf\":[{\"$ref\":\"#/$defs/"
    "m\"},{\"type\":\"array\",\"minItems\":3,\"items\":{\"enum\":[\"a\",\"ab\",\"b\"]},"
    "\"uniqueItems\":true}]},"
    "\"m\":{\"type\":\"array\",\"uniqueItems\":true,\"prefixItems\":[{\"const\":\"a\"}],\"items\":{"
    "\"$ref\":\"#/$defs/"
    "n\"},\"maxItems\":3},\"n\":{\"type\":[\"boolean\",\"string\"],\"maxLength\":2}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"anyOf\":[{\"type\":"
    "\"object\",\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"],\"additionalProperties\":"
    "false},"
    "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\",\"maxLength\":3}},"
    "\"required\":[\"b\"],\"additionalProperties\":false}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"object\",\"properties\":{\"k\":{\"enum\":[1,2]},\"s\":{\"type\":\"string\"}},\"required\":["
    "\"k\"],\"additionalProperties\":false}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"maxItems\":5,\"items\":{\"anyOf\":[{"
    "\"const\":1},{\"enum\":[\"a\",\"ab\"]},{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
    "\"number\"}},\"required\":[\"a\"],\"additionalProperties\":false}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"maxItems\":2,\"items\":{\"anyOf\":[{\"type\":\"string\",\"maxLength\":"
    "1},{\"type\":\"array\",\"maxItems\":1,\"items\":{\"type\":\"string\"}}]}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"object\","
    "\"propertyNames\":{\"pattern\":\"^[ab]$\"},\"additionalProperties\":{\"enum\":[\"x\",\"\",1]}}"
    "}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"object\",\"propertyNames\":{\"pattern\":\"^[ab]$\"},\"additionalProperties\":{\"anyOf\":[{"
    "\"type\":\"boolean\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":6,\"items\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"prefixItems\":[{\"enum\":[1,2]},{\"enum\":[1,2]},{\"enum\":[1,2]},{"
    "\"type\":\"string\"}],\"items\":false}}",
    /* some members may be anything, some not */
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"array\","
    "\"prefixItems\":[{\"enum\":[1,2]},{\"type\":\"string\"}],\"items\":false}}",
    "{\"type\":\"array\",\"minItems\":3,\"uniqueItems\":true,\"items\":{\"type\":\"array\","
    "\"items\":{\"type\":\"boolean\"}}}",
    "{\"type\":\"array\",\"minItems\":4,\"uniqueItems\":true,\"items\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":\"boolean\"}},\"required\":["
    "\"a\",\"b\"],\"additionalProperties\":false}}",
    "{\"type\":\"array\",\"minItems\":5,\"uniqueItems\":true,\"items\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":\"null\"}},\"maxProperties\":2,"
    "\"minProperties\":0,\"additionalProperties\":{\"const\":1},\"propertyNames\":{\"enum\":[\"a\","
    "\"b\",\"c\"]}}}",
    "{\"type\":\"array\",\"minItems\":5,\"uniqueItems\":true,\"items\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"maxItems\":2,\"items\":{\"type\":\"boolean\"}}}",
    "{\"anyOf\":[{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":"
    "\"integer\",\"maximum\":99,\"minimum\":0}},{\"type\":\"array\",\"maxItems\":2,\"items\":{"
    "\"enum\":[1,11]}}]}",
};

#endif
