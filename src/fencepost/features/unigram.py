"""SentencePiece's unigram tokenizer without the `tokenizers` library: the same sub-tokens, at the same offsets.

T5, XLM-R and others have one. A text is cut at added tokens such as </s>, normalised, and cut before blanks, which
become ▁. Each part is spelled with the pieces whose scores have the greatest sum.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from fencepost.errors import COPY_AGAIN, ModelError
from fencepost.features.added_tokens import ALL_BLANKS, AddedTokens, Encoded, is_plain, is_simple, special_tokens
from fencepost.features.aligned_text import AlignedText
from fencepost.features.charsmap import Charsmap
from fencepost.features.graphemes import kind_of

BLANK: Final = "▁"
UNKNOWN_PENALTY: Final = 10.0  # how much worse than the worst piece an unknown letter is
LONGEST_PIECE: Final = 128  # letters; SentencePiece makes none of more than 16, and each length is tried everywhere
_STRETCH: Final = re.compile(f"[^{ALL_BLANKS}]+")
_PART: Final = re.compile(f"{BLANK}?[^{BLANK}]*")
_START, _END = re.compile(f"\\A[{ALL_BLANKS}]+"), re.compile(f"(?<![{ALL_BLANKS}])[{ALL_BLANKS}]+\\Z")
_BLANK, _ANY_BLANK = re.compile(" "), re.compile(f"[{ALL_BLANKS}]")
_BLANKS: Final = re.compile(" {2,}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_Step = Callable[[AlignedText], AlignedText]


class Unigram:
    """The tokenizer that a tokenizer.json describes. Safe to call from threads."""

    def __init__(self, text: str, settings: dict[str, Any] | None = None) -> None:
        """``settings``: the text read as JSON, if it has been."""
        self._text = text
        settings = settings or json.loads(text)
        self._pieces = _Pieces(settings["model"])
        self._charsmap: Charsmap | None = None
        self._steps = [self._step(step) for step in _parts(settings["normalizer"], "normalizers")]
        cutters = _parts(settings["pre_tokenizer"], "pretokenizers")
        self._drops_blanks = cutters[0]["type"] == "WhitespaceSplit"
        self._splits = cutters[-1].get("split", True)
        scheme = cutters[-1].get("prepend_scheme")
        self._begins_with_blank = scheme == "always" or (scheme is None and cutters[-1]["add_prefix_space"])
        added = settings["added_tokens"]
        self._added = AddedTokens([(token["content"], token) for token in added])
        self._starts_of_added = {token["content"][0] for token in added}
        self.prefix, self.suffix = special_tokens(settings["post_processor"])
        self.reads_blanks = not self._drops_blanks
        self.after_blank = self.encode("a ").ids[len(self.encode("a").ids) :]

    @classmethod
    def of(cls, text: str, settings: dict[str, Any] | None = None) -> Unigram | None:
        """``None`` if the file describes another kind of tokenizer."""
        settings = settings or json.loads(text)
        return cls(text, settings) if _is_unigram(settings) else None

    def __reduce__(self) -> tuple[object, ...]:
        return (Unigram, (self._text,))

    def encode(self, text: str) -> Encoded:
        """The sub-tokens of a text, without the special tokens before and after it."""
        encoded = Encoded([], [], [])
        done = 0
        try:
            for number, match in self._added.find(text):
                self._read(AlignedText.of(text[done : match.start()], done), encoded)
                encoded.append(match.start(), [number], [0], [match.end() - match.start()])
                done = match.end()
            self._read(AlignedText.of(text[done:], done), encoded)
        except (ValueError, IndexError) as error:
            problem = f"the table that normalises text is damaged: {error!s:.200}"
            raise ModelError(f"tokenizer.json can't be used for this text: {problem}", hint=COPY_AGAIN) from error
        return encoded

    def cuts_at_blanks(self, text: str) -> bool:
        """True if each blank of the text is one cut, and no other character becomes a blank or vanishes."""
        if not self._begins_with_blank or not self._splits or not self._starts_of_added.isdisjoint(text):
            return False
        stretches = text.split(" ")
        return (
            all(stretches)
            and (is_plain(text) or not any(map(_shares_clusters, stretches)))
            and all(map(self._stays_a_letter, set(text) - {" "}))
        )

    def _stays_a_letter(self, letter: str) -> bool:
        if _SURROGATE.match(letter):
            return False
        new = self._charsmap.replacement(letter) if self._charsmap else None
        shown = letter if new is None else new
        return bool(shown) and BLANK not in shown and not _ANY_BLANK.search(shown)

    def _step(self, step: dict[str, Any]) -> _Step:
        match step["type"]:
            case "Precompiled":
                charsmap = self._charsmap = Charsmap(base64.b64decode(step["precompiled_charsmap"], validate=True))
                return lambda text: text.with_replacements(charsmap.replacements(text.text))
            case "Strip":
                ends = [end for end, key in ((_START, "strip_left"), (_END, "strip_right")) if step[key]]
                return lambda text: _stripped(text, ends)
            case _:
                content: str = step["content"]
                pattern = _BLANKS if "Regex" in step["pattern"] else _BLANK
                return lambda text: text.replaced(pattern, content)

    def _read(self, text: AlignedText, encoded: Encoded) -> None:
        if _SURROGATE.search(text.text):
            text = text.without(_SURROGATE)
        for step in self._steps:
            text = step(text)
        stretches = (
            [text.part(*match.span()) for match in _STRETCH.finditer(text.text)] if self._drops_blanks else [text]
        )
        for stretch in stretches:
            for part in self._parts(stretch):
                for number, start, end in self._pieces.spell(part.text):
                    encoded.append(0, [number], [part.spans[start][0]], [part.spans[end - 1][1]])

    def _parts(self, text: AlignedText) -> Iterator[AlignedText]:
        """Cuts before blanks, which become letters."""
        text = text.replaced(_BLANK, BLANK)
        if text.text and self._begins_with_blank and not text.text.startswith(BLANK):
            text = text.with_first(BLANK)
        if not self._splits:
            yield text
            return
        yield from (text.part(*match.span()) for match in _PART.finditer(text.text) if match[0])


def _shares_clusters(stretch: str) -> bool:
    """True if the stretch may share a cluster with a blank before it or after it."""
    kinds = list(map(kind_of, stretch))
    return kinds[0] in "xskzw" or kinds[-1] == "p"


class _Pieces:
    """The pieces that words are spelled with."""

    def __init__(self, model: dict[str, Any]) -> None:
        scores = [float(score) for _, score in model["vocab"]]
        self._unknown: int = model["unk_id"]
        if not 0 <= self._unknown < len(scores) or not all(map(math.isfinite, scores)):
            raise ValueError(f"its unk_id is {self._unknown!r:.20}, or a score isn't finite")
        # If two pieces are the same string, the library reads the last one.
        self._pieces = {piece: (number, scores[number]) for number, (piece, _) in enumerate(model["vocab"])}
        self._longest = max(map(len, self._pieces))
        self._unknown_score = min(scores) - UNKNOWN_PENALTY

    def spell(self, text: str) -> list[tuple[int, int, int]]:
        """The pieces of a part: their numbers, and where they start and end. Neighbouring unknown letters are one."""
        found: list[tuple[int, int, int]] = []
        for number, start, end in self._best(text):
            if found and number == self._unknown == found[-1][0]:
                start = found.pop()[1]
            found.append((number, start, end))
        return [
            (self._pieces.get(text[start:end], (number,))[0], start, end)
            if number == self._unknown
            else (number, start, end)
            for number, start, end in found
        ]

    def _best(self, text: str) -> list[tuple[int, int, int]]:
        """The best pieces from the left: of equally good ones that end at the same place, the longest."""
        best: list[tuple[float, int, int] | None] = [(0.0, 0, 0), *[None] * len(text)]  # score, number and start
        for start in range(len(text)):
            reached = best[start]
            assert reached is not None
            known_letter = False
            for end in range(start + 1, min(len(text), start + self._longest) + 1):
                piece = self._pieces.get(text[start:end])
                if piece is None:
                    continue
                known_letter |= end == start + 1
                self._improve(best, end, piece[1] + reached[0], piece[0], start)
            if not known_letter:
                self._improve(best, start + 1, self._unknown_score + reached[0], self._unknown, start)
        path: list[tuple[int, int, int]] = []
        end = len(text)
        while end:
            _, number, start = best[end] or (0.0, 0, 0)
            path.append((number, start, end))
            end = start
        return path[::-1]

    @staticmethod
    def _improve(best: list[tuple[float, int, int] | None], end: int, score: float, number: int, start: int) -> None:
        known = best[end]
        if known is None or score > known[0]:
            best[end] = score, number, start


def _stripped(text: AlignedText, ends: list[re.Pattern[str]]) -> AlignedText:
    for end in ends:
        text = text.without(end)
    return text


def _parts(section: dict[str, Any] | None, key: str) -> list[dict[str, Any]]:
    """The steps of a section, which may be one, a sequence, or missing."""
    if section is None:
        return []
    parts: list[dict[str, Any]] = section[key] if section["type"] == "Sequence" else [section]
    return parts


def _is_unigram(settings: dict[str, Any]) -> bool:
    model, cutters = settings["model"], _parts(settings["pre_tokenizer"], "pretokenizers")
    unknown = {key for key, value in model.items() if value} - {"type", "vocab", "unk_id"}
    return (
        model.get("type") == "Unigram"
        and not unknown
        and type(model["unk_id"]) is int
        and all(len(piece) <= LONGEST_PIECE for piece, _ in model["vocab"])
        and all(map(_is_known_step, _parts(settings["normalizer"], "normalizers")))
        and [part["type"] for part in cutters] in (["Metaspace"], ["WhitespaceSplit", "Metaspace"])
        and cutters[-1].get("prepend_scheme") in (None, "always", "never")
        and cutters[-1]["replacement"] == "▁"
        and (settings["post_processor"] or {}).get("type") in (None, "TemplateProcessing")
        and all(is_simple(token) and not token["normalized"] for token in settings["added_tokens"])
    )


def _is_known_step(step: dict[str, Any]) -> bool:
    if step["type"] == "Replace":
        return step["pattern"] in ({"Regex": " {2,}"}, {"String": " "}) and step["content"] in (" ", "▁")
    return step["type"] in ("Precompiled", "Strip")
