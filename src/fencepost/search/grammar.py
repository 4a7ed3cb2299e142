"""Reads patterns: text to tokens to ``syntax``. Mistakes are reported with their column and what to write instead.

The language is that of Tregex's manual. Where the manual is silent, its program decides: what a label may contain,
which names may be used where, and that relations may stand in round brackets as well as square ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NoReturn

from fencepost.errors import PatternError
from fencepost.search.descriptions import DescriptionReader
from fencepost.search.syntax import All, Any, Condition, Description, NodePattern, Related, Relation
from fencepost.search.tokens import Token

# Other spellings. A number stands for itself: `<,` is `<1`, and `<-` is `<-1` unless a number follows.
_SAME: Final = {"$.": "$+", "$,": "$-", "$..": "$++", "$,,": "$--", "<<`": "<<-", ">>`": ">>-", "<`": "<-", ">`": ">-"}
_LONGEST_PATTERN: Final = 20_000  # characters
_DEEPEST: Final = 100  # brackets
_MOST_RELATIONS: Final = 120


def parse_pattern(text: str) -> NodePattern:
    """The pattern that a text says. Raises PatternError."""
    if len(text) > _LONGEST_PATTERN:
        raise PatternError(f"the pattern has {len(text):,} characters", text[:60] + "…", 1, hint="use a file of macros")
    return _Reader(text).pattern()


class _Reader(DescriptionReader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.relations = 0

    # Nodes

    def pattern(self) -> NodePattern:
        if self.at_end():
            self.fail("the pattern is empty", hint="such as NP, or NP < PP")
        node = self.node()
        if not self.at_end():
            self.unexpected()
        return node

    def unexpected(self) -> NoReturn:
        """Explains a token that can't follow a whole node."""
        token = self.token
        if token.text in (")", "]"):
            opening = {")": "(", "]": "["}[token.text]
            self.fail(f"this {token.text} was never opened", hint=f"remove it, or open it with {opening}")
        if token.kind in ("label", "quoted", "regex", "any", "root"):
            before = self.tokens[self.at - 1]
            if token.glued and before.kind == "regex":
                self.fail(f"{token.text!r} follows an expression", hint="write \\/ for a slash inside of it")
            self.fail(f"a relation is missing before {token.text}", hint=f"such as < {token.text}")
        if token.text == "|":
            hint = "write alternative labels without blanks, NP|VP; or alternative relations, < NP | < VP"
            self.fail("| must stand between two relations", hint=hint)
        if token.text == "&":
            self.fail("& must stand between two relations", hint="such as NP < DT & < NN")
        if token.text in ("!", "?"):
            self.fail(f"a relation must follow {token.text}", hint=f"such as {token.text}< NP", column=token.column)
        if token.text == "(":
            self.fail("a relation is missing before (", hint="such as < (NP < NN)")
        if token.text == "~":
            self.fail("~ takes the place of a label", hint="such as NP=x $ ~x")
        if token.text == "=":
            self.fail("a node has only one name", hint="remove one of them")
        if token.text == "#":
            self.fail("groups come right after the expression, and the name last", hint="such as /(.)P/#1%x=name")
        self.fail(f"{token.text} can't stand here", hint="see the list of relations in docs/search.md")

    def node(self) -> NodePattern:
        """A description and its relations, or a node in brackets with further relations."""
        opening = self.token
        if not self.take("("):
            return self.with_conditions(self.described())
        self.enter(opening)
        if self.token.text == ")":
            self.fail("there is no node between the brackets", hint="such as (NP < NN)")
        inner = self.node()
        self.close(opening, ")")
        if inner.condition is None and self.begins_condition():
            hint = "remove the brackets around the label"
            self.fail("relations can't follow a label that stands alone in brackets", hint, opening.column)
        return self.with_conditions(inner)

    def described(self) -> NodePattern:
        """A description. ``_ROOT_`` is any node that isn't below another one, and ``!_ROOT_`` any that is."""
        description = self.description()
        if description.kind != "root":
            return NodePattern(description)
        above = Related(Relation(">"), NodePattern(Description("any")), negated=not description.negated)
        return NodePattern(replace(description, kind="any", negated=False), above)

    def enter(self, opening: Token) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"more than {_DEEPEST} brackets inside one another", "use fewer", opening.column)

    def close(self, opening: Token, sign: str) -> None:
        self.depth -= 1
        if self.at_end():
            self.fail(f"this {opening.text} is never closed", hint=f"close it with {sign}", column=opening.column)
        if not self.take(sign):
            self.unexpected()

    def with_conditions(self, node: NodePattern) -> NodePattern:
        if not self.begins_condition():
            return node
        parts = [] if node.condition is None else [node.condition]
        new = self.alternatives()
        if parts and isinstance(new, All) and not (new.negated or new.optional):
            parts.extend(new.parts)
        else:
            parts.append(new)
        return replace(node, condition=parts[0] if len(parts) == 1 else All(tuple(parts)))

    # Relations

    def begins_condition(self) -> bool:
        if self.token.is_sign("("):
            return self.holds_relations()
        return self.token.kind in ("relation", "chain") or self.token.is_sign("!", "?", "[")

    def holds_relations(self) -> bool:
        """True if the bracket here holds relations rather than a node."""
        at = self.at
        while self.tokens[at].is_sign("(", "!", "?"):
            at += 1
        return self.tokens[at].kind in ("relation", "chain") or self.tokens[at].is_sign("[")

    def alternatives(self) -> Condition:
        """Conditions joined by ``|``; each may use the names before it, but not those of the others."""
        before = self.names
        known = before
        parts: list[Condition] = []
        while True:
            self.names = before
            parts.append(self.conjunction())
            known |= self.names
            if not self.take("|"):
                break
            if not self.begins_condition():
                self.missing_relation("|")
        self.names = known
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def missing_relation(self, sign: str) -> NoReturn:
        if self.token.kind in ("label", "any", "root", "regex", "quoted"):
            if sign == "|":
                hint = f"such as | < {self.token.text}; alternative labels have no blanks, as in NP|VP"
            else:
                hint = f"such as {sign} < {self.token.text}"
            self.fail(f"a relation must follow {sign}", hint)
        self.fail(f"a relation must follow {sign}", hint=f"such as {sign} < NP")

    def conjunction(self) -> Condition:
        parts = [self.condition()]
        while True:
            if self.take("&"):
                if not self.begins_condition():
                    self.missing_relation("&")
            elif not self.begins_condition():
                break
            parts.append(self.condition())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def condition(self) -> Condition:
        sign = self.token
        if self.take("!"):
            if not self.begins_condition():
                self.missing_relation("!")
            self.negations += 1
            inner = self.condition()
            self.negations -= 1
            if inner.optional:
                self.fail("a relation can't be both negated and optional", "remove ! or ?", sign.column)
            return replace(inner, negated=True)
        if self.take("?"):
            if not self.begins_condition():
                self.missing_relation("?")
            if self.token.text == "?":
                self.fail("a relation takes only one ?", "remove one ?", sign.column)
            inner = self.condition()
            if inner.negated:
                self.fail("a relation can't be both negated and optional", "remove ! or ?", sign.column)
            return replace(inner, optional=True)
        if self.take("[", "("):
            self.enter(sign)
            if not self.begins_condition():
                self.missing_relation(sign.text)
            group = self.alternatives()
            self.close(sign, {"[": "]", "(": ")"}[sign.text])
            return group
        return self.related()

    def related(self) -> Condition:
        token = self.token
        self.count_relation(token)
        self.at += 1
        if token.text == "<...":
            return self.exactly(token)
        relation = self.relation(token)
        opening = self.token
        if self.take("("):
            self.enter(opening)
            node = self.node()
            self.close(opening, ")")
        else:
            node = self.described()
        return Related(relation, node)

    def count_relation(self, token: Token) -> None:
        self.relations += 1
        if self.relations > _MOST_RELATIONS:
            self.fail(f"the pattern has more than {_MOST_RELATIONS} relations", "split the pattern", token.column)

    def relation(self, token: Token) -> Relation:
        if token.kind == "chain":
            return Relation(token.text, chain=self.chain(token))
        symbol = _SAME.get(token.text, token.text)
        if symbol == "<=" and self.token.glued and self.token.kind == "label" and self.token.text in self.names:
            self.at -= 1  # <=x is < =x where x is a name
            self.tokens[self.at] = Token("sign", "=", token.column + 1, True)
            return Relation("<")
        if symbol in ("<", ">", "<-", ">-", "<<<") and self.token.kind == "number":
            return self.numbered(symbol)
        if symbol in ("<,", ">,", "<-", ">-"):
            return Relation(f"{symbol[0]}i", {",": 1, "-": -1}[symbol[1]])
        if symbol == "$" and self.token.glued and self.token.text == symbol:
            self.fail(
                f"{symbol}{symbol} isn't a relation", "$ is any sister, $++ and $-- those to one side", token.column
            )
        return Relation(symbol)

    def chain(self, token: Token) -> Description:
        """The nodes of a chain: ``(NP)``, ``[NP]``, or an expression without brackets."""
        opening = self.token
        if not self.take("(", "["):
            expression = self.tokens[self.at + 1] if opening.text == "!" else opening
            if expression.kind != "regex":
                self.fail(f"( must follow {token.text}", hint=f"such as NP {token.text}(NP) NN")
            return self.description(in_chain=True)
        inner = self.description(in_chain=True)
        sign = {"(": ")", "[": "]"}[opening.text]
        if not self.take(sign):
            if self.at_end():
                self.fail(f"this {opening.text} is never closed", f"close it with {sign}", opening.column)
            hint = "write one label inside the brackets, without a name or relations"
            self.fail(f"{self.token.text} can't stand inside {token.text}{opening.text}…{sign}", hint)
        if inner.kind in ("same node", "same label", "root"):
            self.fail("a chain is described by a label", "such as <+(VP)", inner.column)
        return inner

    def numbered(self, symbol: str) -> Relation:
        token = self.token
        self.at += 1
        if symbol.endswith("-") and token.text.startswith("-"):
            self.fail("there are two minus signs before the number", "such as <-2", token.column)
        number = int(symbol[1:].removeprefix("<<") + token.text)
        if number == 0:
            self.fail("children are counted from 1", f"{symbol[0]}1 is the first, {symbol[0]}-1 the last", token.column)
        return Relation("<<<i" if symbol == "<<<" else f"{symbol[0]}i", number)

    def exactly(self, token: Token) -> Condition:
        """``<... { A ; B }``: A and B are the children, in this order, and there are no others."""
        opening = self.token
        if not self.take("{"):
            self.fail("{ must follow <...", hint="such as NP <... { DT ; NN }")
        parts: list[Condition] = []
        while True:
            self.count_relation(self.token)
            parts.append(Related(Relation("<i", len(parts) + 1), self.node()))
            if not self.take(";"):
                break
        if self.at_end():
            self.fail("this { is never closed", "close it with }", opening.column)
        if not self.take("}"):
            self.unexpected()
        others = NodePattern(Description("any", column=token.column))
        parts.append(Related(Relation("<i", len(parts) + 1), others, negated=True))
        return All(tuple(parts))
