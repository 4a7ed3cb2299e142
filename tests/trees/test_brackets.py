from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ExtraTextError, MissingLabelError, TreeError, UnbalancedError
from fencepost.storage.text_reader import SourceLine
from fencepost.trees import brackets
from fencepost.trees.brackets import parse_tree, parse_trees, read_trees
from fencepost.trees.tree import Leaf, Tree
from tests.trees.strategies import trees

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)))"


def numbered(text: str) -> list[SourceLine]:
    return [SourceLine(line, number) for number, line in enumerate(text.splitlines(keepends=True), 1)]


def read(text: str) -> list[str]:
    return [str(tree) for tree in read_trees(numbered(text))]


@given(st.lists(trees, max_size=4))
@settings(deadline=None, max_examples=60)
def test_printing_and_reading_is_identity_for_any_trees(originals: list[Tree]) -> None:
    assert parse_trees("\n".join(map(str, originals))) == originals


@given(trees, st.sampled_from(["\n", "\r\n", "\t", "  ", "\n\t \n", "\xa0 "]))
@settings(deadline=None, max_examples=60)
def test_the_layout_around_brackets_means_nothing(tree: Tree, blank: str) -> None:
    spread = str(tree).replace(" (", f"{blank}(").replace(")", f"){blank}")
    assert parse_tree(blank + spread) == tree


def test_one_tree_over_many_lines_is_one_tree() -> None:
    assert read("(S\n  (NP (DT The)\n      (NN cat))\n\n  (VP (VBD sat)))\n") == [CAT]


def test_several_trees_on_one_line_are_several_trees() -> None:
    assert read(f"{CAT} {CAT}\n(NP (NN cat))\n") == [CAT, CAT, "(NP (NN cat))"]


def test_an_unlabelled_root_becomes_top() -> None:
    assert read(f"( {CAT} )\n({CAT})\n") == [f"(TOP {CAT})", f"(TOP {CAT})"]


@pytest.mark.parametrize("root", ["TOP", "ROOT", "S1", "VROOT"])
def test_a_root_symbol_is_kept_as_it_is(root: str) -> None:
    assert read(f"({root} {CAT})") == [f"({root} {CAT})"]


def test_a_leaf_that_stands_alone_gets_a_root() -> None:
    assert read("(NN cat)\n( (NN cat))\n") == ["(TOP (NN cat))"] * 2


def test_comment_lines_between_trees_are_passed_over() -> None:
    text = f"# a corpus\n{CAT}\n*x*x*\n/* note */\n%% note\n\n{CAT}\n"
    assert read(text) == [CAT, CAT]


def test_a_line_inside_a_tree_is_never_a_comment() -> None:
    assert read("(NP\n (SYM\n#)\n (SYM\n*)\n)\n") == ["(NP (SYM #) (SYM *))"]


def test_words_may_hold_blanks_that_are_not_ascii_but_labels_end_there() -> None:
    tree = parse_tree("(NP\xa0(NN 10\xa0000)\u2009(NN \u200aA))")
    assert tree == Tree("NP", [Leaf("NN", "10\xa0000"), Leaf("NN", "\u200aA")])


def test_an_inner_node_without_a_label_is_an_error_unless_a_label_is_given_for_it() -> None:
    text = "(S (NP (PRP It)) ( (VP (VBZ works))))"
    with pytest.raises(MissingLabelError) as caught:
        parse_trees(text)
    assert caught.value.hint is not None
    assert "normalize" in caught.value.hint
    assert str(parse_trees(text, unlabelled="X")[0]) == "(S (NP (PRP It)) (X (VP (VBZ works))))"


def test_parse_tree_wants_exactly_one_tree() -> None:
    with pytest.raises(TreeError, match="expected one tree, found 2"):
        parse_tree(f"{CAT}{CAT}")
    with pytest.raises(TreeError, match="expected one tree, found 0"):
        parse_tree(" ")


def test_an_error_names_the_line_of_the_very_piece_even_where_pieces_repeat() -> None:
    text = "(S (NP (NN cat))\n (NP (NN cat))\n (NP (NN cat) cat)\n (NP (NN cat)))\n"
    with pytest.raises(ExtraTextError) as caught:
        list(read_trees(numbered(text), "cats.txt"))
    assert (caught.value.source, caught.value.line, caught.value.excerpt) == ("cats.txt", 3, "cat)")


def test_an_unclosed_bracket_is_reported_where_the_tree_begins_with_the_line_of_the_next_one() -> None:
    text = f"{CAT}\n(S (NP (NN cat))\n{CAT}\n{CAT}\n"
    with pytest.raises(UnbalancedError) as caught:
        list(read_trees(numbered(text), "cats.txt"))
    assert caught.value.line == 2
    assert caught.value.hint == "a new tree seems to begin on line 3"


def test_a_tree_that_does_not_end_is_given_up_before_all_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brackets, "LONGEST_TREE", 1000)
    lines = iter(numbered("(S\n" + "(NN cat)\n" * 500))
    with pytest.raises(UnbalancedError):
        list(read_trees(lines))
    assert len(list(lines)) > 350


def test_many_trees_may_be_longer_than_the_longest_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brackets, "LONGEST_TREE", 100)
    assert len(read("(S\n (NN cat))\n" * 50)) == 50


def test_what_is_remembered_of_pieces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = brackets._PieceCache()
    monkeypatch.setattr(brackets, "_cache", cache)
    monkeypatch.setattr(brackets, "_CACHE_SIZE", 10)
    assert len(parse_trees("".join(f"(NN w{number})" for number in range(100)))) == 100
    assert len(cache) <= 10


@pytest.mark.parametrize("word", ["c\0t", "\ud800"])
def test_a_text_with_what_no_file_can_hold_is_refused(word: str) -> None:
    with pytest.raises(TreeError, match="isn't text"):
        parse_trees(f"(NP (NN {word}))")


def test_an_error_after_empty_lines_names_the_line_of_the_text() -> None:
    with pytest.raises(ExtraTextError, match=r"^a\.txt:3: text outside brackets: cat\n"):
        parse_trees("\n\ncat\n", "a.txt")


def test_trees_before_an_error_are_yielded_first() -> None:
    stream = read_trees(numbered(f"{CAT}\n{CAT})\n"))
    assert str(next(stream)) == CAT
    with pytest.raises(UnbalancedError):
        next(stream)


def test_an_excerpt_is_short_and_printable() -> None:
    with pytest.raises(ExtraTextError) as caught:
        parse_trees("\x1b[31m" + "x" * 500)
    assert caught.value.excerpt is not None
    assert len(caught.value.excerpt) < 70
    assert caught.value.excerpt.isprintable()
