"""BERT's tokenizer against the `tokenizers` library."""

from __future__ import annotations

import json
import pickle
import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from fencepost.config.toml import config_from_table
from fencepost.errors import MissingExtraError
from fencepost.features import wordpiece
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.subwords import Subwords
from fencepost.features.tokenizers_unicode import category
from fencepost.features.wordpiece import WordPiece
from tests.pretrained_samples import pretrained_files, tokenizer

LETTERS = string.ascii_lowercase + "ABXßσς\u0307\u0301\u0327\u0344\u302e中가ᄀ😀"
PIECES = [
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    ".",
    "'",
    "the",
    "##ing",
    "<",
    ">",
]
LOWER = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
NORMALIZERS: dict[str, dict[str, Any]] = {
    "uncased": LOWER,
    "cased": LOWER | {"lowercase": False},
    "lower case with accents": LOWER | {"strip_accents": False},
    "nothing but pieces": dict.fromkeys(LOWER, False),
}
HOSTILE = [
    "\x00", "a\x00b", "\ufffd", "a\u200db", "\x0b\x0c\x85\x1c", "I\u0307İı", "ßẞ", "ΑΣ Σ ΣΑΣ.", "e\u0301\u0327",
    "e\u0327\u0301", "\u0344a\u0344", "\u0f73\u0f71", "\u302e\u0301a", "中文 字a字", "가ᄀ\u1161", "👨\u200d👩\u200d👧",
    "don't . 'the'",
    "[SEP]", "a[SEP]b [CLS]", "[sep]", "[SE[SEP]", "the\u3000the\u2028the", "\U00010d50\ua7cb", "\u166d\u1734",
    "\U0001e944a", "x" * 100, "x" * 101, "e\u0301" * 100, "x" * 10_000, "." * 10_000, "İ" * 10_000, " " * 10_000, "",
]  # fmt: skip


def added(number: int, content: str, **settings: bool) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": content, "special": True, **plain, **settings}


def description(normalizer: dict[str, Any] | None = None, **sections: Any) -> str:
    """A tokenizer.json, made from one that the library wrote."""
    described = json.loads(tokenizer(special=False).to_str())
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    described["model"] |= {"vocab": vocabulary, "unk_token": "[UNK]"}
    described["normalizer"] |= LOWER if normalizer is None else normalizer
    described["added_tokens"] = [added(1, "[CLS]"), added(2, "[SEP]")]
    return json.dumps(described | sections)


def ours(text: str) -> WordPiece:
    found = WordPiece.of(text)
    assert found is not None
    return found


def answers(described: str, text: str) -> list[Any]:
    """Ours and the library's."""
    read = ours(described).encode(text)
    expected = Tokenizer.from_str(described).encode(text, add_special_tokens=False)
    return [(read.ids, list(zip(read.starts, read.ends, strict=True))), (expected.ids, expected.offsets)]


def assert_same(described: str, text: str) -> None:
    read, expected = answers(described, text)
    assert read == expected


@pytest.mark.parametrize("normalizer", NORMALIZERS.values(), ids=NORMALIZERS)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_read_as_by_the_library(normalizer: dict[str, Any], text: str) -> None:
    assert_same(description(normalizer), text)


@pytest.mark.parametrize("normalizer", NORMALIZERS.values(), ids=NORMALIZERS)
@given(st.text() | st.text(alphabet=LETTERS + " .'-\u200d\x00\x85\u3000\u0591"))
def test_any_text_is_read_as_by_the_library(normalizer: dict[str, Any], text: str) -> None:
    assert_same(description(normalizer), text)


@pytest.mark.parametrize(
    "first", [0, 1, 2, 3, 0xA, 0xF, 0x10, 0x11, 0x12, 0x13, 0x16, 0x1B, 0x1D, 0x1E, 0x1F, 0x20, 0xE0]
)
def test_every_letter_is_read_as_by_the_library(first: int) -> None:
    letters = [chr(number) for number in range(0x1000 * first, 0x1000 * first + 0x1000)]
    assert_same(description(), " ".join(f"a{letter}b {letter}\u0345{letter}" for letter in letters))


TEMPLATE = json.loads(tokenizer().to_str())["post_processor"]
PAIRS = {"sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}
# MPNet's: one takes the blanks before it along, and one is looked for in normalised text.
MPNET = [
    added(1, "[CLS]"), added(len(PIECES), "<mask>", lstrip=True), added(len(PIECES) + 1, "<Unk>", normalized=True),
    added(len(PIECES) + 2, "<s>", rstrip=True), added(len(PIECES) + 3, "<s>a"),
]  # fmt: skip


@pytest.mark.parametrize("trim", [True, False])
@given(st.lists(st.sampled_from(["<mask>", "<Unk>", "<UNK>", "<s>", "<s>a", "[CLS]", " ", "\u3000", "a", "<", "é"])))
def test_added_tokens_are_found_as_by_the_library(trim: bool, parts: list[str]) -> None:
    processor = {"type": "RobertaProcessing", **PAIRS, "trim_offsets": trim, "add_prefix_space": False}
    assert_same(description(added_tokens=MPNET, post_processor=processor), "".join(parts))


def test_a_lone_surrogate_is_read_as_if_it_was_not_there() -> None:
    read = ours(description()).encode("a\ud800b \udfff c")
    assert [PIECES[number] for number in read.ids] == ["a", "##b", "c"]
    assert (read.starts, read.ends) == ([0, 2, 6], [1, 3, 7])


@pytest.mark.parametrize(
    ("processor", "special"),
    [
        (None, ([], [])),
        (TEMPLATE, ([2], [3])),
        ({"type": "BertProcessing", **PAIRS}, ([1], [2])),
        ({"type": "RobertaProcessing", **PAIRS, "trim_offsets": True, "add_prefix_space": False}, ([1], [2])),
    ],
)
def test_special_tokens_stand_around_a_sentence(processor: Any, special: tuple[list[int], list[int]]) -> None:
    read = ours(description(post_processor=processor))
    assert (read.prefix, read.suffix) == special


def byte_pairs() -> str:
    pairs = Tokenizer(models.BPE({"a": 0}, []))
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel()
    return str(pairs.to_str())


@pytest.mark.parametrize(
    "change",
    [
        {"model": json.loads(byte_pairs())["model"]},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"added_tokens": [added(1, "two words")]},
        {"added_tokens": [added(1, "[CLS]", single_word=True)]},
    ],
    ids=str,
)
def test_what_is_no_tokenizer_of_bert_is_left_to_the_library(change: dict[str, Any]) -> None:
    assert WordPiece.of(description(**change)) is None


def test_another_tokenizer_needs_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    config = config_from_table({"lexical": ["pretrained"], "pretrained": {"model": "small"}})
    Subwords(config, pretrained_files())
    with pytest.raises(MissingExtraError, match="tokenizers"):
        Subwords(config, PretrainedFiles(byte_pairs(), pretrained_files("roberta").encoder))


def test_it_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(ours(description())))
    assert copy.encode("the İ.") == ours(description()).encode("the İ.")


def test_plain_text_is_not_looked_up_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def look_up(letter: str) -> str:
        looked_up.append(letter)
        return category(letter)

    monkeypatch.setattr(wordpiece, "category", look_up)
    wordpiece._shape.cache_clear()
    read = ours(description())
    read.encode("The thing isn't there . " * 5)
    assert looked_up == []
    read.encode("thé")
    assert "é" in looked_up or "e" in looked_up


def test_reading_words_loads_no_library() -> None:
    program = "import sys, fencepost.features.subwords; print('tokenizers' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout == "False\n"
