from __future__ import annotations

from fencepost.evaluation.breakdown import Row, breakdown, table
from fencepost.evaluation.score import compare

GOLD = "(S (NP (D the) (N cat)) (VP (V sat)))"
PREDICTED = "(S (NP (D the)) (VP (N cat) (V sat)))"


def test_labels_come_by_frequency_in_the_gold_trees() -> None:
    rows = breakdown(compare([GOLD, "(VP (N a))"], [PREDICTED, "(VP (N a))"]), "label")
    assert rows == [Row(1, 2, 2, "VP"), Row(0, 1, 1, "NP"), Row(1, 1, 1, "S")]


def test_a_label_that_is_only_predicted_has_a_row() -> None:
    assert breakdown(compare(["(NP (N a))"], ["(X (N a))"]), "label")[1] == Row(0, 0, 1, "X")


def test_equal_labels_share_a_row() -> None:
    assert breakdown(compare(["(PRT (N a))"], ["(ADVP (N a))"]), "label") == [Row(1, 1, 1, "ADVP|PRT")]


def test_phrases_are_counted_by_their_words() -> None:
    rows = breakdown(compare([GOLD], [PREDICTED]), "length")
    assert rows == [Row(0, 1, 1, "1"), Row(0, 1, 1, "2"), Row(1, 1, 1, "3")]


def test_long_phrases_share_rows() -> None:
    sentences = ["(S " + "(N a) " * words + ")" for words in (5, 6, 10, 11, 41, 300)]
    rows = breakdown(compare(sentences, sentences), "length")
    assert [(row.name, row.gold) for row in rows] == [("5", 1), ("6-10", 2), ("11-20", 1), ("41+", 2)]


def test_brackets_are_counted_by_the_length_of_their_sentence() -> None:
    sentences = [GOLD, "(S " + "(N a) " * 11 + ")", "(S " + "(N a) " * 41 + ")"]
    rows = breakdown(compare(sentences, sentences), "sentence")
    assert [(row.name, row.gold) for row in rows] == [("1-10", 3), ("11-20", 1), ("41+", 1)]


def test_sentences_left_out_are_not_counted() -> None:
    assert breakdown(compare([GOLD], [None]), "label") == []


def test_a_table_has_a_line_for_every_row() -> None:
    lines = table([Row(1, 2, 4, "NP")], "label").splitlines()
    assert lines[1].split() == ["NP", "2", "4", "1", "50.00", "25.00", "33.33"]


def test_a_row_in_json_has_its_percentages() -> None:
    assert Row(1, 2, 4, "NP").to_json() | {"f1": 0} == {
        "name": "NP", "matched": 1, "gold": 2, "predicted": 4, "precision": 25, "recall": 50, "f1": 0
    }  # fmt: skip
