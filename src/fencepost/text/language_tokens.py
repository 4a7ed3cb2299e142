"""Splits sentences of languages other than English into tokens, by the conventions of their treebanks.

Only whitespace is left out, and only inside a word of several parts (``afin de``) is it in a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from fencepost.text.character_classes import DASH, EMOJI, EXTENDER, FLAG_LETTER, JOINER, classify
from fencepost.text.conventions import TokenRules
from fencepost.text.tokens import ACRONYM, Token, end_of_url
from fencepost.trees.tree import NOT_TEXT

_W: Final = f"[A-Za-z0-9_{JOINER}{EXTENDER}]"
_BEFORE_WORDS: Final = (
    r"(?P<url>(?:https?|ftp|file)://[^\s<>\"“”]+|www\.[^\s<>\"“”]+)",
    r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?",
    rf"[@\#][A-Za-z_]{_W}*",
    rf"[0-9\#*]{EXTENDER}+",
    rf"{FLAG_LETTER}{{1,2}}",
    rf"{EMOJI}{EXTENDER}*(?:{JOINER}{EMOJI}{EXTENDER}*)*",
    r"\[(?:\.{3}|…)\]",
    r"\.{2,}|…+",
    rf"-{{2,}}|{DASH}{{2,}}",
    r"``|''|‘‘",
    r"(?<![^\s(])[-+][0-9]+(?:[-.,/:][0-9]+)*(?:%)?",
    r"[A-Z]{1,2}\$",
    rf"°[CFK](?!{_W})",
)
_AFTER_WORDS: Final = (r"[!?]+", r"\*+|=+|~+|\#+|\|+|\^+|\\+", r"\S")
_APOSTROPHE_WORD: Final = rf"'(?:[0-9]{{2}}|[a-z]{{1,2}})(?!{_W})"
_AFTER_STOP: Final = re.compile(r"[\"'”)\]}\s]*\Z|\s?[\"'”)\]}]+(?=\s)")
_NUMBER_AFTER: Final = re.compile("[ \u00a0\u202f][0-9]{3}(?![0-9])")
_LONGEST_JOINED: Final = 6
_DIGITS: Final = 3  # in a group of a long number
_CURLY: Final = str.maketrans({"’": "'", "ʼ": "'"})


class _Part(NamedTuple):
    start: int
    end: int
    form: str


class LanguageTokenizer:
    """The tokens of one sentence, by the rules of a language."""

    def __init__(self, rules: TokenRules, quotes: Mapping[int, str]) -> None:
        self._rules, self._quotes = rules, quotes
        self._pattern = _pattern(rules)
        self._clitic = _ending(rules.clitics, "(?<=-)" if rules.hyphen_stays else "")
        self._prefix = re.compile(rf"(?i:{_alternatives(rules.prefixes)})-(?=[A-Za-zÀ-ž])") if rules.prefixes else None
        self._suffix = _ending(rules.endings)
        # A word may be a million letters long: only its end is looked at, and only once.
        self._longest_ending = max(map(len, (*rules.clitics, *rules.endings)), default=0)
        self._longest_kept = max(map(len, rules.kept), default=0)
        self._joined_first = frozenset(words[0] for words in rules.joined)

    def __call__(self, sentence: str) -> list[Token]:
        classes = classify(sentence.translate(self._quotes))
        spans = list(self._spans(classes, sentence))
        if self._rules.joined or self._rules.grouped_numbers:
            parts = [part for group in self._groups(sentence, spans) for part in self._join(sentence, group)]
        else:
            parts = [part for start, end in spans for part in self._parts(sentence, start, end)]
        return [Token(sentence[part.start : part.end], *part) for part in parts]

    def _spans(self, classes: str, sentence: str) -> Iterator[tuple[int, int]]:
        position, last = 0, len(classes.rstrip())
        while match := self._pattern.search(classes, position):
            start, end = match.span()
            if match.lastgroup == "url":
                end = end_of_url(classes, start, end)
            elif match.lastgroup == "word" and classes[end - 1] == ".":
                end -= self._is_full_stop(classes, sentence, start, end, last)
            yield start, end
            position = end

    def _is_full_stop(self, classes: str, sentence: str, start: int, end: int, last: int) -> bool:
        """True if the period of a word ends the sentence, or a quotation inside it."""
        if end != last and not _AFTER_STOP.match(classes, end):
            return False
        word = sentence[start : end - 1].lower()
        return word not in self._rules.abbreviations and not ACRONYM.fullmatch(classes, start, end - 1)

    def _parts(self, sentence: str, start: int, end: int) -> Iterator[_Part]:
        """A token, or the words that are written together in it."""
        rules, text = self._rules, sentence[start:end].translate(_CURLY)
        if self._prefix and (prefix := self._prefix.match(text)):
            yield self._part(sentence, start, start + prefix.end())
            start, text = start + prefix.end(), text[prefix.end() :]
        lower = text.lower()
        if found := rules.cut.get(lower):
            middle, first, second = found
            first = first.capitalize() if text[0].isupper() else first
            yield from (_Part(start, start + middle, first), _Part(start + middle, end, second))
            return
        if lower in rules.kept:
            yield self._part(sentence, start, end)
            return
        borders = [end]
        length = len(text)
        while (clitic := self._cut(self._clitic, text, length)) is not None:
            length = clitic
            borders.append(start + length)
        while not self._is_kept(text, length) and (suffix := self._cut(self._suffix, text, length)) is not None:
            length = suffix
            borders.append(start + length)
        borders = [start, *reversed(borders)]
        for index, (left, right) in enumerate(pairwise(borders)):
            part = self._part(sentence, left, right)
            before, after = rules.seam * (index > 0), rules.seam * (index < len(borders) - 2)
            yield part._replace(form=before + part.form + after) if rules.seam else part

    def _cut(self, ending: re.Pattern[str] | None, text: str, length: int) -> int | None:
        """Where an ending of the first ``length`` letters begins; None if too few letters are left before it."""
        match = ending.search(text, max(0, length - self._longest_ending), length) if ending else None
        return match.start() if match and match.start() >= self._rules.shortest_stem else None

    def _is_kept(self, text: str, length: int) -> bool:
        return length <= self._longest_kept and text[:length].lower() in self._rules.kept

    def _part(self, sentence: str, start: int, end: int) -> _Part:
        form = sentence[start:end].translate(_CURLY) if end - start > 1 else sentence[start:end]
        return _Part(start, end, NOT_TEXT.sub("\ufffd", form.translate(self._rules.forms)))

    def _groups(self, sentence: str, spans: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """The spans, with those of ``afin`` and ``de`` together, and those of ``50 000``."""
        words = [sentence[start:end].translate(_CURLY).lower() for start, end in spans]
        index = 0
        while index < len(spans):
            last = index + self._length_joined(words, index) - 1
            is_number = len(words[index]) <= _DIGITS and words[index].isdigit()
            if last == index and is_number and self._rules.grouped_numbers:
                while last + 1 < len(spans) and _is_group(sentence, spans[last][1], words[last + 1]):
                    last += 1
            yield spans[index : last + 1]
            index = last + 1

    def _join(self, sentence: str, group: list[tuple[int, int]]) -> Iterator[_Part]:
        if len(group) == 1:
            yield from self._parts(sentence, *group[0])
            return
        forms = [self._part(sentence, start, end).form for start, end in group]
        yield _Part(group[0][0], group[-1][1], "_".join(forms))

    def _length_joined(self, words: list[str], index: int) -> int:
        if words[index] not in self._joined_first:
            return 1
        lengths = range(min(_LONGEST_JOINED, len(words) - index), 1, -1)
        return next((each for each in lengths if tuple(words[index : index + each]) in self._rules.joined), 1)


def _is_group(sentence: str, end: int, word: str) -> bool:
    """True if a number that ends at ``end`` goes on with ``word`` after a space."""
    return len(word) == _DIGITS and _NUMBER_AFTER.match(sentence, end) is not None


def _pattern(rules: TokenRules) -> re.Pattern[str]:
    joiners, between_digits = re.escape(rules.joiners), re.escape(rules.number_joiners)
    inside = rf"(?:\.-(?=[A-Za-z])|[{joiners}](?={_W})|(?<=[0-9])[{between_digits}](?=[0-9])){_W}+"
    percent = r"|(?<=[0-9])%" if rules.percent else ""
    hanging = r"|(?<=[0-9]),-(?![0-9])|-(?!-)(?=[\s,])" if "-" in rules.joiners else ""
    elided = (rf"(?i:{_alternatives(tuple(rules.elisions))})'",) if rules.elisions else ()
    word = rf"(?P<word>{_W}+(?:{inside})*(?:\.(?![.A-Za-z0-9]){percent}{hanging})?)"
    return re.compile("|".join((*_BEFORE_WORDS, *elided, _APOSTROPHE_WORD, word, *_AFTER_WORDS)))


def _alternatives(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, words))


def _ending(words: tuple[str, ...], after: str = "") -> re.Pattern[str] | None:
    return re.compile(rf"{after}(?i:{_alternatives(words)})\Z") if words else None
