from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.errors import InputError, UsageError
from fencepost.evaluation.params import ScoreParams, load_params, parse_params
from fencepost.storage.text_reader import SourceLine


def parse(text: str) -> ScoreParams:
    return parse_params([SourceLine(line, number) for number, line in enumerate(text.splitlines(), 1)], "my.prm")


def test_every_parameter_of_evalb_is_read() -> None:
    params = parse(
        "## a comment\n\nDEBUG 0\nMAX_ERROR 10\nCUTOFF_LEN 70\nLABELED 0   \nDISC_ONLY 0\nDELETE_LABEL TOP\n"
        "DELETE_LABEL ,\nDELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\nEQ_LABEL ADVP PRT\nEQ_WORD This this\n"
    )
    assert params == ScoreParams(
        deleted=frozenset({"TOP", ","}),
        deleted_for_length=frozenset({"-NONE-"}),
        quotes=frozenset({"POS"}),
        equal_labels={"ADVP": "ADVP|PRT", "PRT": "ADVP|PRT"},
        equal_words={"This": "This|this", "this": "This|this"},
        labeled=False,
        cutoff=70,
    )


def test_the_tag_for_a_pound_sign_is_not_a_comment() -> None:
    assert parse("DELETE_LABEL #\n").deleted == {"#"}


def test_equality_reaches_through_a_third_label() -> None:
    equal = parse("EQ_LABEL A B\nEQ_LABEL C D\nEQ_LABEL B C\n").equal_labels
    assert equal["A"] == equal["B"] == equal["C"] == equal["D"]


def test_bracket_words_are_read_as_text() -> None:
    assert set(parse("EQ_WORD -LRB- [\n").equal_words) == {"(", "["}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", "unknown parameter DELETE_LABLE"),
        ("EQ_LABEL ADVP", "EQ_LABEL takes 2 values, got 1"),
        ("DELETE_LABEL TOP S1", "DELETE_LABEL takes 1 value, got 2"),
        ("CUTOFF_LEN long", "CUTOFF_LEN takes a number"),
        ("DISC_ONLY 1", "DISC_ONLY would leave nothing to score"),
    ],
)
def test_a_bad_line_is_named_with_its_place(line: str, message: str) -> None:
    with pytest.raises(InputError, match=f"my.prm:2: {message}"):
        parse(f"DEBUG 0\n{line}\n")


def test_what_is_no_file_of_parameters_is_quoted_in_short_and_without_control_characters() -> None:
    with pytest.raises(InputError) as caught:
        parse("\x1b[31m" + "(S" * 10_000)
    assert len(caught.value.message) < 300
    assert caught.value.message.isprintable()


def test_the_nearest_parameter_is_suggested() -> None:
    with pytest.raises(InputError) as caught:
        parse("DELETE_LABLE TOP\n")
    assert caught.value.hint == "did you mean DELETE_LABEL?"


def test_the_built_in_parameters_are_those_of_the_files_they_are_named_after() -> None:
    no_traces = frozenset({"-NONE-"})
    roots = {"TOP", "ROOT", "S1", "VROOT"}
    assert load_params("collins") == ScoreParams(
        deleted=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
        deleted_for_length=no_traces,
        equal_labels={"ADVP": "ADVP|PRT", "PRT": "ADVP|PRT"},
        cutoff=40,
    )
    assert load_params("spmrl") == ScoreParams(
        deleted=frozenset({*roots, "-NONE-"}), deleted_for_length=no_traces, cutoff=70
    )
    assert load_params("none") == ScoreParams(deleted=frozenset(roots))


def test_parameters_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.prm"
    path.write_text("CUTOFF_LEN 7\n")
    assert load_params(path).cutoff == 7


def test_a_name_that_is_neither_built_in_nor_a_file_is_an_error() -> None:
    with pytest.raises(UsageError, match="no parameters or file called colins") as caught:
        load_params("colins")
    assert "collins, spmrl, none" in str(caught.value.hint)
