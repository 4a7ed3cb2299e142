"""Sentences and tokens of languages other than English: the table in languages.toml, and that no text is lost."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import LanguageWarning, MissingExtraError, UsageError
from fencepost.text import TextSentence, read_sentences, read_stream, rules, split_sentences, tokenize
from fencepost.text import languages as module
from fencepost.text.languages import NEED_WORDS, is_language

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
MARK: Final = "¦"
NEEDS_ANALYSER: Final = pytest.mark.skipif(find_spec("sudachipy") is None, reason="SudachiPy is not installed")


def marked(language: str) -> tuple[pytest.MarkDecorator, ...]:
    return (NEEDS_ANALYSER,) if language == "ja" else ()


SENTENCES: Final = [
    pytest.param(name, text, marks=marked(name)) for name, table in TABLE.items() for text in table["sentences"]
]
TOKENS: Final = [
    pytest.param(name, *pair, marks=marked(name)) for name, table in TABLE.items() for pair in table["tokens"]
]
LANGUAGES: Final = [pytest.param(name, marks=marked(name)) for name in TABLE]
LETTERS: Final = "abnstlAI09 .,;'’\"“”„«»-–/@:()!?$%_&\n\u00a0éþßñ猫。」"


@pytest.mark.parametrize("language", ["is", "fo", "id", "fr", "ja", "de"])
def test_the_table_has_many_cases_of_the_languages_with_models(language: str) -> None:
    assert len(TABLE[language]["sentences"]) + len(TABLE[language]["tokens"]) >= 15


@pytest.mark.parametrize(("language", "marked_text"), SENTENCES)
def test_sentences_of_the_table(language: str, marked_text: str) -> None:
    text = marked_text.replace(MARK, "")
    expected = [part.strip() for part in marked_text.split(MARK) if part]
    assert [text[start:end] for start, end in split_sentences(text, language=language)] == expected


@pytest.mark.parametrize(("language", "sentence", "words"), TOKENS)
def test_tokens_of_the_table(language: str, sentence: str, words: str) -> None:
    assert [token.form for token in rules(language).tokenize(sentence)] == words.split()


def require_nothing_lost(text: str, language: str) -> None:
    places: list[int] = []
    for span, tokens in read_sentences(text, language=language):
        for token in tokens:
            start, end = span.start + token.start, span.start + token.end
            assert start < end
            assert text[start:end] == token.text
            assert token.form
            assert not any(map(str.isspace, token.form))
            places += [place for place in range(start, end) if not text[place].isspace()]
    assert places == [place for place, character in enumerate(text) if not character.isspace()]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(LETTERS, max_size=60))
def test_no_text_is_lost(language: str, text: str) -> None:
    require_nothing_lost(text, language)


@pytest.mark.parametrize("language", [each for each in LANGUAGES if "ja" not in each.values])
@given(text=st.text(st.characters(categories=None), max_size=40))
def test_no_character_of_any_script_is_lost(language: str, text: str) -> None:
    require_nothing_lost(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_in_pieces_has_the_sentences_of_the_whole(language: str) -> None:
    text = " ".join(each.replace(MARK, "") for each in TABLE[language]["sentences"])
    whole = [
        TextSentence(text[span.start : span.end], span.start, tokens)
        for span, tokens in read_sentences(text, language=language)
    ]
    for size in (1, 3, 17):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert list(read_stream(pieces, language=language)) == whole


@pytest.mark.parametrize("language", NEED_WORDS)
def test_a_language_whose_words_no_rule_finds_is_an_error_with_a_hint(language: str) -> None:
    with pytest.raises(UsageError, match=f"words of a text in {NEED_WORDS[language]}") as error:
        list(read_stream(["abc"], language=language))
    assert "--tokenized" in str(error.value.hint)


def test_a_language_without_rules_gets_generic_ones_and_one_warning() -> None:
    module._find.cache_clear()
    with pytest.warns(LanguageWarning, match="no rules for splitting text whose language is 'pl'"):
        found = rules("pl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rules("pl") is found
    text = "Ala don't ma kota.  Łódź śpi."
    assert [text[start:end] for start, end in split_sentences(text, language="pl")] == [
        "Ala don't ma kota.",
        "Łódź śpi.",
    ]
    assert [token.form for token in found.tokenize("Ala don't śpi.")] == ["Ala", "don't", "śpi", "."]


def test_english_has_the_functions_of_the_package() -> None:
    assert rules().tokenize is tokenize
    assert rules("en-GB") is rules("en")


def test_a_region_has_the_rules_of_its_language() -> None:
    assert [token.form for token in rules("pt-BR").tokenize("no sol")] == ["em", "o", "sol"]
    assert rules("is-historical").sentences.clauses
    assert not rules("is").sentences.clauses


@pytest.mark.parametrize("name", ["../de", "de/../fr", "de\0", "d" * 1000])
def test_a_name_is_never_a_path(name: str) -> None:
    with pytest.warns(LanguageWarning):
        assert rules(name).tokenize("a b")


def test_names_of_treebanks_are_not_languages() -> None:
    assert is_language("fo")
    assert is_language("is-historical")
    assert not is_language("news")


def test_without_the_analyser_japanese_text_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module._find.cache_clear()
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    with pytest.raises(MissingExtraError, match="Japanese text into words needs SudachiPy") as error:
        rules("ja")
    assert "fencepost[ja]" in str(error.value.hint)
    module._find.cache_clear()


@NEEDS_ANALYSER
@given(text=st.text("猫が寝た。走る日本語、123 abc\u3000「」・ー", max_size=60))
def test_no_japanese_text_is_lost(text: str) -> None:
    require_nothing_lost(text, "ja")
