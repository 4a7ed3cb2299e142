"""Malformed and nasty search patterns. They must raise a PatternError with column and hint, or end within seconds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from fencepost import Pattern, Tree
from fencepost.errors import InputError, PatternError
from fencepost.search.index import Index

SEEDS = [
    "NP < (PP=pp < (IN < of))",
    "S|SINV|SQ [> TOP <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP [<# MD|VBZ | < CC < (VP <# MD)])]",
    "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
    "/^WH.*-([0-9]+)$/#1%i .. (/^-NONE-/=trace < /-([0-9]+)$/#1%i) ?$ @NP=np",
    '"PRP$" <<<-1 !/[a-z&&[^aeiou]]+(?=\\p{L})/i ,+(NP|VP) (VP=x >+(!@S) ~x == =x)',
    "__ <... { NP ; VP < /\\Q.\\E/ ; . } : (NN <: cat)",
]
SIGNS = [*"()[]{}<>!?&|=~@#%/\\\"';:,.$+-_`*^0123456789 \t\n\0é猫"]
SIGNS += ["__", "NP", "=a", "~a", "#1%x", "<...", "<+(", "/(a+)+$/"]
SLOW = ["<<", ">>", "..", ":"]
RELATIONS = [*SLOW, "<", ">", "$", ".", ",", ",,", "$++", "$--", "$+", "$-", "<,", ">-", "<:", "<<:", "<<,", ">>-"]
RELATIONS += ["<#", "<<#", ">>#", "==", "<=", "<<<", "<-2", ">2"]
CHAINS = ["<+(__)", ">+(!NP)", ".+(__)", ",+(/./)", ".+(NN)"]
ROOTS = ["__", "__=a", "__=b", "!NN", "@NP", "NP|VP"]
LABELS = [*ROOTS, "NN", "/./", "/(.)/#1%v", "NOWHERE", "=a", "~a", "=b", "~b"]
EXPRESSIONS = [
    "(a+)+$",
    "(a|a)*b",
    "(a*)*\\1",
    "(?>a+)+b",
    "(\\w+\\s?)*!",
    "a{1000}{1000}",
    "(?=(a+)+b)",
    "((((",
    "[a-",
]


def mutate_characters(random: random.Random, pattern: str) -> str:
    characters = list(pattern)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(characters) + 1)
        new = random.choice([[], [random.choice(SIGNS)], characters[at : at + 5] * 2, [random.choice(SIGNS)] * 40])
        characters[at : at + random.randint(0, 3)] = new
    return "".join(characters)


def mutate_tokens(random: random.Random, pattern: str) -> str:
    tokens = re.findall(r"\s+|\w+|[<>$.,:]+|.", pattern)
    for _ in range(random.randint(1, 4)):
        at, other = random.randrange(len(tokens) + 1), random.randrange(len(tokens) + 1)
        first, last = sorted((at, other))
        new = random.choice([[], [random.choice(SIGNS)], tokens[first:last][:10], [" ", random.choice(LABELS)]])
        tokens[at : at + random.randint(0, 2)] = new
    return "".join(tokens)


def random_signs(random: random.Random, pattern: str) -> str:
    several = random.choices([*SIGNS, *RELATIONS, *LABELS], k=random.randint(0, 25))
    return random.choice(["", " "]).join(several)


def nested(random: random.Random, pattern: str) -> str:
    """A pattern that is mostly well-formed, deep and slow."""
    text = random.choice(LABELS)
    for _ in range(random.choice([2, 4, 6, 8, 12, 30, 110])):
        relation = (
            random.choice(RELATIONS + CHAINS) if random.random() < 0.5 else random.choice(["<<", ">>", "..", ":"])
        )
        sign = random.choice(["", "", "", "", "!", "?"])
        more = f" {random.choice(RELATIONS)} {random.choice(LABELS)}" * random.choice([0, 0, 0, 1, 3])
        text = f"{random.choice(ROOTS)} {sign}{relation} ({text}){more}"
    return text


def repeated(random: random.Random, pattern: str) -> str:
    part = f" {random.choice(RELATIONS + CHAINS)} {random.choice(LABELS)}"
    return random.choice(ROOTS) + random.choice(["", " &", " |"]).join([part] * random.choice([3, 30, 100, 3000]))


def expressions(random: random.Random, pattern: str) -> str:
    parts = [f"/{random.choice(EXPRESSIONS)}{random.choice(EXPRESSIONS)}/" for _ in range(random.randint(1, 3))]
    return f" {random.choice(RELATIONS)} ".join(parts)


KINDS: list[Callable[[random.Random, str], str]] = [
    mutate_characters,
    mutate_tokens,
    random_signs,
    nested,
    repeated,
    expressions,
]


def large_tree() -> str:
    """A tree of 300 words with traces, and words that are hard on regular expressions."""
    generator = random.Random("large tree")

    def grow(words: int) -> str:
        if words == 1:
            word = generator.choice(["a" * 40, "of", "cat", "*T*-1", "-LRB-", "über"])
            return f"({generator.choice(['NN', 'DT', 'IN', '-NONE-', ','])} {word})"
        left = generator.randint(1, words - 1)
        label = generator.choice(["NP", "VP", "S", "NP-SBJ-1", "WHNP-1", "UCP"])
        return f"({label} {grow(left)} {grow(words - left)})"

    return f"(TOP {grow(300)})"


def check(text: str, trees: list[Tree], index: Index) -> str:
    """Searches trees for a pattern, and returns what came of it. Other exceptions are failures."""
    try:
        pattern = Pattern(text)
    except PatternError as error:
        in_pattern = 1 <= error.column <= len(error.pattern) + 1
        if not in_pattern or error.hint is None or "\n" in error.problem:
            raise AssertionError(f"an error without its column or hint, or over several lines: {error}") from error
        return "PatternError"
    try:
        found = sum(search(pattern, tree) for tree in trees)
        if index.count(pattern, once=True) != found:
            raise AssertionError("the index doesn't agree")
    except InputError as error:
        if error.hint is None:
            raise AssertionError(f"an error without a hint: {error}") from error
        return "too many steps or ways"
    return "matches" if found else "no matches"


def search(pattern: Pattern, tree: Tree) -> int:
    number = pattern.count(tree, once=True)
    assert sum(1 for _ in islice(pattern.search(tree, once=True), 1000)) == min(number, 1000)
    for _ in islice(pattern.search(tree), 1000):
        pass
    return number


class Patterns:
    """Each case is one pattern, for a tree of 300 words and a tree of 500 levels."""

    name = "patterns"
    last_input: bytes | None = None

    def prepare(self, folder: Path) -> None:
        deep = Tree.from_string("(TOP " + "(NP (DT a) " * 500 + "(NN b)" + ")" * 501)
        self.trees = [Tree.from_string(large_tree()), deep]
        self.index = Index.of(self.trees)

    def case(self, generator: random.Random) -> str:
        return self.replay(generator.choice(KINDS)(generator, generator.choice(SEEDS)).encode("utf-8"))

    def replay(self, content: bytes) -> str:
        self.last_input = content
        return check(content.decode("utf-8"), self.trees, self.index)
