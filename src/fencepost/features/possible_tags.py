"""Which tags a word can have, as far as the training trees tell: a comma is always ``,``, and no other word is.

A sign is a word without a letter or digit. A model now and then predicts a tag that its training trees never give to
that sign, or the tag of a sign for a word. Such a tag is replaced by the most frequent one that is possible.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from unicodedata import category

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Ints
from fencepost.features.vocab import Vocab
from fencepost.trees.tree import Leaf

OFTEN: Final = 10  # a sign seen less often may have every tag that signs have
SLIP: Final = 0.01  # a smaller share of a sign's tags are slips of the treebank
WORDS_KEPT: Final = 50_000  # in the cache ...
LETTERS_KEPT: Final = 50  # ... which takes only words of at most this many letters
MOST_IN_TABLE: Final = 2**26  # signs times tags
# Penn's tags of punctuation, and the marks that a rare sign with such a tag has one of: no emoji is a comma.
MARKS: Final = {".": ".!?…。！？।؟۔", ",": ",،、", "-LRB-": "([{<", "-RRB-": ")]}>", "``": "`\"'“‘„«", "''": "'\"”’»"}
CURRENCY: Final = "$"  # Penn's tag of $, £ and €
_CURRENCY_KIND: Final[int] = 2 ** len(MARKS)  # of rare signs made of currency signs only
_KINDS: Final = _CURRENCY_KIND + 1  # the others depend on the marks in the sign
_WORD, _RARE_SIGN, _FIRST_SIGN = 0, 1, 1 + _KINDS  # rows of the table

Tags = tuple[str, ...]  # most frequent first


def is_sign(word: str) -> bool:
    return not any(map(str.isalnum, word))


def _kind(sign: str) -> int:
    """The number of a rare sign's kind: one bit for each entry of ``MARKS``, or ``_CURRENCY_KIND``."""
    if all(category(mark) == "Sc" for mark in sign):
        return _CURRENCY_KIND
    return sum(any(mark in sign for mark in marks) << bit for bit, marks in enumerate(MARKS.values()))


@dataclass(frozen=True)
class PossibleTags:
    """Where a list is empty, every tag is possible."""

    signs: Mapping[str, Tags]  # of each sign seen often
    rare_signs: Tags  # each may have those whose marks it has
    words: Tags

    @classmethod
    def of(cls, leaves: Iterable[Leaf]) -> PossibleTags:
        """The tags that words have in trees. Slips are left out of the tags of signs; words do have rare tags."""
        of_sign: dict[str, Counter[str]] = defaultdict(Counter)
        of_words: Counter[str] = Counter()
        for (word, tag), count in Counter((leaf.word, leaf.tag) for leaf in leaves).items():
            (of_sign[word] if is_sign(word) else of_words)[tag] += count
        kept = {sign: _without_slips(tags) for sign, tags in of_sign.items()}
        return cls(
            signs={sign: _ordered(kept[sign]) for sign in sorted(kept) if of_sign[sign].total() >= OFTEN},
            rare_signs=_ordered(sum(kept.values(), Counter())),
            words=_ordered(of_words),
        )

    def extended(self, other: PossibleTags) -> PossibleTags:
        """The tags of both, its own first. A sign that only ``other`` knows may keep the tags of rare signs."""
        signs = {
            sign: _joined(self.signs.get(sign, self.rare_signs), other.signs.get(sign, ()))
            for sign in sorted({*self.signs, *other.signs})
        }
        return PossibleTags(signs, _joined(self.rare_signs, other.rare_signs), _joined(self.words, other.words))

    def of_rare_signs(self, kind: int) -> Tags:
        """The tags of rare signs of a kind."""
        if kind == _CURRENCY_KIND:
            return (CURRENCY,) if CURRENCY in self.rare_signs else self.rare_signs
        missing = [tag for bit, tag in enumerate(MARKS) if not kind >> bit & 1]
        return tuple(tag for tag in self.rare_signs if tag not in missing) or self.rare_signs

    def to_json(self) -> dict[str, Any]:
        signs = {sign: list(tags) for sign, tags in self.signs.items()}
        return {"signs": signs, "rare_signs": list(self.rare_signs), "words": list(self.words)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], tags: Vocab) -> PossibleTags:
        """Raises an error if a tag isn't in the vocabulary, or if the table of ``TagCorrector`` would be too large."""
        signs, rare_signs, words = data["signs"], data["rare_signs"], data["words"]
        if len(signs) * len(tags) > MOST_IN_TABLE:
            raise ValueError(f"it has possible tags of {len(signs):,} signs, each one of {len(tags):,}")
        for group in (*signs.values(), rare_signs, words):
            if not isinstance(group, list):
                raise TypeError(f"possible tags are {group!r:.50}, not a list")
            if unknown := [tag for tag in group if tag not in tags.ids]:
                raise ValueError(f"{unknown[0]!r} is a possible tag, but not in the vocabulary")
        return cls({sign: tuple(group) for sign, group in signs.items()}, tuple(rare_signs), tuple(words))


class TagCorrector:
    """Replaces impossible tags in a model's predictions."""

    def __init__(self, possible: PossibleTags, tags: Vocab) -> None:
        groups = [possible.words, *map(possible.of_rare_signs, range(_KINDS)), *possible.signs.values()]
        numbers = [[tags.ids[tag] for tag in group] or range(len(tags)) for group in groups]
        self._possible: npt.NDArray[np.bool_] = np.zeros((len(groups), len(tags)), bool)
        for row, allowed in zip(self._possible, numbers, strict=True):
            row[allowed] = True
        self._most_frequent = np.array([allowed[0] for allowed in numbers], np.int64)
        self._row_of = _Rows({sign: row for row, sign in enumerate(possible.signs, _FIRST_SIGN)})

    def correct(self, words: Sequence[str], tags: Ints) -> Ints:
        """The tags of all words [W], each replaced by its word's most frequent tag if it is impossible."""
        rows = np.fromiter(map(self._row_of.__getitem__, words), np.int64, len(words))
        # Numbers beyond the vocabulary are left for ``Vocab.symbol`` to report.
        wrong = ~self._possible[rows, np.minimum(tags, self._possible.shape[1] - 1)]
        return np.where(wrong, self._most_frequent[rows], tags) if wrong.any() else tags


class _Rows(dict[str, int]):
    """The table's row for each word: a cache that several threads may use."""

    def __init__(self, signs: Mapping[str, int]) -> None:
        super().__init__()
        self._signs = signs

    def __missing__(self, word: str) -> int:
        row = self._signs.get(word, _RARE_SIGN + _kind(word) if is_sign(word) else _WORD)
        if len(self) >= WORDS_KEPT:
            self.clear()
        if len(word) <= LETTERS_KEPT:
            self[word] = row
        return row


def _without_slips(tags: Counter[str]) -> Counter[str]:
    return Counter({tag: count for tag, count in tags.items() if count >= SLIP * tags.total()})


def _ordered(tags: Counter[str]) -> Tags:
    return tuple(sorted(tags, key=lambda tag: (-tags[tag], tag)))


def _joined(ours: Tags, theirs: Tags) -> Tags:
    return tuple(dict.fromkeys((*ours, *theirs)))
