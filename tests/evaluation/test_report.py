from __future__ import annotations

from fencepost.evaluation import report
from fencepost.evaluation.score import Score, compare, score

GOLD = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"


def test_a_row_is_spaced_as_evalb_spaces_it() -> None:
    rows = report.per_sentence(compare([GOLD], ["(S (A (P this) (Q is)) (A (R a) (U test)))"])).splitlines()
    assert rows[3] == "   1    4    0   50.00  66.67     2      4    3      1      4     3    75.00"


def test_a_sentence_left_out_has_its_length_and_zeros() -> None:
    rows = report.per_sentence(compare([GOLD], [None])).splitlines()
    assert rows[3] == "   1    4    2    0.00   0.00     0      0    0      0      0     0     0.00"


def test_totals_without_brackets_are_about_tags_alone() -> None:
    lines = report.per_sentence(compare([GOLD], ["(P this) (Q is) (R a) (T test)"])).splitlines()
    assert lines[-1].split() == ["4", "4", "100.00"]


def test_problems_name_their_sentence() -> None:
    assert report.problems(compare([GOLD, "(S (N a))"], [GOLD, "(S (N b))"])) == ["2 : Words unmatch (a|b)"]


def test_the_summary_can_be_searched_as_evalbs() -> None:
    assert "Bracketing FMeasure       = 100.00\n" in report.summary(score([GOLD], [GOLD]))


def test_f_measure_is_rounded_as_evalb_rounds_it() -> None:
    counts = Score(sentences=1, matched=19, gold=21, predicted=43)
    assert counts.f1 == 59.375
    assert "Bracketing FMeasure       =  59.37\n" in report.summary(counts)


def test_sentences_without_a_prediction_are_numbered() -> None:
    assert report.skipped(compare([GOLD, GOLD], [GOLD, None])) == [2]


def test_f_measure_of_nothing_right_is_not_a_number_as_in_evalb() -> None:
    assert "Bracketing FMeasure       =   -nan\n" in report.summary(score(["(A (N a))"], ["(B (N a))"]))


def test_nothing_is_added_to_evalbs_summary() -> None:
    whole, with_a_gap = (report.summary(score([GOLD, GOLD], [GOLD, other])) for other in (GOLD, None))
    assert len(with_a_gap.splitlines()) == len(whole.splitlines()) == 29
