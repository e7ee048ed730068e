/* strict.h - XGrammar's strict_mode: a JSON Schema whose objects and arrays hold what they list,
 * and nothing else.
 *
 * The text of the schema is copied. A schema in the text that lists members and says nothing of
 * others gets "unevaluatedProperties": false before its end. A schema lists members by
 * "properties", "patternProperties" or "allOf". The type "object" lists members beside "required",
 * "minProperties" or "maxProperties"; alone it is any object. In the same way "prefixItems" without
 * "items" gets "unevaluatedItems": false. Parts of an allOf are left open: only their whole can be
 * closed. In the text of a structural tag every "json_schema" or "schema" is a schema. What is in
 * enum, const, default and other values is no schema, and stays as it is. Malformed text is copied
 * as it stands, for the compiler to refuse with its place in the text.
 *
 * Schemas nested deeper than 512 are left as they are, since the compiler refuses them.
 *
 * Tested by tests/hosts/xgrammar.cpp
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef XGRAMMAR_TURNSTILE_STRICT_H_
#define XGRAMMAR_TURNSTILE_STRICT_H_

#include <cstring>
#include <string>

namespace xgrammar {
namespace turnstile_detail {

class Closer {
public:
  explicit Closer(const std::string &text) : text_(text) {}
  /* The closed schema, or structural tag with its schemas closed; the text itself where it is
   * malformed. */
  std::string run(bool is_tag = false) {
    value(is_tag ? kTag : kSchema, 0);
    space();
    return good_ && at_ == text_.size() ? out_ : text_;
  }

private:
  /* What a value is: a schema, or one whose end stays open; an object of schemas; an array of
   * schemas, or of open ones. Or a part of a structural tag, or anything else. */
  enum What { kSchema, kOpen, kMap, kList, kOpenList, kTag, kData };
  const std::string &text_;
  std::string out_;
  size_t at_ = 0;
  bool good_ = true;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void copy() { out_ += text_[at_++]; }
  void space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_])) copy();
  }
  bool take(char c) {
    space();
    if (peek() != c) return false;
    copy();
    return true;
  }

  std::string string() {
    size_t begin = at_;
    if (!take('"')) return good_ = false, "";
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) copy();
      copy();
    }
    good_ = good_ && take('"');
    return text_.substr(begin, at_ - begin);
  }

  static What inside(const std::string &key, What what) {
    static const char *const maps[] = {"\"properties\"", "\"patternProperties\"", "\"$defs\"",
                                       "\"definitions\"", "\"dependentSchemas\""};
    static const char *const lists[] = {"\"anyOf\"", "\"oneOf\"", "\"prefixItems\""};
    static const char *const ones[] = {"\"items\"",
                                       "\"additionalProperties\"",
                                       "\"then\"",
                                       "\"else\"",
                                       "\"contains\"",
                                       "\"propertyNames\"",
                                       "\"unevaluatedItems\"",
                                       "\"unevaluatedProperties\""};
    if (what == kMap) return kSchema;
    if (what == kTag) return key == "\"json_schema\"" || key == "\"schema\"" ? kSchema : kTag;
    if (what != kSchema && what != kOpen) return kData;
    for (const char *name : maps)
      if (key == name) return kMap;
    for (const char *name : lists)
      if (key == name) return kList;
    for (const char *name : ones)
      if (key == name) return kSchema;
    return key == "\"allOf\"" ? kOpenList : kData;
  }

  void value(What what, int depth) {
    space();
    if (depth > 512) good_ = false;
    if (!good_) return;
    if (peek() == '{') return object(what, depth);
    if (peek() == '[') return array(what, depth);
    if (peek() == '"') return void(string());
    size_t begin = at_;
    while (at_ < text_.size() && !std::strchr(",]} \t\r\n", text_[at_])) copy();
    good_ = at_ > begin;
  }

  void array(What what, int depth) {
    copy();
    if (take(']')) return;
    do
      value(what == kList       ? kSchema
            : what == kOpenList ? kOpen
            : what == kTag      ? kTag
                                : kData,
            depth + 1);
    while (good_ && take(','));
    good_ = good_ && take(']');
  }

  void object(What what, int depth) {
    bool lists = false, is_object = false, bounded = false, others = false, prefix = false,
         items = false, members = false;
    copy();
    if (take('}')) return;
    do {
      space();
      std::string key = string();
      if (!good_ || !take(':')) return void(good_ = false);
      space();
      members = true;
      lists = lists || key == "\"properties\"" || key == "\"patternProperties\"" ||
              (key == "\"allOf\"" && text_.compare(at_, 2, "[]") != 0);
      is_object = is_object || (key == "\"type\"" && text_.compare(at_, 8, "\"object\"") == 0);
      bounded = bounded || key == "\"required\"" || key == "\"minProperties\"" ||
                key == "\"maxProperties\"";
      others = others || key == "\"additionalProperties\"" || key == "\"unevaluatedProperties\"";
      prefix = prefix || key == "\"prefixItems\"";
      items = items || key == "\"items\"" || key == "\"unevaluatedItems\"";
      value(inside(key, what), depth + 1);
    } while (good_ && take(','));
    if (what == kSchema && members && (lists || (is_object && bounded)) && !others)
      out_ += ", \"unevaluatedProperties\": false";
    if (what == kSchema && members && prefix && !items) out_ += ", \"unevaluatedItems\": false";
    good_ = good_ && take('}');
  }
};

inline std::string close_schema(const std::string &schema) { return Closer(schema).run(); }
inline std::string close_tag(const std::string &tag) { return Closer(tag).run(true); }

} // namespace turnstile_detail
} // namespace xgrammar

#endif // XGRAMMAR_TURNSTILE_STRICT_H_
