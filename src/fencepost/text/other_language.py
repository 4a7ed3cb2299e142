"""``LanguageWatch`` notices text that isn't in a model's language, by its commonest words and by its letters.

The votes of a sentence for a language are the words that this language has and the model's has not, less those that
only the model's has. Votes add up over sentences, and text in the model's language takes them back, so that a foreign
quotation isn't enough.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from importlib import resources
from math import inf
from typing import Any, Final, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENOUGH: Final = 6.0  # votes for a language, after which the text is taken to be in it
ENOUGH_LATER: Final = 10.0  # the same after text in the model's language: a quotation may have several sentences
MOST: Final = 3.5  # votes that one sentence can give: a single one isn't enough
ENOUGH_AT_END: Final = 3.0  # votes in a short input that has nothing in the model's language
PER_WORD: Final = 0.08  # subtracted from the votes for each word: text in a language has more common words than that
FEWEST_WORDS: Final = 4  # in a sentence that counts: shorter ones are often names
FEWEST_OWN: Final = 3  # words of the model's language that put a sentence in that language
MOST_OWN_AT_END: Final = 1  # such words in a short input that is in another language
NEAR: Final = 0.9  # of the words of the likeliest language: another language with this share is named, too
_LATIN: Final = "\u024f"  # the last Latin letter, roughly
_NO_SPACES: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # each letter counts as a word
_PARTS: Final = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{2,}")
_SHORTEST: Final = 3  # letters of a word that is recognised without its accents
_PLAIN: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ð": "d", "þ": "th", "ł": "l", "đ": "d", "ı": "i"}
)


class _Language(NamedTuple):
    bit: int  # stands for it in numbers that stand for several languages
    name: str
    words: frozenset[str]
    letters: re.Pattern[str]
    codes: list[str]
    also: list[str]
    is_guess: bool  # texts may be in it, as far as models of other languages can tell


class _Lexicon(NamedTuple):
    """The words as a model of one language sees them."""

    name: str
    own: int  # the bits of its language, and of those that it also takes
    own_words: frozenset[str]
    other_words: frozenset[str]  # those that its language doesn't have
    masks: Mapping[str, int]  # the bits of each word's languages
    names: Mapping[int, str]  # of the languages that a text may be in


class OtherLanguage(NamedTuple):
    """What a text looks like: one language, or two that can't be told apart."""

    name: str
    is_part: bool  # other text, before it, is in the model's language


class LanguageWatch:
    """Watches the sentences of one input, and says at most once that they aren't in the model's language.

    >>> watch = LanguageWatch("en")
    >>> for sentence in ("Ich weiß nicht ob sie noch kommt", "Wir haben sie gestern im Garten gesehen und gehört"):
    ...     print(watch.look(sentence.split()))
    None
    OtherLanguage(name='German', is_part=False)
    """

    def __init__(self, language: str) -> None:
        self._lexicon = _lexicon(language)
        self._is_done = False
        self._is_young = True  # nothing was in the model's language so far
        self._forget()

    @property
    def name(self) -> str | None:
        """The name of the model's language; None if it isn't known here, and nothing is noticed."""
        return None if self._lexicon is None else self._lexicon.name

    def look(self, words: Collection[str]) -> OtherLanguage | None:
        """The language of the last sentences if it isn't the model's, as soon as that is certain."""
        lexicon = self._lexicon
        if lexicon is None or self._is_done:
            return None
        found = set(map(str.lower, words))
        spelled = set() if "".join(found).isascii() else _spelled(words)
        found |= spelled
        own = found & lexicon.own_words
        other = found & lexicon.other_words
        odd = {word for word in spelled if word not in lexicon.masks}
        is_strange = not own and bool(spelled) and _is_in_another_script(found, lexicon.own)
        if is_strange or self._votes or len(other) + len(odd) > PER_WORD * len(found):
            if is_strange or len(found) >= FEWEST_WORDS:
                self._count(lexicon, found, own, other, odd, is_strange)
        elif len(own) >= FEWEST_OWN:
            self._is_young = False
        return self._best(lexicon, ENOUGH if self._is_young else ENOUGH_LATER) if self._votes else None

    def finish(self) -> OtherLanguage | None:
        """The same at the end of the input, where less is enough if nothing was in the model's language."""
        if self._lexicon is None or self._is_done or not self._is_young or not self._votes:
            return None
        return self._best(self._lexicon, ENOUGH_AT_END, MOST_OWN_AT_END)

    def _forget(self) -> None:
        self._votes: dict[int, float] = {}  # for each language, by its bit
        self._hits: Counter[int] = Counter()  # words that another language has, and the model's has not
        self._known = 0  # words of the model's language
        self._shared: Counter[int] = Counter()  # those that another language has, too
        self._seen: set[str] = set()  # a word counts once

    def _count(
        self, lexicon: _Lexicon, found: set[str], own: set[str], other: set[str], odd: set[str], is_strange: bool
    ) -> None:
        """``odd``: words in no list, with letters that may tell their language."""
        known = [lexicon.masks[word] for word in own]
        new = [lexicon.masks[word] for word in other - self._seen]
        for word in odd:
            mask = _mask_of_letters(word)
            if mask & lexicon.own:
                known.append(mask)
            elif word not in self._seen:
                new.append(mask)
        size = len(found - self._seen)
        self._seen |= found
        gains, shared = _tally(new), _tally(known)
        if len(known) >= FEWEST_OWN and all(count <= len(known) - shared[bit] for bit, count in gains.items()):
            self._is_young = False
        votes = {}
        for bit in (gains.keys() & lexicon.names.keys()) | self._votes.keys():
            vote = gains[bit] - (len(known) - shared[bit]) - PER_WORD * size
            total = self._votes.get(bit, 0.0) + (MOST if is_strange and gains[bit] else min(vote, MOST))
            if total > 0:
                votes[bit] = total
        if not votes:
            self._forget()
            return
        self._votes = votes
        self._hits.update(gains)
        self._shared.update(shared)
        self._known += len(known)

    def _best(self, lexicon: _Lexicon, enough: float, most_own: float = inf) -> OtherLanguage | None:
        """The languages with enough votes; ``most_own``: the words that only the model's language may have."""
        certain = [
            bit for bit, votes in self._votes.items() if votes >= enough and self._known - self._shared[bit] <= most_own
        ]
        if not certain:
            return None
        self._is_done = True
        words = {bit: self._hits[bit] + self._shared[bit] for bit in certain}
        order = sorted(certain, key=lambda bit: (-words[bit], bit))
        near = [bit for bit in order if words[bit] >= NEAR * words[order[0]]]
        return OtherLanguage(" or ".join(lexicon.names[bit] for bit in near[:2]), not self._is_young)


def _spelled(words: Iterable[str]) -> set[str]:
    """The words that may tell their language by their letters, in small letters; single letters of some scripts.

    Latin words with a capital are left out: they may be names.
    """
    spelled = set()
    for word in words:
        if not word.isascii():
            composed = unicodedata.normalize("NFC", word)
            spelled.update(_NO_SPACES.findall(composed))
            if composed[0] > _LATIN or not composed[0].isupper():
                spelled.update(part.lower() for part in _PARTS.findall(composed) if not part.isascii())
    return spelled


def _is_in_another_script(words: Iterable[str], own: int) -> bool:
    letters = [word[0] for word in words if word[:1].isalpha()]
    return min(letters, default="") > _LATIN and not any(_mask_of_letter(letter) & own for letter in letters)


def _tally(masks: Iterable[int]) -> Counter[int]:
    """The number of masks that have each bit."""
    tally: Counter[int] = Counter()
    for mask, count in Counter(masks).items():
        for bit in _bits(mask):
            tally[bit] += count
    return tally


@lru_cache(maxsize=4096)
def _bits(mask: int) -> tuple[int, ...]:
    return tuple(1 << number for number in range(mask.bit_length()) if mask >> number & 1)


def _mask_of_letters(word: str) -> int:
    """The languages that have all letters of a word."""
    mask = -1
    for letter in word:
        mask &= _mask_of_letter(letter)
    return mask


@lru_cache(maxsize=8192)
def _mask_of_letter(letter: str) -> int:
    return sum(each.bit for each in _languages().values() if each.letters.match(letter))


@lru_cache(maxsize=16)
def _lexicon(language: str) -> _Lexicon | None:
    languages = _languages()
    full = language.lower().replace("_", "-")
    base = full.partition("-")[0]
    own = languages.get(full) or next((each for code, each in languages.items() if base in (code, *each.codes)), None)
    if own is None:
        return None
    known = own.bit | sum(languages[each].bit for each in own.also)
    masks: Counter[str] = Counter()
    for each in languages.values():
        if each.is_guess or each is own:
            masks.update(dict.fromkeys(each.words, each.bit))
    own_words = frozenset(word for word, mask in masks.items() if mask & known)
    names = {each.bit: each.name for each in languages.values() if each.is_guess}
    return _Lexicon(own.name, known, own_words, frozenset(masks.keys() - own_words), masks, names)


@lru_cache(maxsize=1)
def _languages() -> dict[str, _Language]:
    """All languages by their codes."""
    tables = tomllib.loads(resources.files("fencepost.text").joinpath("common_words.toml").read_text("utf-8"))
    return {code: _language(1 << number, table) for number, (code, table) in enumerate(tables.items())}


def _language(bit: int, table: dict[str, Any]) -> _Language:
    letters = table.get("letters", "")
    is_latin = letters[:1] <= _LATIN
    # Single letters are also the names of variables.
    words = {word for word in table.get("words", "").split() if len(word) > 1 or not word.isascii()}
    if is_latin:
        words |= {plain for word in words if not word.isascii() and len(plain := _plain(word)) >= _SHORTEST}
    return _Language(
        bit,
        table["name"],
        frozenset(words),
        re.compile(f"[{'a-z' * is_latin}{letters}]"),
        table.get("codes", "").split(),
        table.get("also", []),
        not table.get("own"),
    )


def _plain(word: str) -> str:
    """A word without its accents."""
    return "".join(letter for letter in unicodedata.normalize("NFD", word.translate(_PLAIN)) if letter.isascii())
