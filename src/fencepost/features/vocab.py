"""Vocabularies: the numbers of the symbols that a trained model knows. Frozen, and written to ``vocab.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from fencepost.errors import COPY_AGAIN, ModelError
from fencepost.trees.spans import Chain, spans_below_root
from fencepost.trees.tree import NOT_TEXT, Tree, check_tags, real_words

Item = TypeVar("Item")

UNKNOWN: Final = 0
MOST_COUNTED: Final = 2**53  # a count that every kind of number can hold
LONGEST_CHAIN: Final = 100  # labels in a unary chain


@dataclass(frozen=True)
class Vocab:
    """Symbols numbered from ``reserved``; lower numbers are special and have no symbol (unknown, start, stop …)."""

    symbols: tuple[str, ...]
    counts: tuple[int, ...]
    reserved: int

    def __post_init__(self) -> None:
        if len(self.symbols) != len(self.counts) or len(set(self.symbols)) != len(self.symbols):
            raise ModelError("vocab.json is damaged: a vocabulary needs distinct symbols with one count each")

    @classmethod
    def of(cls, symbols: Iterable[str], reserved: int, min_count: int = 1) -> Vocab:
        """The symbols seen at least ``min_count`` times, most frequent first."""
        counted = sorted(Counter(symbols).items(), key=lambda item: (-item[1], item[0]))
        kept = [(symbol, count) for symbol, count in counted if count >= min_count]
        return cls(tuple(symbol for symbol, _ in kept), tuple(count for _, count in kept), reserved)

    def extended(self, other: Vocab) -> Vocab:
        """A vocabulary with the symbols of ``other`` after its own, which keep their numbers; counts add up."""
        counted = Counter(dict(zip(self.symbols, self.counts, strict=True)))  # in this order
        counted.update(dict(zip(other.symbols, other.counts, strict=True)))
        return Vocab(tuple(counted), tuple(counted.values()), self.reserved)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        return {symbol: self.reserved + index for index, symbol in enumerate(self.symbols)}

    def id(self, symbol: str) -> int:
        return self.ids.get(symbol, UNKNOWN)

    def symbol(self, number: int) -> str:
        if self.reserved <= number < len(self):
            return self.symbols[number - self.reserved]
        raise ModelError(
            f"vocab.json has {len(self)} entries, but the model predicts number {number}: they don't match",
            hint=COPY_AGAIN,
        )

    def __len__(self) -> int:
        return self.reserved + len(self.symbols)

    def to_json(self) -> dict[str, Any]:
        return {"reserved": self.reserved, "symbols": list(self.symbols), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], reserved: int) -> Vocab:
        """A vocabulary with this many reserved numbers. Its file may come from a stranger."""
        symbols, counts = tuple(_listed(str, data["symbols"])), tuple(_listed(int, data["counts"]))
        if type(data["reserved"]) is not int or data["reserved"] != reserved:
            raise ValueError(f"{data['reserved']!r:.20} numbers are reserved, not {reserved}")
        if not all(0 <= count <= MOST_COUNTED for count in counts):
            raise ValueError("a count is negative or too large")
        return cls(symbols, counts, reserved)

    def require_symbols(self) -> Vocab:
        """Raises an error unless each entry can be a tag or a label in a tree."""
        check_tags(self.symbols)
        return self

    def require_words(self) -> Vocab:
        """Raises an error unless each entry can be a word in a tree."""
        real_words(self.symbols)
        return self

    def require_letters(self) -> Vocab:
        """Raises an error unless each entry is one letter."""
        wrong = [symbol for symbol in self.symbols if len(symbol) != 1 or NOT_TEXT.match(symbol)]
        if wrong:
            raise ValueError(f"{wrong[0]!r:.20} is not a letter")
        return self


@dataclass(frozen=True)
class Labels:
    """Constituent labels, unary chains included, as a bijection with numbers; 0 is the empty label ``()``."""

    chains: tuple[Chain, ...]

    def __post_init__(self) -> None:
        if not self.chains or self.chains[0] != () or len(set(self.chains)) != len(self.chains):
            raise ModelError("vocab.json is damaged: labels must be distinct and begin with the empty label")

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Labels:
        """The labels in trees, without their root symbols, most frequent first."""
        counted = Counter(span.label for tree in trees for span in spans_below_root(tree))
        return cls(((), *sorted(counted, key=lambda chain: (-counted[chain], chain))))

    def extended(self, other: Labels) -> Labels:
        """Labels with those of ``other`` after its own, which keep their numbers."""
        return Labels(tuple(dict.fromkeys((*self.chains, *other.chains))))

    @cached_property
    def ids(self) -> Mapping[Chain, int]:
        return {chain: number for number, chain in enumerate(self.chains)}

    @cached_property
    def symbols(self) -> Mapping[str, int]:
        """Single labels, numbered from 1 in the order in which the chains have them."""
        labels = dict.fromkeys(label for chain in self.chains for label in chain)
        return {label: number for number, label in enumerate(labels, 1)}

    def __len__(self) -> int:
        return len(self.chains)

    def to_json(self) -> list[list[str]]:
        return [list(chain) for chain in self.chains]

    @classmethod
    def from_json(cls, data: Any) -> Labels:
        chains = _listed(list, data)
        longest = max(map(len, chains), default=0)
        if longest > LONGEST_CHAIN:
            raise ValueError(f"a chain has {longest:,} labels")
        check_tags(_listed(str, [label for chain in chains for label in chain]))
        return cls(tuple(tuple(chain) for chain in chains))


def _listed(kind: type[Item], values: Any) -> list[Item]:
    """A list from a JSON file, whose values must be of exactly this type: True is not an integer."""
    if not isinstance(values, list):
        raise TypeError(f"{values!r:.20} is not a list")
    wrong = [value for value in values if type(value) is not kind]
    if wrong:
        raise TypeError(f"{wrong[0]!r:.20} is not of type {kind.__name__}")
    return values
