"""Reads what a pattern says about one node: labels, expressions, names, references and groups."""

from __future__ import annotations

import re
from typing import NoReturn

from fencepost.errors import PatternError
from fencepost.search.java_classes import RegexError
from fencepost.search.java_regex import FLAGS
from fencepost.search.regexes import Regex
from fencepost.search.shortcuts import as_tregex_reads
from fencepost.search.syntax import Description, Kind
from fencepost.search.tokens import Token, read_tokens


class DescriptionReader:
    """Reads the tokens of a pattern, beginning at token ``at``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = read_tokens(text)
        self.at = 0
        self.names: frozenset[str] = frozenset()  # that may be referred to from here on
        self.negations = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def at_end(self) -> bool:
        return self.token.kind == "end"

    def take(self, *signs: str) -> bool:
        if not self.token.is_sign(*signs):
            return False
        self.at += 1
        return True

    def fail(self, message: str, hint: str | None = None, column: int | None = None) -> NoReturn:
        raise PatternError(message, self.text, column or self.token.column, hint=hint)

    def description(self, in_chain: bool = False) -> Description:
        start = self.token
        negated = self.take("!")
        basic = self.take("@")
        if self.token.text == "!":
            self.fail("! must come before @, and only once", hint="such as !@NP")
        kind, labels, regex, reference = self.label(start, basic, in_chain)
        groups: list[tuple[int, str]] = []
        name = None
        if kind not in ("same node", "same label") and not in_chain:
            while self.token.text == "#":
                if negated:
                    self.fail("a negated label has no groups", "remove the !, or the group")
                groups.append(self.group(regex))
        if kind != "same node" and self.token.text == "=" and not in_chain:
            name = self.new_name()
        return Description(kind, labels, regex, reference, negated, basic, tuple(groups), name, start.column)

    def label(self, start: Token, basic: bool, in_chain: bool) -> tuple[Kind, frozenset[str], Regex | None, str]:
        token = self.token
        self.at += 1
        if token.kind == "any":
            return "any", frozenset(), None, ""
        if token.kind == "root":
            return "root", frozenset(), None, ""
        if token.kind == "label":
            return "labels", frozenset(token.text.split("|")) - {""}, None, ""
        if token.kind == "quoted":
            return "labels", frozenset({re.sub(r"\\(.)", r"\1", token.text[1:-1])}), None, ""
        if token.kind == "regex":
            return "regex", frozenset(), self.regex(token, in_chain), ""
        if token.is_sign("=", "~"):
            kind: Kind = "same node" if token.text == "=" else "same label"
            name = self.old_name(token)
            if start.text == "!":
                hint = f"negate the relation, as in !== {token.text}{name} or !< {token.text}{name}"
                self.fail(f"! can't stand before {token.text}{name}", hint, start.column)
            if basic:
                self.fail(f"@ can't stand before {token.text}{name}", "remove the @", start.column)
            return kind, frozenset(), None, name
        self.at -= 1
        return self.no_label()

    def no_label(self) -> NoReturn:
        token = self.token
        before = self.tokens[self.at - 1] if self.at else None
        after = f" after {before.text}" if before else ""
        if token.kind == "number":
            hint = f"write a label that begins with a digit as an expression, /^{token.text}/"
            self.fail("a number can't be a label", hint=hint)
        if token.kind in ("relation", "chain") and (before is None or before.kind in ("relation", "chain")):
            hint = "write __ for any node, or an expression such as /^\\.$/ for a punctuation mark"
            self.fail(
                f"a label is missing before {token.text}" if before is None else f"a label is missing{after}", hint
            )
        if token.text == ")" and before is not None and before.text == "(":
            self.fail("there is no node between the brackets", hint="such as (NP < NN)")
        hint = "a label such as NP, alternatives such as NP|VP, an expression such as /^NP/, or __ for any node"
        self.fail(f"a label is missing{after}", hint)

    def regex(self, token: Token, in_chain: bool) -> Regex:
        source, _, flags = token.text[1:].rpartition("/")
        for number, flag in enumerate(flags):
            if flag not in FLAGS:
                column = token.column + len(source) + 2 + number
                self.fail(f"{flag!r} isn't a flag of expressions", "i ignores case, as in /^np/i", column)
        try:
            return Regex(source if flags or in_chain else as_tregex_reads(source), flags)
        except RegexError as error:
            self.fail(error.message, error.hint, token.column + 1 + error.offset)

    def group(self, regex: Regex | None) -> tuple[int, str]:
        self.take("#")
        number = self.token
        if number.kind != "number":
            self.fail("the number of a group is missing after #", hint="such as /(.)P/#1%x")
        if regex is not None and not 0 <= int(number.text) <= regex.groups:
            self.fail(
                f"the expression has no group {number.text}", hint=f"it has {regex.groups}; #0 is the whole match"
            )
        self.at += 1
        if not self.take("%"):
            self.fail("% and the name of a variable must follow the number", hint="such as /(.)P/#1%x")
        return int(number.text), self.identifier("the name of a variable is missing after %", "such as /(.)P/#1%x")

    def identifier(self, message: str, hint: str) -> str:
        token = self.token
        if token.kind != "label":
            self.fail(message, hint)
        self.at += 1
        return token.text

    def new_name(self) -> str:
        self.take("=")
        column = self.token.column
        name = self.identifier("a name is missing after =", "a name begins with a letter, as in NP=subject")
        if name in self.names:
            hint = f"write ={name} without a label to refer to that node, or choose another name"
            self.fail(f"another node is already named {name}", hint, column)
        if self.negations:
            hint = "a negated node can't be named; remove the name"
            self.fail(f"{name} names a node that is negated", hint, column)
        self.names |= {name}
        return name

    def old_name(self, sign: Token) -> str:
        column = self.token.column
        hint = "a name begins with a letter, as in NP=x $ =x"
        name = self.identifier(f"a name is missing after {sign.text}", hint)
        if name not in self.names:
            known = (
                f"the names so far: {', '.join(sorted(self.names))}"
                if self.names
                else f"name it first, as in NP={name}"
            )
            self.fail(f"no node before this one is named {name}", known, column)
        return name
