"""What all tokenizers share: added tokens such as [SEP] inside a text, and the special ones around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

_BLANKS: Final = "\\t\\n\\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
ALL_BLANKS: Final = _BLANKS + "\x0b\x0c\x85"
CHUNK: Final = re.compile(f"[^{_BLANKS}]+")


class Encoded(NamedTuple):
    """Sub-tokens, and where each of them starts and ends in the text."""

    ids: list[int]
    starts: list[int]
    ends: list[int]

    def append(self, shift: int, ids: list[int], starts: list[int], ends: list[int]) -> None:
        """Adds the sub-tokens of a part of the text that begins at ``shift``."""
        self.ids.extend(ids)
        self.starts.extend([shift + start for start in starts])
        self.ends.extend([shift + end for end in ends])


class AddedTokens:
    """Finds added tokens in a text: the leftmost first, and the longest of those that start there."""

    def __init__(self, tokens: list[tuple[str, dict[str, Any]]]) -> None:
        longest_first = sorted(tokens, key=lambda token: -len(token[0]))
        self._ids: dict[str, int] = {content: token["id"] for content, token in reversed(longest_first)}
        # Few groups: the time of a search grows with the square of their number.
        alike = groupby(longest_first, lambda item: (bool(item[1]["lstrip"]), bool(item[1]["rstrip"])))
        self._pattern = re.compile("|".join(_pattern([item[0] for item in items], *strips) for strips, items in alike))

    def find(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Yields each token's number and match; group ``lastindex`` is the token without the blanks it takes along."""
        for match in self._pattern.finditer(text) if self._ids else ():
            assert match.lastindex is not None
            yield self._ids[match[match.lastindex]], match


def _pattern(contents: list[str], lstrip: bool, rstrip: bool) -> str:
    # From the first blank only: from each of a million blanks, looking for the token behind them takes hours.
    before = f"(?:(?<![{ALL_BLANKS}])[{ALL_BLANKS}]+)?" if lstrip else ""
    after = f"[{ALL_BLANKS}]*" if rstrip else ""
    return f"{before}({'|'.join(map(re.escape, contents))}){after}"


def special_tokens(processor: dict[str, Any] | None) -> tuple[list[int], list[int]]:
    """The special tokens before and after a sentence."""
    if processor is None:
        return [], []
    if processor["type"] != "TemplateProcessing":
        return [processor["cls"][1]], [processor["sep"][1]]
    before: list[int] = []
    after: list[int] = []
    side = before
    for item in processor["single"]:
        if "Sequence" in item:
            side = after
        else:
            side += processor["special_tokens"][item["SpecialToken"]["id"]]["ids"]
    return before, after


def is_plain(text: str) -> bool:
    """True for printable ASCII, in which normalising changes only capitals."""
    return text.isascii() and text.isprintable()


def is_simple(added: dict[str, Any]) -> bool:
    """True if an added token contains no blanks and is found whatever its neighbours are."""
    strips = added["lstrip"] or added["rstrip"]
    whole = CHUNK.fullmatch(added["content"]) and not added["single_word"]
    return bool(whole) and (not added["normalized"] or (is_plain(added["content"]) and not strips))
