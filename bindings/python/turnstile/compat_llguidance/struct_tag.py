"""llguidance's StructTag: calls in running text.

SPDX-License-Identifier: Apache-2.0
"""

import json

__all__ = ["StructTag"]


class StructTag:
    """A call in running text: begin, what the grammar says (a JSON Schema, or a Lark grammar), end.
    `trigger` is what begin begins with; from it on the text must be a tag.
    """

    def __init__(self, *, trigger, begin, grammar, end):
        if not trigger or not begin.startswith(trigger):
            raise AssertionError("begin must start with trigger, which is not empty")
        self.trigger, self.begin, self.grammar, self.end = trigger, begin, grammar, end

    @staticmethod
    def to_grammar(tags, *, assume_special=True, text_regex=r"(.|\n)*"):
        """A grammar for LLMatcher: text, and tags in it. `assume_special`: a trigger in angle
        brackets is a special token.
        """
        if not tags or "/" in text_regex:
            raise AssertionError("there are tags, and text_regex has no /")
        names = " | ".join(f"tag-{i}" for i in range(len(tags)))
        lines = ["%llguidance {}", f"start: ({names})* tag-end", "tag-end: TAG_TEXT"]
        lines.append(f"TAG_TEXT: /{text_regex}/")
        grammars = []
        for i, tag in enumerate(tags):
            body = tag.grammar
            if isinstance(body, str) and not body.lstrip().startswith("{"):
                grammars.append({"name": f"tag-{i}", "lark_grammar": body})
                body = f"@tag-{i}"
            else:
                body = "%json " + (body if isinstance(body, str) else json.dumps(body))
            rest = tag.begin[len(tag.trigger) :]
            parts = [json.dumps(rest) if rest else "", body, json.dumps(tag.end) if tag.end else ""]
            text = " ".join(part for part in parts if part)
            if assume_special and tag.trigger.startswith("<") and tag.trigger.endswith(">"):
                lines.append(f"tag-{i}: TAG_TEXT {tag.trigger} {text}")
            else:
                lines.append(f"head-{i}[lazy]: TAG_TEXT {json.dumps(tag.trigger)}")
                lines.append(f"tag-{i}: head-{i} {text}")
        lark = "\n".join(lines) + "\n"
        if not grammars:
            return lark
        return json.dumps({"grammars": [{"lark_grammar": lark}, *grammars]})
