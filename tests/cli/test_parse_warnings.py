"""Warnings about text that is not for the model: what is warned of, how often, and what is not."""

from __future__ import annotations

import pytest

from fencepost.cli.parse_input import items_of_text
from fencepost.cli.parse_warnings import Watcher
from fencepost.features.vocab import Vocab
from fencepost.features.vocabularies import Vocabularies
from tests.samples import TREES, tiny_config

ENGLISH = "The cat sat on the mat. It worked. Ada wrote notes about engines, and old dogs can learn new tricks."
JAPANESE = (
    "猫はマットの上に座っていた。それは動いた。犬は新しい芸を覚えることができる。私たちは毎日パンを食べています。"
)


def warnings(text: str, letters: str | None = None, *, looks_at_letters: bool = True) -> list[str]:
    """The first line of each warning about a text, read by a model with an English alphabet, or with these letters."""
    vocabularies = Vocabularies.of(TREES, tiny_config())
    if letters is not None:
        vocabularies = Vocabularies(
            vocabularies.labels, vocabularies.words, vocabularies.tags, Vocab.of(letters, 6), vocabularies.root
        )
    watcher = Watcher(vocabularies, "tlh", looks_at_letters=looks_at_letters)
    found = [warning for item in items_of_text(text, "text") for warning in watcher.look([item])]
    return [warning.splitlines()[0] for warning in [*found, *watcher.finish()]]


@pytest.mark.parametrize("text", [ENGLISH, ENGLISH.upper(), "It works.", "", "1914 - 1918", "(see (1) and (2))"])
def test_text_that_fits_is_no_reason_to_warn(text: str) -> None:
    assert warnings(text) == []


@pytest.mark.parametrize("text", [JAPANESE, JAPANESE * 50, "猫"])
def test_a_script_that_the_model_never_saw_is_warned_of_once(text: str) -> None:
    (warning,) = warnings(text)
    assert warning.startswith("the model, whose language is")


def test_a_name_in_another_script_is_no_reason_to_warn() -> None:
    assert warnings(f"{ENGLISH} 猫 {ENGLISH}") == []


def test_letters_count_only_for_a_model_with_an_alphabet_and_a_language_that_is_not_known_otherwise() -> None:
    assert warnings(JAPANESE, letters="") == []
    assert warnings(JAPANESE, looks_at_letters=False) == []


@pytest.mark.parametrize(
    "trees",
    [
        "\n".join(map(str, TREES)),
        "( (S (NP-SBJ (NNP Ada))\n     (VP (VBD wrote) (NP (NNS notes)))\n     (. .) ))\n",
        "(TOP (NN Results))",
        "(ROOT\n  (sn (da el) (nc gato)))",
    ],
)
def test_trees_are_known_by_their_brackets(trees: str) -> None:
    assert warnings(trees) == ["the input looks like bracketed trees, but is parsed as plain text"]


def test_brackets_further_on_are_no_trees() -> None:
    assert warnings("He said so.\n\n(TOP (NN Results))") == []
