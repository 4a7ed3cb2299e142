"""SentencePiece's unigram tokenizer against the `tokenizers` library."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from functools import lru_cache
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from fencepost.errors import ModelError
from fencepost.features.added_tokens import AddedTokens
from fencepost.features.charsmap import LONGEST_TEXT
from fencepost.features.subwords import _tokenizer
from fencepost.features.unigram import LONGEST_PIECE, Unigram
from tests.unigram_samples import META, added, nmt_nfkc, table_of, unigram

MODEL = json.loads(unigram())["model"]
STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}
SHORTEN = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}
OLD_META = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}


def steps(*normalizers: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


def cuts(*cutters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(cutters)}


# Normalizer and pre-tokenizer, as versions of transformers have written them for T5 and others.
KINDS: dict[str, tuple[Any, Any]] = {
    "a benepar model": (steps(nmt_nfkc()), OLD_META),
    "T5 on the hub": (nmt_nfkc(), cuts({"type": "WhitespaceSplit"}, OLD_META)),
    "T5 converted": (steps(nmt_nfkc(), STRIP, SHORTEN), META),
    "both ends stripped": (steps(nmt_nfkc(), {**STRIP, "strip_left": True}, {**SHORTEN, "content": " "}), META),
    "blanks replaced early": (steps(nmt_nfkc(), {**SHORTEN, "pattern": {"String": " "}}), META),
    "no blank before": (nmt_nfkc(), {**META, "prepend_scheme": "never"}),
    "uncut": (nmt_nfkc(), {**META, "split": False}),
    "no normalizer": (steps(), META),
}
kinds = pytest.mark.parametrize("kind", KINDS)
TRICKY = (
    "the cat's ﬁné①Ⅸ½ｱﾞÅΩ´¨e\u0301e\u0327\u0301\u0344\u0340\u0301\u1e9b\u0323\u00ad\u200b\u200c\u200d\ufeff\ufffd\u0130"
    "\x00\x01\x7f\x85\r\n\t\x0b \xa0\u3000\u2028▁▁<>/가각ᄀ\u1161\u11a8ก\u0e33क\u094d\u0301\u0600\u06dd\u0903"
    "\U0001f468\u200d\u2139\u0301\U0001f1e6\U0001f3fb\U000e0041中"
)
HOSTILE = [
    "", " ", "  ", "   the", "the   ", "\r\n", "\n\r\n", "\u0301", "\u0301\u0301a", " \u0301", "\x01the", "a\x01",
    "\x01\x01the cat", "\x00\u0340\u0300", "a\u200b", "\u200b", "▁", "▁▁the", "a▁b", "Σς", "ﬁ\u0301",
    "the</s>cat", "the </s> cat", "</s></s>", "</S>", "</ s>", "<unk>x<unk>", "<extra_id_0>",
    "x" * 1000, "e\u0301" * 300, "\u094d" * 1000, "क\u094d" * 500, "\U0001f468\u200d" * 300, "ﷺ" * 30, " " * 1000,
]  # fmt: skip


@lru_cache
def described(kind: str) -> str:
    """Most letters of the tricky text are pieces, so that they don't end up in one unknown piece."""
    return unigram(*KINDS[kind], letters=TRICKY.replace("中", "") + "áçΩåßſ゙ガ")


@lru_cache
def both(text: str) -> tuple[Unigram, Any]:
    return ours(text), Tokenizer.from_str(text)


def ours(text: str) -> Unigram:
    found = Unigram.of(text)
    assert found is not None
    return found


def assert_same(tokenizer: str, text: str) -> None:
    reader, library = both(tokenizer)
    read, expected = reader.encode(text), library.encode(text, add_special_tokens=False)
    assert (read.ids, list(zip(read.starts, read.ends, strict=True))) == (expected.ids, expected.offsets)


@kinds
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_read_as_by_the_library(kind: str, text: str) -> None:
    assert_same(described(kind), text)


@kinds
@given(
    st.text() | st.text(alphabet=TRICKY) | st.lists(st.sampled_from([*HOSTILE[:28], "the", " cat", "é"])).map("".join)
)
def test_any_text_is_read_as_by_the_library(kind: str, text: str) -> None:
    assert_same(described(kind), text)


@pytest.mark.parametrize("first", [*range(0x18), 0x1B, 0x1D, 0x1E, 0x1F, 0x20, 0x2F, 0x30, 0xE0])
def test_every_letter_is_read_as_by_the_library(first: int) -> None:
    numbers = range(0x1000 * first, 0x1000 * first + 0x1000)
    letters = [chr(number) for number in numbers if not 0xD800 <= number < 0xE000]
    assert_same(described("a benepar model"), " ".join(f"a{letter}b {letter}\u0301{letter}" for letter in letters))


# Characters of each kind that clusters are made of.
CLUSTERED = (
    "a\u0301\u0903\u094d\u200d\u200cक\u2139\u203cﬁ\u0600\u061c\x01\r\nᄀ\u1160\u11a8가각\U0001f1e6\U0001f468\U000e0001 "
)


@given(st.text(alphabet=CLUSTERED, max_size=12), st.sampled_from(CLUSTERED), st.sampled_from(["", "b", "bcd", " "]))
def test_letters_are_replaced_in_the_clusters_of_the_library(text: str, letter: str, new: str) -> None:
    assert_same(one_replacement(letter, new), text)


@lru_cache
def one_replacement(letter: str, new: str) -> str:
    return unigram(table_of({letter: new, "\u0301": "e"}), letters=CLUSTERED)


@pytest.mark.parametrize("letter", "कᄀ\u1161\u11a8가각\u2139\u203ca\r", ids=ascii)
def test_every_kind_of_cluster_is_that_of_the_library(letter: str) -> None:
    """A table that replaces one letter shows whether the mark after it is in a cluster of at most 5 bytes."""
    tokenizer = one_replacement(letter, "b")
    for before in [*map("".join, product(CLUSTERED, repeat=2)), "क\u094d\u0301", "क\u0301\u094d", "\u2139\u0301\u200d"]:
        for after in ("\u0301", "\n"):
            assert_same(tokenizer, before + letter + after)


@example([("a", -1.0), ("aa", -2.0)], "aa")
@example([("a", -1.0), ("aa", -1.0)], "aaa")
@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), st.sampled_from([-1.0, -2.0, -4.0]))), st.text("abc"))
def test_of_equally_good_spellings_the_library_s_is_chosen(pieces: list[tuple[str, float]], text: str) -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [("<unk>", 0.0), *pieces]}
    assert_same(unigram(model=model, added_tokens=[], post_processor=None), text)


def test_unknown_letters_are_one_piece() -> None:
    read = ours(described("no normalizer")).encode("中中 中a")
    assert (read.starts, read.ends) == ([0, 0, 2, 3, 4], [1, 2, 3, 4, 5])


def test_special_tokens_stand_around_a_sentence() -> None:
    reader = ours(described("T5 converted"))
    assert (reader.prefix, reader.suffix) == ([], [1])


@pytest.mark.parametrize(("kind", "pieces"), [("a benepar model", 1), ("T5 on the hub", 0), ("T5 converted", 0)])
def test_a_blank_at_the_end_is_a_piece_unless_blanks_are_dropped(kind: str, pieces: int) -> None:
    assert len(ours(described(kind)).after_blank) == pieces


def test_a_mask_takes_along_the_blanks_before_it() -> None:
    mask = added(len(MODEL["vocab"]), "<mask>", lstrip=True)
    for text in ("the <mask> cat", "<mask>", "  <mask><mask>", " <mask>  <mask> a <mask>"):
        assert_same(unigram(added_tokens=[mask]), text)


def test_many_blanks_before_no_mask_take_little_time() -> None:
    mask = AddedTokens([("<mask>", added(3, "<mask>", lstrip=True))])
    assert not [*mask.find(500_000 * "\u3000")]


def test_many_added_tokens_take_little_time() -> None:
    tokens = AddedTokens([(f"<e{number}>", added(number, f"<e{number}>")) for number in range(20_000)])
    assert [number for number, _ in tokens.find("the cat <e7> " * 999 + "<e19999>")] == [7] * 999 + [19_999]


def test_a_lone_surrogate_is_read_as_if_it_was_not_there() -> None:
    reader = ours(described("a benepar model"))
    read, plain = reader.encode("a\ud800b \udfff c"), reader.encode("ab  c")
    assert read.ids == plain.ids
    assert read.ends[-1] == 7
    assert not reader.cuts_at_blanks("a \ud800 b")


@pytest.mark.parametrize(
    "change",
    [
        {"model": {**MODEL, "byte_fallback": True}},
        {"model": {**MODEL, "unk_id": None}},
        {"model": {**MODEL, "vocab": [["<unk>", 0.0], ["x" * (LONGEST_PIECE + 1), 0.0]]}},
        {"normalizer": {"type": "Lowercase"}},
        {"normalizer": {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"pre_tokenizer": {**META, "prepend_scheme": "first"}},
        {"pre_tokenizer": None},
        {"post_processor": {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<pad>", 0]}},
        {"added_tokens": [added(1, "two words")]},
        {"added_tokens": [added(1, "<a>", normalized=True)]},
    ],
    ids=lambda change: str(change)[:60],
)
def test_what_is_no_tokenizer_of_t5_is_left_to_the_library(change: dict[str, Any]) -> None:
    assert Unigram.of(unigram(**change)) is None


@pytest.mark.parametrize(
    "change",
    [
        *({"unk_id": -1}, {"unk_id": 10**6}, {"unk_id": 10**400}),
        *({"vocab": [["<unk>", 1e999]]}, {"vocab": [["<unk>", 10**400]]}, {"vocab": [[1, 2]]}),
    ],
    ids=lambda change: f"{change!s:.40}",
)
def test_a_damaged_vocabulary_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json is damaged"):
        _tokenizer(unigram(model={**MODEL, **change}), 1000)


def test_letters_that_become_long_texts_are_refused() -> None:
    assert len(ours(unigram(table_of({"a": "b" * LONGEST_TEXT}))).encode("aa").ids) > LONGEST_TEXT
    with pytest.raises(ModelError, match="damaged"):
        ours(unigram(table_of({"a": "b" * (LONGEST_TEXT + 1)})))


@pytest.mark.parametrize("table", ["", "AAAA", "BAAAAAAAAAA=", "AAQAAP////8="])
def test_a_damaged_table_is_an_error(table: str) -> None:
    with pytest.raises((ModelError, ValueError)):
        Unigram.of(unigram({"type": "Precompiled", "precompiled_charsmap": table}))


@pytest.mark.parametrize("text", ["a b", "the cat's end .", "é x", "e\u0301 x", "가 각"])
def test_usual_text_is_cut_at_its_blanks(text: str) -> None:
    assert ours(described("a benepar model")).cuts_at_blanks(text)


@pytest.mark.parametrize(
    "text", ["a  b", " a", "a ", "a\u3000b", "▁", "a <pad> b", "a \u0301", "\u0600 a", "a\u200b", "x\x01", ""]
)
def test_text_with_other_blanks_is_read_as_a_whole(text: str) -> None:
    assert not ours(described("a benepar model")).cuts_at_blanks(text)


@pytest.mark.parametrize("kind", ["no blank before", "uncut"])
def test_stretches_that_depend_on_their_place_are_not_read_alone(kind: str) -> None:
    assert not ours(described(kind)).cuts_at_blanks("a b")


def test_it_can_be_pickled() -> None:
    reader = ours(described("T5 converted"))
    assert pickle.loads(pickle.dumps(reader)).encode("the ﬁ.") == reader.encode("the ﬁ.")


def test_reading_t5_needs_no_library() -> None:
    program = """
import sys
sys.modules["tokenizers"] = None  # importing it is now an error
from fencepost.features.subwords import _tokenizer
print(_tokenizer(sys.stdin.read(), 1000).encode("the cat").starts)
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], input=unigram(), capture_output=True, check=True, text=True
    )
    assert answer.stdout == "[0, 3]\n"


def test_letters_that_become_blanks_take_linear_time() -> None:
    """A million of them, which are one word, took hours."""
    tokenizer = Unigram(described("T5 converted"))

    def seconds(letters: int) -> float:
        began = time.process_time()
        tokenizer.encode("\u200b" * letters + "a")
        return time.process_time() - began

    seconds(10)
    assert seconds(40_000) < 10 * seconds(10_000) + 0.2
