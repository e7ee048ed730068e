"""What scripts/mutate.py changes, the tests it runs, and the changes that nothing can notice.

SPDX-License-Identifier: Apache-2.0
"""

import re

FILES = """
    walk/walk walk/near_limit walk/search walk/linear masks/mask position/moves
    position/stacks position/stacks_step
    position/stacks_mask automaton/state matcher/matcher matcher/quota matcher/batch
    matcher/mask_table automaton/leftover walk/classes walk/nonascii walk/fixed walk/names
    walk/shared_walks masks/borrow position/boundary position/distinct position/distinct_deny
    position/distinct_intern position/distinct_items
    position/distinct_mask position/distinct_names position/distinct_unbounded
    position/distinct_search position/distinct_token automaton/seen_names kernels/logits
    kernels/logits_portable kernels/logits_avx2
""".split()


def of(room, names):
    return {f"compiler/{room}/{name}" for name in names.split()}


UNIQUE = of("schema/unique", "ends listed unique values")
INNER = of("schema/inner", "inner quoted")
REPORT = of("schema/report", "blame closed doubts nowhere report types words")
ONE_OF = of("schema/choice", "oneof spans strings")
BY_PATTERN = of("schema/keys", "by_pattern") | of("expr/kinds", "cases")
EXPR = of("expr", "after and empty") | of("expr/kinds", "sequence")
LOOP = of("regex", "loop span")
LABELS = of("formats", "a_label host idn label")
MEND = of(
    "tools",
    "mend mend_arguments mend_bare mend_calls mend_elements mend_envelopes mend_json mend_names"
    " mend_plan mend_tags",
) | of("tags", "mending")
DESCRIBED = of("tags", "described")
FIRST = of("tags", "first")
REQUEST = of("grammar", "rehearsal request") | of("tools", "schemas")
FAULT = of("json", "fault")
APART = of("schema/style", "apart")
COMPILER = set().union(
    *(UNIQUE, INNER, REPORT, ONE_OF, BY_PATTERN, EXPR, LOOP, LABELS, MEND, DESCRIBED, FIRST),
    *(REQUEST, FAULT, APART),
)
FILES += sorted(COMPILER)
# Test program, its arguments, the files whose mutants it is run on (None: all of runtime/ but the
# kernels).
KERNELS = {"kernels/logits", "kernels/logits_portable", "kernels/logits_avx2"}
MEMORY = set(
    """
        position/boundary position/distinct position/distinct_deny
    position/distinct_intern position/distinct_items position/distinct_mask
        position/distinct_names position/distinct_unbounded position/distinct_search
        position/distinct_token automaton/seen_names masks/borrow
    """.split()
)
WALKS = set(
    """
        walk/walk walk/near_limit walk/search walk/linear walk/classes walk/nonascii
        automaton/leftover walk/fixed walk/shared_walks masks/mask automaton/state
    """.split()
)
TESTS = [
    ("tests/test_listed", [], UNIQUE),
    ("tests/test_inner", [], INNER),
    ("tests/test_schema_report", [], REPORT | DESCRIBED),
    ("tests/test_lint", [], REPORT),
    ("tests/test_described", [], DESCRIBED),
    ("tests/test_oneof", [], ONE_OF | EXPR),
    ("tests/test_choices", [], ONE_OF),
    ("tests/test_by_pattern", [], BY_PATTERN | EXPR),
    ("tests/test_expr", [], EXPR),
    ("tests/test_after", [], EXPR),
    ("tests/test_chain", [], EXPR),
    ("tests/test_overlap", [], EXPR),
    ("tests/test_regex", [], LOOP | EXPR),
    ("tests/test_span", [], LOOP),
    ("tests/test_formats", [], LABELS),
    ("tests/test_host_masks", [], LABELS),
    ("tests/test_mend_json", [], MEND),
    ("tests/test_mend_arguments", [], MEND),
    ("tests/test_loosen", [], MEND),
    ("tests/test_answers", [], MEND),
    ("fuzz/replay_lenient", ["corpus/lenient", "fuzz/corpus/lenient"], MEND),
    ("tests/test_request", [], REQUEST | EXPR),
    ("tests/test_requests", [], REQUEST | MEND | DESCRIBED),
    ("tests/test_rehearsal", [], REQUEST),
    ("tests/test_json_fault", [], FAULT),
    ("tests/test_first", [], FIRST),
    ("tests/test_tags_errors", [], APART | FIRST),
    ("tests/test_loosen", [], APART),
    ("tests/programs/test_lenient.py", [], MEND),
    ("tests/programs/test_report.py", [], REPORT),
    ("tests/test_logits", [], KERNELS),
    ("tests/test_mask", [], {"masks/mask"}),
    ("tests/test_leftover", [], {"automaton/leftover"}),
    ("tests/test_seen_names", [], {"automaton/seen_names"}),
    ("tests/test_mask_table", [], None),
    ("tests/test_listing", [], {"position/stacks", "automaton/state", "walk/names"}),
    ("tests/test_matcher", [], None),
    ("tests/test_fixed", [], None),
    ("tests/test_borrow", [], None),
    ("fuzz/replay_artifact", ["corpus/artifact", "fuzz/corpus/artifact"], None),
    ("fuzz/replay_api", ["corpus/api", "fuzz/corpus/api"], None),
    ("fuzz/replay_judge", ["corpus/judge", "fuzz/corpus/judge"], None),
    ("fuzz/replay_tags", ["corpus/tags", "fuzz/corpus/tags"], None),
    ("fuzz/replay_walk", ["corpus/walk", "fuzz/corpus/walk"], None),
    ("fuzz/replay_mask", ["corpus/mask", "fuzz/corpus/mask"], None),
    ("tests/test_flat", [], None),
    ("tests/test_oracle", [], None),
    ("tests/test_trie", [], {"masks/mask", "automaton/leftover"}),
    (
        "tests/test_tags",
        [],
        {
            "walk/walk",
            "walk/search",
            "position/stacks",
            "matcher/matcher",
            "walk/names",
            "walk/fixed",
            "matcher/quota",
            "automaton/state",
            "masks/borrow",
            "position/distinct",
        }
        | FIRST
        | DESCRIBED,
    ),
    (
        "tests/test_shared_walks",
        [],
        {"walk/walk", "walk/search", "automaton/leftover", "walk/shared_walks"},
    ),
    ("tests/test_linear", [], WALKS),
    ("tests/test_near_limit", [], WALKS),
    ("tests/test_heavy", [], None),
    ("tests/test_threads", [], {"matcher/batch", "masks/borrow", "matcher/matcher"}),
    ("tests/test_distinct", [], MEMORY | UNIQUE),
    ("tests/test_repeats", [], MEMORY | UNIQUE),
    ("tests/test_limits", [], {"position/stacks", "matcher/matcher", "automaton/state"} | MEMORY),
    (
        "tests/test_schema",
        [],
        {"position/stacks", "matcher/matcher", "walk/names", "walk/fixed", "automaton/state"}
        | MEMORY
        | UNIQUE
        | INNER
        | REPORT
        | ONE_OF
        | BY_PATTERN
        | EXPR
        | LABELS,
    ),
    ("tests/test_budget", [], {"position/stacks", "walk/names", "position/distinct_search"}),
    ("tests/test_costs", [], None),
    ("tests/test_oracle", [], EXPR),
    ("tests/test_costs", [], EXPR),
    ("tests/test_fault_sites", [], None),
]
ASKS = {
    "tests/test_fault_sites": re.compile(
        "out_of_memory|alloc|reserve|push|copy|status|load|fine|made|fresh|number|lengths"
    )
}  # the slowest, is for lines that ask for memory
WRAPPED = {
    "tests/test_costs",
    "tests/test_fault_sites",
}  # wrap functions of the library, and are linked to its objects for each mutant
PROGRAMS = {
    "tests/programs/test_lenient.py": ("TSL_CLI", "turnstile"),
    "tests/programs/test_report.py": ("TSL_BENCH", "turnstile-bench"),
}  # written in Python, run with that variable set to that program
SANITIZED = {
    "tests/test_logits",
    "tests/test_oracle",
    "fuzz/replay_walk",
    "fuzz/replay_mask",
    "tests/test_distinct",
    "tests/test_costs",
    "tests/test_fixed",
    "tests/test_linear",
    "tests/test_seen_names",
    "tests/test_leftover",
    "tests/test_listed",
    "tests/test_inner",
    "tests/test_formats",
    "tests/test_regex",
    "tests/test_json_fault",
    "tests/test_mend_json",
    "tests/test_mend_arguments",
    "tests/test_answers",
    "tests/test_schema_report",
    "fuzz/replay_lenient",
    "tests/test_described",
    "tests/test_request",
    "tests/test_span",
    "tests/test_chain",
}  # those that are run in the second copy
# A row is a file, a pattern of lines, and why no change of an operator there changes what is
# allowed. Where that holds of some changes alone, the row has what those put there.
HASH = (
    "a hash says where an entry is looked for and put, by one and the same expression; what "
    "is found there is compared in full"
)
WAYS = "chooses between two ways to the same result"
POSITIVE = "what is listed is never negated: the last bit is 0"
STICKY = "the failure is sticky, and who calls asks for it"
SPELLS = "the search leaves out fewer spellings of the same value, and finds the same"
EQUIVALENT = [
    (
        "walk/search",
        r"tokens < TSL__HINT_MIN|n->end - n->own_end < TSL__HINT_MIN",
        WAYS + ": a class's mask, or the search that made it",
    ),
    (
        "walk/search",
        r"r->live_count \* 8u (<|>=) n->children",
        WAYS + ": each live byte looked up, or each child",
    ),
    (
        "position/distinct_token",
        r"(?<=\|\| )!(?=tsl__run_note\(space, r, v->bytes\[i\]\)\))",
        WAYS + ": frames are stepped where it is false",
    ),
    (
        "kernels/logits_avx2",
        r"(?<=end = w \+ 16) <= (?=words \? w \+ 16 : words)",
        "where they are equal both ends are the same",
    ),
    (
        "walk/search",
        r"t->n == 1 \|\| r->live_count >= PER_NODE_MIN",
        WAYS + ": node by node, or merged",
    ),
    (
        "automaton/leftover",
        r"layer != space && t >= space->leftovers\.first",
        "whether the layer below is looked at, which knows no such set",
    ),
    ("automaton/seen_names", r"(?<=hash = ).*", HASH),
    (
        "compiler/expr/empty",
        r"(?<=TSL__K_AND \|\| )e < x->base",
        WAYS + ": known at once, or searched",
        {" <= "},
    ),
    (
        "compiler/expr/kinds/sequence",
        r"(?<=i < LONG) && n\.kind == TSL__K_SEQ && (?=reads_second)",
        WAYS + ": what a milestone remembers, or what the parts say",
        {" || "},
    ),
    (
        "compiler/expr/kinds/sequence",
        r"(?<=last, 0, plain) \? (?=&next : NULL, &all\))",
        WAYS + ": what a milestone remembers, or what the parts say",
        {"? !"},
    ),
    ("compiler/expr/and", r"(?<=complement\"\);\n)  return true;", STICKY, {"return false;"}),
    (
        "compiler/formats/host",
        r"(?<='\.' \|\| byte) >= (?=0x80\)\n?)",
        "no character begins with the byte 0x80, and no label has it",
        {" > "},
    ),
    (
        "compiler/formats/a_label",
        r"(?<=texts) = true;",
        "without it nothing is known of the texts, which is always right",
        {" = false;"},
    ),
    ("compiler/schema/unique/listed", r"(?<=if \(!value) \|\| (?=!items)", STICKY, {" && "}),
    (
        "position/distinct_names",
        r"(?<=upper >= ' ' && )!(?=\(byte == upper)",
        WAYS + ": the escapes of a name at once, or byte by byte",
    ),
    (
        "compiler/schema/report/blame",
        r"unsigned k = 0; k < (?=KW_COUNT)",
        "the bit behind those of the keywords is never set",
        {" <= "},
    ),
    (
        "compiler/tools/mend_elements",
        r"(?<=char quote = at) < (?=end && )",
        "what closes the head stands at the end, and is no quote",
        {" <= "},
    ),
    (
        "compiler/tools/mend_plan",
        r"(?<=section && i) < (?=tsl__form_count)",
        "past the last is an empty text, which is no sign",
        {" <= "},
    ),
    (
        "compiler/schema/unique/values",
        r"(?<=others\.most\)) < (?=c->limit; k\+\+)",
        "further values make the number no smaller",
        {" <= "},
    ),
    (
        "compiler/schema/unique/values",
        r"(?<=if \(total) >= (?=c->limit\) return)",
        "what is more than the limit is cut to it at last",
        {" > "},
    ),
    (
        "compiler/schema/unique/unique",
        r"(?<=a->prefix_count && a->max) > (?=a->prefix_count\))",
        "the most is no less than the least, which is more than these",
        {" >= "},
    ),
    ("compiler/schema/unique/ends", r"(?<=a->listed\[i\]) \^ (?=1)", POSITIVE, {" | "}),
    ("compiler/schema/unique/listed", r"(?<=l->lits\[i\]) \^ (?=1)", POSITIVE, {" | "}),
    ("masks/mask", r"(?<=hash = )tsl__hash\(p\.at.*", HASH),
    ("masks/mask", r"n < MARKED_MIN", WAYS + ": sorted by comparing, or by marking"),
    (
        "masks/mask",
        r"g->minus\.n \+ g->plus\.n > (4 \* )?TSL__PATCH_MAX",
        WAYS + ": a mask as lists, or as a bitset",
    ),
    ("position/distinct_search", r"\(uint32_t\)tsl__mix\(.*(?= & mask)", HASH),
    (
        "position/distinct_search",
        r"looks > 1",
        "whether an answer is remembered that is found again as fast",
    ),
    (
        "position/distinct_search",
        r"(?<=if \()!(?=known_alive\(space, at, &known\)\))",
        "whether an answer is remembered that would be found again",
    ),
    (
        "position/distinct_search",
        r"(?<== 'e') \|\| (?=at\[n - 1\] == 'E')|(?<== 'E') \|\| (?=\(byte == 'E')",
        SPELLS,
        {" && "},
    ),
    ("position/distinct_search", r" \+ 1(?=\] != 'u')", SPELLS, {""}),
    (
        "position/distinct_search",
        r" & (?=\(part)",
        "more bytes are tried, which cannot come next and lead nowhere",
        {" | "},
    ),
    (
        "walk/fixed",
        r"(?<=last) >= (?=0x80, some)",
        "the texts are between two characters, and none begins with the byte 0x80",
        {" > "},
    ),
    ("walk/search", r"(?<=h->limit) <= (?=TSL__SHORT_MAX && )", WAYS + ": letters, or the search"),
    (
        "automaton/seen_names",
        r"(?<=tsl__spelling_byte\(space, s, bytes\[i\+\+\]\)\) )return false",
        STICKY,
    ),
    (
        "walk/near_limit",
        r"(?<=known) == (?=UNCLEAR \? take_token)",
        WAYS + ": as `like`, or in full; a token that leaves early is in neither mask",
    ),
    ("walk/classes", r"(?<=!tsl__gather_remove\(space, g, t\)\) )return false", STICKY),
    ("walk/fixed", r"(?<=space->status != TSL_OK\) )return false", STICKY),
    ("matcher/quota", r"(?<=fine && b) < (?=256)", "the byte 0 once more", {" <= "}),
    (
        "position/distinct_items",
        r"(?<=->guarded) & (?=TSL__NEW_ITEM\) \|\|)",
        "more tokens are tried, and none more is removed",
        {" | "},
    ),
    ("position/distinct_search", r"(?<=&& k) <= (?=n; k\+\+)", SPELLS, {" < "}),
    (
        "walk/nonascii",
        r"(?<=pairs\[2 \* i\]) - (?=1\))",
        "more nodes are exits: the walk enters what the class's mask has",
        {" + "},
    ),
    (
        "automaton/state",
        r"(?<=r->ranges) > (?=1 && part\()",
        "a hint holds wherever it is given",
        {" >= "},
    ),
    (
        "position/boundary",
        r"(?<=while \(at) < (?=end && \(at = memchr\(at, '\[')",
        "in no bytes none is found",
        {" <= "},
    ),
    (
        "position/distinct_items",
        r"(?<=hash && i) < (?=t->tried_count)",
        "what was tried before is tried again",
        {" > "},
    ),
    ("walk/classes", r"(?<=tsl__bitset_new\(base, &number\)\)\) )return false", STICKY),
    (
        "walk/linear",
        r"(?<=h->exits\.w\[w\]) & (?=r->live\.w\[w\])",
        WAYS + ": letters, or the table",
    ),
    (
        "walk/linear",
        r"entered \* ENTERED > t->n && tokens >= t->least",
        WAYS + ": letters, or the table",
    ),
    (
        "walk/linear",
        r"(?<=n->own_end) >= (?=t->least)|(?<=t->least) && (?=r->live_count)|(?<=r->live_count) "
        r">= (?=TSL__LINEAR_BYTES)",
        WAYS + ": the table, or the search",
    ),
    (
        "matcher/batch",
        r"(?<=end = \(block \+ 1\) \* BLOCK) < (?=b->count)",
        "where they are equal both ends are the same",
        {" <= "},
    ),
    (
        "masks/borrow",
        r"(?<=\(i) \+ (?=1\) % TSL__BORROWED)",
        "around the four the other way, which is the oldest as well",
        {" - "},
    ),
    (
        "position/distinct_names",
        r"(?<=!first && n->begin) < (?=n->own_end)",
        "no token is tried where there is none",
        {" <= "},
    ),
    (
        "position/distinct_names",
        r"(?<=passes && i) < (?=at->depth)",
        WAYS + ": a subtree at once, or token by token",
        {" > "},
    ),
    ("masks/mask", r"(?<=words) > (?=MARKS\))", WAYS + ": sorted by comparing, or by marking"),
    (
        "automaton/seen_names",
        r"(?<=s->decoded\.n\) != 0\)\n        )break",
        "the names are sorted: none after one that does not begin with the text does",
    ),
    (
        "walk/nonascii",
        r"(?<=uint32_t i = 0; i) < (?=w\.count; i\+\+)",
        "more nodes are exits: the walk enters what the class's mask has",
        {" > "},
    ),
    (
        "kernels/logits_avx2",
        r"(?<=i \+ 16) <= (?=width)|(?<=i \+ 32) <= (?=width)|(?<=i \+ 8) <= (?=words)|(?<=if \(w "
        r"\+ 16) <= (?=words)",
        WAYS + ": a last piece at once, or element by element",
    ),
]
# What is searched for, what it becomes.
MUTATIONS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" > ", " >= "),
    (r" >= ", " > "),
    (r" < ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \+ 1\b", ""),
    (r" - 1\b", ""),
    (r" & ", " | "),
    (r" \| ", " & "),
    (r" \|= ", " &= "),
    (r" &= ", " |= "),
    (r" \^ ", " | "),
    (r" << ", " >> "),
    (r" >> ", " << "),
    (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"),
    (r"\bcontinue;", "break;"),
    (r"\bbreak;", "continue;"),
    (r"(?<=[(& |])!(?=[a-z(*])", ""),
    (r" = true;", " = false;"),
    (r" = false;", " = true;"),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r"\? ", "? !"),
]
