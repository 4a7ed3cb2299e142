from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.features.spacing import guess_spaces


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("He said , `` I do n't know . ''", "He said, ``I don't know.'' "),
        ('She said , " No , you ca n\'t " twice .', 'She said, "No, you can\'t" twice. '),
        ("( Only $ 5 . )", "(Only $5.) "),
        ("The cats ' 5 % of John 's U.S. fish ?", "The cats' 5% of John's U.S. fish? "),
    ],
)
def test_english_is_written_by_its_rules(words: str, text: str) -> None:
    spaces = guess_spaces(words.split(), "en")
    assert "".join(word + " " * space for word, space in zip(words.split(), spaces, strict=True)) == text


def test_other_languages_have_blanks_everywhere() -> None:
    assert guess_spaces(["Nein", ",", "danke", "."], "de") == (True,) * 4


@pytest.mark.golden
def test_benepar_was_told_of_the_same_blanks(shared: Path) -> None:
    sentences = json.loads((shared / "reference/benepar/expected/t5/inputs.json").read_text("utf-8"))
    assert [list(guess_spaces(sentence["words"], "en")) for sentence in sentences] == [
        sentence["space_after"] for sentence in sentences
    ]
