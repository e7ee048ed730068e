"""A Lark grammar as GBNF, so that engines that read GBNF or EBNF alone can be measured on it.

    gbnf_of_lark.convert(text) -> text, or Unsupported

For grammars whose white space is written out, as most in schemas/grammars/ are. Rules, terminals,
strings, regular expressions, groups, quantifiers and templates are known. Unsupported is what GBNF
does not have: %ignore, %import, %json, `&` and `~`, look-arounds, lazy quantifiers. Aliases
and marks of rules are dropped, as they say nothing about texts.

A template is put in place of its call. A regular expression becomes groups and classes. In classes
and strings all but letters, digits and blanks are written as \\xHH or \\uHHHH, which all read.

SPDX-License-Identifier: Apache-2.0
"""

import re


class Unsupported(ValueError):
    pass


TOKEN = re.compile(
    r"""(?P<space>[ \t]+|(?://|\#)[^\n]*|\n[ \t]+(?=\S))
      | (?P<line>\n)
      | (?P<string>"(?:[^"\\\n]|\\.)*"i?)
      | (?P<regex>/(?!/)(?:[^/\\\n]|\\.)+/[imslux]*)
      | (?P<name>[!?]*_*[A-Za-z][A-Za-z0-9_]*)
      | (?P<count>~[ ]*\d+(?:\.\.\d+)?)
      | (?P<mark>%\w+|->[ ]*\w+|\.\.|[():|\[\]{},?*+.&~%]|[0-9]+)""",
    re.X,
)


def scan(text):
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Unsupported(f"{text[at : at + 20]!r}")
        if found.lastgroup != "space":
            tokens.append((found.lastgroup, found.group()))
        at = found.end()
    return [*tokens, ("line", "\n")]


def character(c):
    """A character in a class or string of GBNF."""
    if c.isascii() and (c.isalnum() or c == " "):
        return c
    n = ord(c)
    return f"\\x{n:02x}" if n < 0x80 else f"\\u{n:04x}" if n < 0x10000 else f"\\U{n:08x}"


def literal(text, ignore_case):
    if not text:
        return '""'
    if not ignore_case:
        return '"' + "".join(map(character, text)) + '"'
    return " ".join(
        f"[{c.lower()}{c.upper()}]" if c.isalpha() else f'"{character(c)}"' for c in text
    )


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\x09\\x0a\\x0d\\x0c\\x0b"}


class Regex:
    """A regular expression, read by recursive descent."""

    def __init__(self, text, ignore_case):
        self.text, self.at, self.ignore_case = text, 0, ignore_case

    def peek(self):
        return self.text[self.at : self.at + 1]

    def take(self, n=1):
        self.at += n
        return self.text[self.at - n : self.at]

    def whole(self):
        made = self.choice()
        if self.at < len(self.text):
            raise Unsupported(f"/{self.text}/")
        return made

    def choice(self):
        parts = [self.sequence()]
        while self.peek() == "|":
            self.take()
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else "(" + " | ".join(parts) + ")"

    def sequence(self):
        items = []
        while self.peek() not in ("", "|", ")"):
            item = self.item()
            if quantifier := re.compile(r"[*+?]|\{\d*,?\d*\}").match(self.text, self.at):
                self.at = quantifier.end()
                item += re.sub(r"^\{,", "{0,", quantifier.group())
                if self.peek() in ("?", "+"):
                    raise Unsupported("a quantifier that is lazy or possessive")
            items.append(item)
        return " ".join(items) if items else '""'

    def escape(self):
        """The character after a backslash."""
        c = self.take()
        if c in "xuU":
            return chr(int(self.take({"x": 2, "u": 4, "U": 8}[c]), 16))
        if c.isalnum() and c not in ESCAPES:
            raise Unsupported(f"\\{c}")
        return ESCAPES.get(c, c)

    def item(self):
        c = self.take()
        if c == "(":
            if self.peek() == "?":
                if self.take(2) != "?:":
                    raise Unsupported("a look-around")
            inner = self.choice()
            self.take()
            return f"({inner})"
        if c == "[":
            return self.character_class()
        if c == ".":
            return "[^\\x0a]"
        if c in "^$":
            raise Unsupported("an anchor")
        if c == "\\":
            if self.peek() in CLASSES:
                return f"[{CLASSES[self.take()]}]"
            if self.peek() in ("D", "W", "S"):
                return f"[^{CLASSES[self.take().lower()]}]"
            c = self.escape()
        return literal(c, self.ignore_case)

    def character_class(self):
        out = "["
        if self.peek() == "^":
            out += self.take()
        while self.peek() != "]":
            c = self.take()
            if c == "\\":
                if self.peek() in CLASSES:
                    out += CLASSES[self.take()]
                    continue
                c = self.escape()
            elif c == "-" and self.peek() != "]" and out[-1] not in "[^":
                out += "-"
                continue
            out += character(c)
            if self.ignore_case and c.isalpha():
                raise Unsupported("a class without regard to case")
        self.take()
        return out + "]"


def name_of(name):
    name = name.lstrip("!?")
    return (
        "root"
        if name == "start"
        else "u" * name.startswith("_") + name.strip("_").replace("_", "-")
    )


class Grammar:
    def __init__(self, text):
        self.tokens, self.at, self.templates, self.bound = scan(text), 0, {}, {}

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, value=None):
        token = self.peek()
        if value and token[1] != value:
            raise Unsupported(f"{token[1]!r} in place of {value!r}")
        self.at += 1
        return token[1]

    def definition(self):
        """One line: (name, body), or None."""
        kind, name = self.peek()
        if kind == "line":
            return self.take() and None
        if kind != "name":
            raise Unsupported(name)
        self.take()
        parameters = []
        if self.peek()[1] == "{":
            self.take()
            while self.peek()[1] != "}":
                parameters.append(self.take())
                if self.peek()[1] == ",":
                    self.take()
            self.take()
        if self.peek()[1] == ".":
            self.take()
            self.take()
        self.take(":")
        if parameters:
            self.templates[name.lstrip("!?")] = (parameters, self.at)
            while self.peek()[0] != "line":
                self.take()
            return None
        return name_of(name), self.choice()

    def choice(self):
        parts = [self.sequence()]
        while self.peek()[1] == "|":
            self.take()
            parts.append(self.sequence())
        return " | ".join(parts)

    def sequence(self):
        items = []
        while True:
            kind, value = self.peek()
            if kind in ("line", "end") or value in ("|", ")", "]", ",", "}"):
                return " ".join(items) if items else '""'
            if value.startswith("->"):
                self.take()
                continue
            items.append(self.item() + self.quantifier())

    def quantifier(self):
        kind, value = self.peek()
        if value in ("?", "*", "+"):
            return self.take()
        if kind == "count":
            return "{" + ",".join(self.take()[1:].strip().split("..")) + "}"
        return ""

    def item(self):
        kind, value = self.peek()
        self.take()
        if value == "(" or value == "[":
            inner = self.choice()
            self.take(")" if value == "(" else "]")
            return f"({inner})" + ("?" if value == "[" else "")
        if kind == "string" and self.peek()[1] == "..":
            self.take()
            return f"[{character(eval(value))}-{character(eval(self.take()))}]"
        if kind == "string":
            return "(" + literal(eval(value.rstrip("i")), value.endswith("i")) + ")"
        if kind == "regex":
            body, flags = value[1:].rsplit("/", 1)
            if set(flags) - {"i", "s", "u"}:
                raise Unsupported(f"the flags {flags}")
            return "(" + Regex(body.replace("\\/", "/"), "i" in flags).whole() + ")"
        if kind != "name":
            raise Unsupported(value)
        if self.peek()[1] == "{":
            return self.call(value)
        return self.bound.get(value) or name_of(value)

    def call(self, name):
        """The template with its arguments, in place."""
        self.take("{")
        arguments = [self.choice()]
        while self.peek()[1] == ",":
            self.take()
            arguments.append(self.choice())
        self.take("}")
        parameters, body = self.templates[name]
        before = self.at, self.bound
        self.at, self.bound = body, dict(zip(parameters, [f"({a})" for a in arguments]))
        made = self.choice()
        self.at, self.bound = before
        return f"({made})"


def convert(text):
    grammar = Grammar(text)
    start, rules = 0, []
    while grammar.peek()[0] != "end":  # templates first: they may stand behind their calls
        if grammar.peek()[0] == "name":
            at = grammar.at
            if grammar.tokens[at + 1][1] == "{":
                grammar.definition()
        while grammar.peek()[0] not in ("line", "end"):
            grammar.take()
        grammar.take()
    grammar.at = start
    while grammar.peek()[0] != "end":
        if found := grammar.definition():
            rules.append(f"{found[0]} ::= {found[1]}")
    return "\n".join(rules) + "\n"
