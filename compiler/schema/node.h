/* node.h - a subschema as it was read, and what passes find out about one without a goal.
 *
 * A node is made when something leads to it and read when its turn comes (read.c). Its keywords are
 * a mask, their values an array in keyword order. The value of keyword k is at the index that is
 * the number of keywords below k in the mask. Of {"type": "string", "maxLength": 3} the mask has
 * the bits of TYPE and MAX_LENGTH, and values[1] is that of maxLength, with the count 3.
 *
 * Nodes 0 and 1 are the schemas `true` and `false`. Nodes never move. Once all are read, cycles are
 * cut (cycles.c), and from then on nothing but their memos changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_NODE_H
#define TSL_COMPILER_SCHEMA_NODE_H

#include "compiler/schema/state.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

struct keyword_value {
  tsl__json *value;
  /* subschemas in the order of the text; of a reference: its target. UINT32_MAX: a list of names in
   * `dependencies` */
  const sid *children;
  const tsl__expr *exprs; /* pattern, format: one; patternProperties: one per member */
  uint32_t count;         /* number of children; the number itself where it is a count */
  uint8_t keyword;
};

struct node {
  tsl__json *at;
  uint64_t mask;                      /* keywords it has */
  const struct keyword_value *values; /* in keyword order */
  uint32_t resource;
  /* dynamic scope: index into schema.scopes; 0 where that can't matter */
  uint32_t scope;
  uint8_t types;    /* T_...: what `type` allows, T_ALL without */
  uint8_t possible; /* T_...: values of other types are always invalid */
  bool integer;     /* numbers must be integers */
  bool digits;      /* and spelled without fraction or exponent: drafts 3 and 4 */
  bool has_scalars; /* `scalars` is known */
  bool looked_at;   /* `plain` and `plain_bytes` are known */
  /* memo of style.c: all in it plainly has a spelling, or that is being found out */
  bool nests;
  uint8_t plain; /* memo of plain.c: T_... */
  /* memo of goal.c: the goal that asks this alone, at no level; 0: none yet */
  goal alone;
  /* memo of alike.c: the first node that says the same; 0: not looked up yet */
  sid first;
  uint32_t plain_bytes;
  uint8_t scalars;                       /* memo of scalar.c: T_NULL | T_FALSE | T_TRUE */
  struct strings *strings, *not_strings; /* memo of scalar.c */
};

/* A resource: a document or what an $id makes one. */
struct resource {
  tsl__json *root;
  const char *uri; /* absolute, without fragment, NUL-terminated; "" if it has none */
  /* the URI that the document was requested by, if it names another one itself; else NULL */
  const char *requested;
  uint32_t draft;   /* one of D3 … AUTO */
  uint32_t dynamic; /* the last of its dynamic anchors (struct anchor), + 1; 0: none */
  bool recursive;   /* $recursiveAnchor: true at its root */
  bool document;    /* it is a whole document */
  /* keywords that do not assert: of vocabularies that its metaschema leaves out */
  uint64_t without;
};

struct dialect { /* what a metaschema of one's own says */
  const char *uri;
  uint32_t draft; /* the one it extends; 0: it does not say */
  bool known;     /* there is a document of that URI */
  uint64_t without;
};

struct anchor {
  uint32_t resource;
  const char *name;
  uint32_t length;
  tsl__json *at;
  uint32_t before; /* dynamic ones: that of the same resource before it, + 1; 0: none */
  bool dynamic;
};

/* ---- load.c ---------------------------------------------------------------------------------- */
/* Make a document known under a URI (without fragment); its resource is returned, UINT32_MAX after
 * a failure. */
uint32_t tsl__schema_document(struct schema *s, tsl__json *root, const char *uri, uint32_t draft);
/* The subschema that `reference` leads to from a node. False after a failure. */
bool tsl__schema_resolve(struct schema *s, const struct node *from, const tsl__json *reference,
                         tsl__json **at, uint32_t *resource, const struct anchor **anchor);
/* Does a string hold the word anywhere? */
bool tsl__schema_contains(const tsl__json *text, const char *word);
/* The draft that a $schema names; 0: none. People write the URIs with http and https, with and
 * without # and "schema", so a word of each is looked for. */
uint32_t tsl__schema_draft_named(const tsl__json *name);
/* The resource that a subschema begins, or `resource`. */
uint32_t tsl__schema_resource_of(struct schema *s, const tsl__json *at, uint32_t resource);
uint32_t tsl__schema_enter(struct schema *s, uint32_t scope, uint32_t resource);
/* The anchor of a resource with this name, one of its dynamic ones if so wanted; NULL if there is
 * none. */
const struct anchor *tsl__schema_anchor(struct schema *s, uint32_t resource, const char *name,
                                        uint32_t length, bool dynamic);
/* Drop the tables that references are looked up with. */
void tsl__schema_forget_references(struct schema *s);

/* ---- read.c ---------------------------------------------------------------------------------- */
/* The node of a place; read later by tsl__schema_read. */
sid tsl__schema_node(struct schema *s, tsl__json *at, uint32_t resource, uint32_t scope);
/* Read all nodes that are not read yet, and those that they lead to. */
bool tsl__schema_read(struct schema *s);
/* text_grammar.c: the texts of a grammar as they stand in a string of this schema; with calls, if
 * it is recursive. `bare`: as they stand between two tags. False on failure. */
bool tsl__schema_text_grammar(struct schema *s, const tsl__json *at, bool bare, tsl__expr *out);
/* Are strings at the top bare texts, which cannot hold a closing tag? */
bool tsl__schema_bare_strings(const struct schema *s);
/* content.c: is the name that of an encoding? *pattern: of its texts, NULL if it has all. */
bool tsl__content_encoding(const tsl__json *name, const char **pattern);
bool tsl__content_is_json(const tsl__json *type);
/* Does the subschema have a contentSchema that says something? */
bool tsl__content_described(const tsl__json *at, uint32_t draft);
/* JSON texts, as the texts of a grammar. */
bool tsl__content_json(struct schema *s, const tsl__json *at, tsl__expr *out);
/* inner/inner.c: the strings of a node with contentSchema. */
struct strings tsl__schema_inner_text(struct schema *s, const struct node *n);
/* Those whose text satisfies both goals. */
struct strings tsl__schema_inner_both(struct schema *s, goal a, goal b);
/* Those of a or b, with their texts; one of the two stands in a string as a grammar says. False:
 * that cannot be said. */
bool tsl__schema_inner_either(struct schema *s, const struct strings *a, tsl__expr a_text,
                              const struct strings *b, tsl__expr b_text, struct strings *out);
/* Is the text one of these, which stand in a string as a grammar says? False on failure, too. */
bool tsl__schema_inner_has(struct schema *s, const struct strings *a, tsl__string text);
/* Of n strings exactly one must hold: those with a contentSchema become one. How many there are. */
uint32_t tsl__schema_inner_one(struct schema *s, struct strings *all, sid *branch, uint32_t n);
/* Drop what is only known so that no regular expression is compiled twice. */
void tsl__schema_forget_patterns(struct schema *s);
static inline const struct node *tsl__node_of(const struct schema *s, sid id) {
  return s->nodes.at[id];
}
static inline bool tsl__has(const struct node *n, enum keyword k) { return (n->mask >> k) & 1u; }
/* Does it say nothing but of which types values are? */
static inline bool tsl__only_types(const struct node *n) { return !(n->mask & ~(OF(TYPE))); }
/* The value of a keyword that the node has. */
static inline const struct keyword_value *tsl__keyword(const struct node *n, enum keyword k) {
  return &n->values[tsl__ones(n->mask & (((uint64_t)1 << k) - 1))];
}
static inline const struct keyword_value *tsl__keyword_or_null(const struct node *n,
                                                               enum keyword k) {
  return tsl__has(n, k) ? tsl__keyword(n, k) : NULL;
}
/* The subschema of a keyword that has one; without the keyword, `true`. */
static inline sid tsl__subschema(const struct node *n, enum keyword k) {
  return tsl__keyword(n, k)->children[0];
}
static inline sid tsl__subschema_or_true(const struct node *n, enum keyword k) {
  return tsl__has(n, k) ? tsl__subschema(n, k) : SID_TRUE;
}
/* The subschemas that hold where their node does, one after the other:
 * for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);) … c.s … */
struct conjuncts {
  const struct node *n;
  uint32_t keyword, child; /* of the next one */
  sid s;
};
static inline bool tsl__next_conjunct(struct conjuncts *c) {
  for (; c->keyword < sizeof tsl__conjunctive; c->keyword++, c->child = 0) {
    const struct keyword_value *v = tsl__keyword_or_null(c->n, tsl__conjunctive[c->keyword]);
    if (v && c->child < v->count) return c->s = v->children[c->child++], true;
  }
  return false;
}
/* Is the name among those that the node's own `required` lists? */
static inline bool tsl__node_requires(const struct node *n, const char *key, uint32_t length) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_REQUIRED);
  for (uint32_t i = 0; v && i < v->value->length; i++)
    if (v->value->items[i].length == length && !memcmp(v->value->items[i].text, key, length))
      return true;
  return false;
}
/* Find `possible` from the keywords. */
void tsl__node_limit_types(struct node *node);
/* cycles.c: references that lead back to where they began, for the same value, are cut where that
 * makes no difference. False: a cycle is left, or some other failure. */
bool tsl__schema_acyclic(struct schema *s);
/* A schema for exactly this array or object. */
sid tsl__schema_const(struct schema *s, tsl__json *value);
/* The same for any value. */
sid tsl__schema_equal_to(struct schema *s, tsl__json *value);
static inline uint8_t tsl__json_type(const tsl__json *v) {
  static const uint8_t types[] = {T_NULL, T_FALSE, T_TRUE, T_NUMBER, T_STRING, T_ARRAY, T_OBJECT};
  return types[v->kind];
}

/* ---- disjoint.c ------------------------------------------------------------------------------ */
struct fact { /* nodes that hold, and keys that are demanded or absent otherwise */
  const struct fact *next;
  sid s;           /* SID_TRUE with a key */
  const char *key; /* NULL: a node */
  uint32_t length;
  bool absent; /* the key is not there */
};
/* Call `visit` for each member of which the subschema lists the values (enum, const), and for each
 * of those that it names at all. References and allOf are followed. */
typedef void tsl__schema_visit(void *ctx, const tsl__json *member, sid child);
void tsl__schema_each_listed(const struct schema *s, sid id, tsl__schema_visit *visit, void *ctx);
/* The same of all members that an object may have. False: others may be there as well, or more than
 * `max` are named. */
bool tsl__schema_each_own(const struct schema *s, sid id, uint32_t max, tsl__schema_visit *visit,
                          void *ctx);
/* Does the subschema require the member, as far as that is plain? */
bool tsl__schema_demands(const struct schema *s, sid id, const char *key, uint32_t length);
/* Equal for values that are. */
uint64_t tsl__schema_value_hash(const tsl__json *v);
/* The values that a node lists, *n of them, or NULL: enum, const, through references. */
const tsl__json *tsl__schema_listed(const struct schema *s, sid id, uint32_t *n);
/* Do the values that the two list have none in common? Are a's all among b's? */
bool tsl__schema_lists_disjoint(struct schema *s, sid a, sid b);
bool tsl__schema_list_within(struct schema *s, sid a, sid b);
/* Does the node list values and ask for nothing else? */
bool tsl__schema_only_lists(const struct schema *s, sid id);
/* Does the node allow no members but its properties? */
bool tsl__schema_closed(const struct schema *s, const struct node *n);
/* As tsl__schema_disjoint; `within`: alternatives are looked through. */
bool tsl__schema_apart(struct schema *s, uint8_t type, sid a, sid b, bool within);

/* Is it plain that no value of the type satisfies both? */
bool tsl__schema_disjoint(struct schema *s, uint8_t type, sid a, sid b);
/* Is it plain that every value of the goal satisfies l, or none? */
bool tsl__schema_implies(struct schema *s, goal g, lit l);
bool tsl__schema_excludes(struct schema *s, goal g, lit l);
/* Do those values that the goal lists and that satisfy the n lits satisfy l as well? */
bool tsl__schema_rest_implies(struct schema *s, goal g, const lit *lits, uint32_t n, lit l);
/* Is it cheap to ask for the contrary: is it about types, numbers, lengths, or scalars that are
 * listed, alone? */
bool tsl__schema_denies(struct schema *s, lit l);
/* Is it plain that what satisfies a satisfies l? */
bool tsl__schema_lit_implies(struct schema *s, lit a, lit l);

/* ---- facts.c --------------------------------------------------------------------------------- */
/* Is the node among the facts? */
bool tsl__schema_held(const struct schema *s, const struct fact *facts, sid id);
/* Is it plain that no value of the type satisfies it and all facts? */
bool tsl__schema_excluded(struct schema *s, uint8_t type, const struct fact *facts, sid id);
/* Is it plain that no object satisfies `next` and all facts? */
bool tsl__schema_clash(struct schema *s, const struct fact *facts, sid next);
/* The atoms of a clause that the facts leave open; *sure becomes true if one certainly holds.
 * `by_name`: "some other member" of a closed object becomes one of those that it names. What a fact
 * says of a member is compared with its negation. That is more atoms, of which many clauses make
 * the same. */
const struct atom *tsl__schema_live_atoms(struct schema *s, const struct fact *facts,
                                          const struct atom *atoms, bool by_name, bool *sure);

/* ---- alike.c --------------------------------------------------------------------------------- */
/* Is it plain that the two say the same: one text in two places? */
bool tsl__schema_alike(struct schema *s, lit a, lit b);
/* Is it plain that a says all that b says, and maybe more? */
bool tsl__schema_says_all(struct schema *s, sid a, sid b);
/* The first of those, among all for which this was looked up; l itself where that can't matter. `l`
 * is simplified. */
lit tsl__schema_first_alike(struct schema *s, lit l);

/* ---- scalar.c -------------------------------------------------------------------------------- */
uint8_t tsl__schema_scalars(struct schema *s, lit l); /* of T_NULL, T_FALSE, T_TRUE */
/* The texts that strings satisfying all these may have; TSL__NONE if there are none. */
tsl__expr tsl__schema_text(struct schema *s, const lit *lits, uint32_t n, bool *any);
/* The same, or the texts of a grammar as they stand in a string (text_grammar.c). With these
 * tsl__schema_text fails: nothing else is known of them. *inner (may be NULL): as in struct
 * strings. */
tsl__expr tsl__schema_written_text(struct schema *s, const lit *lits, uint32_t n, bool *any,
                                   goal *inner);
/* The same without the texts that hold `part`. */
tsl__expr tsl__schema_text_without(struct schema *s, const lit *lits, uint32_t n, const char *part);
/* Is there such a text, or are there no texts at all? */
bool tsl__schema_text_avoids(struct schema *s, const lit *lits, uint32_t n, const char *part);
/* If only finitely many are listed: the list (any order). NULL otherwise. */
const struct strings *tsl__schema_string_list(struct schema *s, lit l);
tsl__expr tsl__schema_numbers(struct schema *s, goal g);
/* A number of the schema; false on failure (sticky). */
bool tsl__schema_decimal(struct schema *s, const tsl__json *v, tsl__decimal *out);
/* A canonical spec with the conditions on spellings that such options ask for. */
tsl__number_spec tsl__schema_number_spelled(const tsl__number_spec *spec, tsl_spelling how);
/* The numbers of a spec as they are spelled in this schema. */
tsl__expr tsl__schema_number(struct schema *s, const tsl__number_spec *spec);
/* The number constraints of a node's own keywords but enum and const. */
bool tsl__schema_number_spec(struct schema *s, const struct node *n, tsl__number_spec *out);

/* ---- plain.c --------------------------------------------------------------------------------- */
/* Types (T_...) of which there certainly is a value, as the keywords say. */
uint8_t tsl__schema_plain(struct schema *s, sid id);
/* The same of values that satisfy n lits, n > 0. */
uint8_t tsl__schema_plain_together(struct schema *s, const lit *lits, uint32_t n);
/* Is it about objects alone, and about nothing but their members, some of which it names? */
bool tsl__schema_plain_object(const struct schema *s, sid id);
/* The subschemas that say what arrays and objects are like that satisfy one (SID_FALSE: there are
 * none), where it is plain how they begin. Arrays begin by what all items are and how many.
 * Objects, if there are any, begin with some member or, if `ends`, empty. False: that is not
 * plain. */
struct plain_containers {
  sid array, object;
  bool ends, any_object; /* the latter: nothing is demanded of objects */
};
bool tsl__schema_plain_containers(struct schema *s, sid id, struct plain_containers *out);
/* Does it certainly have an array or an object? And has it either values of other types too, or no
 * array and no object of just any kind? */
bool tsl__schema_plain_container(struct schema *s, sid id);

/* ---- blame.c --------------------------------------------------------------------------------- */
/* Fail with TSL_ERR_EMPTY, naming the keywords of an unsatisfiable node that clash. */
void tsl__schema_blame(struct schema *s, sid id);
#define TSL__NAME_SHOWN 100 /* bytes of a name that a message shows */
/* The first name that `asks` requires and for which `closed` has no place, as it allows no members
 * but its properties; NULL: there is none. */
const tsl__json *tsl__schema_misplaced(const struct schema *s, const struct node *asks,
                                       const struct node *closed);
/* Say so, with the property of n that may be meant. `out`: 2 * TSL__NAME_SHOWN + 128 bytes. */
void tsl__schema_say_misplaced(struct schema *s, const struct node *n, const tsl__json *name,
                               char *out, size_t size);

/* ---- metaschemas.c --------------------------------------------------------------------------- */
/* The metaschema of this URI (without fragment): those of all drafts, so that $ref to them needs no
 * network. scripts/embed.py makes metaschemas.c from schemas/metaschema/. */
bool tsl__metaschema(const char *uri, const char **text, size_t *length);

#endif
