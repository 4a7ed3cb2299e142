"""Text that isn't in a model's language is noticed from a few sentences, and nothing else is."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.text.other_language import LanguageWatch, OtherLanguage
from fencepost.text.tokens import tokenize

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EVERYDAY: Final[dict[str, list[list[str]]]] = {
    code: [[token.form for token in tokenize(line)] for line in text.strip().splitlines()]
    for code, text in tomllib.loads(Path(__file__).with_name("everyday.toml").read_text("utf-8")).items()
}
FOREIGN: Final = [code for code in EVERYDAY if code != "en"]
WITHOUT_ACCENTS: Final = ["de", "nl", "fr", "es", "pt", "it", "ca", "ro", "sv", "da", "nb", "fo", "id", "vi"]
LATE: Final = {"fi": 3, "tr": 2}  # texts of three sentences that aren't noticed, of eighteen
RELATED: Final = (
    "is-fo",
    "fo-is",
    "nb-sv",
    "sv-da",
    "es-pt",
    "pt-es",
    "es-ca",
    "de-nl",
    "ru-uk",
    "ja-zh",
    "zh-ja",
    "cs-pl",
)
GERMAN: Final = EVERYDAY["de"]
ENGLISH: Final = EVERYDAY["en"]
# Texts that have nothing to do with other languages, one sentence after each slash.
HARMLESS: Final = {
    "Spanish names": "Juan de la Cruz / María del Carmen de los Santos / José de San Martín / Ana de la Reguera",
    "Dutch and German names": "Ludwig van Beethoven / Ludwig Mies van der Rohe / Otto von Bismarck / Piet de Jong",
    "code": "for i in range ( 10 ) : / print ( i ) / def f ( x , y ) : / return x + y / int main ( void ) {",
    "states": "AL AK AZ AR CA CO CT DE FL GA / HI ID IL IN IA KS KY LA ME MD / MA MI MN MS MO MT NE NV NH NJ",
    "codes of languages": "de en es fr it pt nl sv da nb / fi et lv lt pl cs sk sl hr hu / ro bg el tr ar he fa",
    "places": "Paris / Madrid / Den Haag / Santiago de Compostela / La Paz / El Salvador / Los Angeles / Las Vegas",
    "chemistry": "H2O NaCl CO2 / Fe Al Si As Se Te La Os Es No / Na Mg Ca Sr Ba Ra / In Sn Sb Ti Pu Po At",
    "formulas": "sin cos tan log exp lim max min / let x in R / u v w / dx dy dz / a e i o u y / s z k v",
    "words": "apple / banana / cherry / table / chair / window / computer / keyboard / mouse",
    "addresses": "https://example.com/de/la/que / www.example.org / user@example.com / ftp.gnu.org",
    "operas": "La Bohème / Così fan tutte / Die Zauberflöte / Don Giovanni / Le nozze di Figaro / La Traviata",
    "food": "crème brûlée / pâté de foie gras / coq au vin / boeuf bourguignon / sauce hollandaise",
    "phrases": "C'est la vie ! / Que sera , sera . / El Niño / Rio de la Plata / Ich bin ein Berliner",
    "placeholder": "Lorem ipsum dolor sit amet , consectetur adipiscing elit , sed do eiusmod tempor incididunt .",
    "capitals": "ACME CORP ANNOUNCES RECORD PROFIT / STOCKS FALL ON FED FEARS / MAN BITES DOG",
    "chat": "omg lol / u r so gr8 / brb / gonna b l8 2nite / c u l8er m8",
    "biology": "Homo sapiens / Escherichia coli / in vitro / et al. / TGF-β and IL-1α levels rose in situ .",
    "table": "Qty Item Price / 3 Widget 4.50 / 2 Gadget 7.25 / Total 13.75 / 1 2 3 / 4 5 6",
    "headlines": "Siege fells King 's men / Hopes fade for miners / PM to quit / Oil slumps",
    "Chaucer": "Whan that Aprille with his shoures soote / The droghte of March hath perced to the roote , / "
    "And bathed every veyne in swich licour / Of which vertu engendred is the flour",
    "the Bible": "And it came to pass , that he hearkened not unto them . / Thou shalt not steal . / Verily I say .",
    "one word": "Bonjour",
    "two words": "Guten Tag",
    "nothing": "",
}


def noticed(language: str, sentences: list[list[str]]) -> OtherLanguage | None:
    watch = LanguageWatch(language)
    return next(filter(None, map(watch.look, sentences)), None) or watch.finish()


def texts(sentences: list[list[str]], length: int) -> list[list[list[str]]]:
    """As many sentences in a row, from each place on."""
    return [sentences[start : start + length] for start in range(len(sentences) - length + 1)]


def without_accents(word: str) -> str:
    for letter, plain in {"ß": "ss", "ø": "o", "æ": "ae", "ð": "d", "þ": "th", "ł": "l", "đ": "d"}.items():
        word = word.replace(letter, plain)
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if letter.isascii())


def test_there_are_twenty_sentences_of_more_than_twenty_languages() -> None:
    assert len(FOREIGN) > 20
    assert {len(set(map(tuple, sentences))) for sentences in EVERYDAY.values()} == {20}


@pytest.mark.parametrize("code", FOREIGN)
def test_everyday_text_of_another_language_is_noticed_and_named(code: str) -> None:
    name = LanguageWatch(code).name
    assert name is not None
    found = [noticed("en", text) for text in texts(EVERYDAY[code], 5)]
    assert [each and each.is_part for each in found] == [False] * len(found)
    assert all(each and each.name.split(" or ")[0] in name for each in found if code not in ("da", "nb"))
    short = [noticed("en", text) for text in texts(EVERYDAY[code], 3)]
    assert short.count(None) <= max(LATE.get(code, 0), 1)


@pytest.mark.parametrize("code", WITHOUT_ACCENTS)
def test_text_without_accents_is_noticed_too(code: str) -> None:
    plain = [[without_accents(word) for word in sentence] for sentence in EVERYDAY[code]]
    assert None not in [noticed("en", text) for text in texts(plain, 6)]


@pytest.mark.parametrize("code", FOREIGN)
def test_english_is_noticed_by_models_of_other_languages_which_take_their_own(code: str) -> None:
    assert noticed(code, ENGLISH) == ("English", False)
    assert [noticed(code, text) for text in texts(EVERYDAY[code], 3)] == [None] * 18


@pytest.mark.parametrize(
    ("model", "text"),
    [tuple(pair.split("-")) for pair in RELATED],
)
def test_related_languages_are_told_apart_in_twenty_sentences(model: str, text: str) -> None:
    assert noticed(model, EVERYDAY[text]) is not None


@pytest.mark.parametrize("length", [1, 2, 3, 20])
def test_everyday_english_is_never_noticed(length: int) -> None:
    for text in texts(ENGLISH, length):
        assert noticed("en", text) is None
        assert noticed("en", [[word.upper() for word in sentence] for sentence in text]) is None


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_text_without_sentences_of_another_language_is_not_noticed(text: str) -> None:
    assert noticed("en", [sentence.split() for sentence in text.split(" / ")]) is None


def test_a_quoted_sentence_is_not_enough() -> None:
    for quoted in EVERYDAY["de"] + EVERYDAY["fr"] + EVERYDAY["ru"]:
        assert noticed("en", [*ENGLISH[:3], quoted, *ENGLISH[3:6]]) is None
        assert noticed("en", [["She", "said", ":", "“", *quoted, "”"]]) is None
        assert noticed("en", [quoted, *ENGLISH[:3]]) is None
    assert noticed("en", [*ENGLISH[:5], *GERMAN[:2], *ENGLISH[5:]]) is None


def test_german_after_english_is_noticed_as_a_part() -> None:
    assert noticed("en", [*ENGLISH, *GERMAN]) == ("German", True)


def test_sentences_that_come_again_count_for_nothing() -> None:
    name = ["Juan", "de", "la", "Cruz", "y", "los", "Santos"]
    assert noticed("en", [name] * 50) is None
    for count in range(1, 20):
        assert noticed("en", [GERMAN[4]] * count) == ("German", False)


def test_it_is_said_once() -> None:
    watch = LanguageWatch("en")
    assert [watch.look(sentence) for sentence in GERMAN * 3].count(OtherLanguage("German", False)) == 1
    assert watch.finish() is None


def test_one_sentence_is_enough_at_the_end_of_the_input() -> None:
    watch = LanguageWatch("en")
    assert watch.look(["Ich", "habe", "meinen", "Schlüssel", "schon", "wieder", "verloren", "."]) is None
    assert watch.finish() == ("German", False)


@pytest.mark.parametrize("word", ["Привет", "猫", "γειά", "สวัสดี", "안녕하세요", "నమస్కారం", "ಕನ್ನಡ"])
def test_a_single_word_is_enough_in_another_script(word: str) -> None:
    assert noticed("en", [[word, "!"]]) is not None


def test_variants_of_a_language_are_the_language() -> None:
    assert LanguageWatch("pt-BR").name == LanguageWatch("pt_PT").name == "Portuguese"
    assert LanguageWatch("nn").name == LanguageWatch("no").name == "Norwegian"
    assert LanguageWatch("is-historical").name == "Icelandic"
    assert noticed("is-historical", EVERYDAY["is"]) is None
    assert noticed("sr", EVERYDAY["hr"]) is None


@pytest.mark.parametrize("language", ["tlh", "mul", "news", ""])
def test_an_unknown_language_notices_nothing(language: str) -> None:
    assert LanguageWatch(language).name is None
    assert noticed(language, GERMAN) is None


@given(st.lists(st.lists(st.text(max_size=12), max_size=8), max_size=5), st.sampled_from(["en", "ja", "is", "he"]))
def test_any_words_can_be_looked_at(sentences: list[list[str]], language: str) -> None:
    first, again = noticed(language, sentences), noticed(language, sentences)
    assert first == again
