"""Functions of all English treebanks in one notation."""

from __future__ import annotations

import gzip
from pathlib import Path

import prepare
import pytest
from corpora import load
from edits import as_headline, without_final_stop
from functions import harmonize_functions
from harmonize import harmonize
from hyphens import join_hyphens

from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank


def after(text: str, corpus: str) -> str:
    return str(harmonize_functions(Tree.from_string(f"(TOP {text})"), corpus)).removeprefix("(TOP ")[:-1]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("(S-IMP (VP (VB Go)))", "(S (VP (VB Go)))"),
        ("(NP-TTL-SBJ (NN x))", "(NP-SBJ (NN x))"),
        ("(PP-PUT (IN x))", "(PP-LOC (IN x))"),
        ("(PP-LOC-PRD (IN x))", "(PP-PRD (IN x))"),
        ("(PP-LOC-CLR (IN x))", "(PP-LOC (IN x))"),
        ("(VP-UNF (VB x))", "(VP (VB x))"),
        ("(WHNP-SBJ (WP x))", "(WHNP (WP x))"),
        ("(VP (V is) (PP (IN in) (N it)))", "(VP (V is) (PP (IN in) (N it)))"),
    ],
)
def test_kinds_of_text_are_dropped_and_one_function_is_kept(before: str, expected: str) -> None:
    assert after(before, "masc") == expected
    assert after(before, "wsj") == expected


def test_what_a_treebank_does_not_mark_stays_open() -> None:
    before = "(VP (V is) (PP (IN in) (N it)) (PP-TMP (IN in) (N May)))"
    assert after(before, "craft") == "(VP (V is) (PP-CLR?-DIR? (IN in) (N it)) (PP-TMP (IN in) (N May)))"
    assert "(PP-CLR?-LOC?" in after(before, "gum")
    assert after("(S (SBAR-ADV (IN if) (S (VP (V x)))) (VP (V y)))", "gum").startswith(
        "(S (SBAR-ADV-TMP?-PRP?-MNR?-LOC? (IN if)"
    )


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            "(S (NP (EX There)) (VP (VBZ is) (NP-SBJ (NN tea))))",
            "(S (NP-SBJ (EX There)) (VP (VBZ is) (NP-PRD (NN tea))))",
        ),
        (
            "(S (NP (EX There)) (VP (MD may) (VP (VB be) (NP-SBJ (NN tea)))))",
            "(S (NP-SBJ (EX There)) (VP (MD may) (VP (VB be) (NP-PRD (NN tea)))))",
        ),
        ("(S (NP (PRP it)) (VP (VBZ rains)))", "(S (NP-SBJ (PRP it)) (VP (VBZ rains)))"),
        (
            "(S (NP (NN tea)) (NP-SBJ (PRP I)) (VP (VBP like)))",
            "(S (NP-PRD?-TMP?-TPC?-VOC?-ADV? (NN tea)) (NP-SBJ (PRP I)) (VP (VBP like)))",
        ),
        (
            "(S (NP-SBJ (PRP I)) (VP (VBP ask) (NP-SBJ (PRP you)) (VP (TO to))))",
            "(S (NP-SBJ (PRP I)) (VP (VBP ask) (NP-CLR?-EXT?-PRD? (PRP you)) (VP (TO to))))",
        ),
        ("(VP (VBZ is) (ADJP (JJ good)))", "(VP (VBZ is) (ADJP-PRD (JJ good)))"),
        ("(ADVP (NP-TMP (CD two)) (RB ago))", "(ADVP (NP (CD two)) (RB ago))"),
        ("(PP (IN by) (NP-LGS (PRP us)))", "(PP (IN by) (NP-LGS (PRP us)))"),
        ("(NP (NN end) (PP-TMP (IN of) (NN May)))", "(NP (NN end) (PP (IN of) (NN May)))"),
        ("(NP (NN man) (PP-LOC (IN in) (NN bed)))", "(NP (NN man) (PP-LOC (IN in) (NN bed)))"),
        ("(NP (NN man) (PP (IN in) (NN bed)))", "(NP (NN man) (PP-LOC?-TMP?-DIR? (IN in) (NN bed)))"),
        ("(NP (NN man) (ADVP-MNR (RB alone)))", "(NP (NN man) (ADVP (RB alone)))"),
        ("(NP (CD ten) (NP-TMP (DT a) (NN day)))", "(NP (CD ten) (NP-ADV (DT a) (NN day)))"),
        ("(NP (NN man) (NP-TMP (CD 1999)))", "(NP (NN man) (NP-TMP? (CD 1999)))"),
        ("(NP (NN man) (NP-ADV (PRP himself)))", "(NP (NN man) (NP-LOC? (PRP himself)))"),
        ("(ADVP (RB out) (PP-DIR (IN of) (NN bed)))", "(ADVP (RB out) (PP (IN of) (NN bed)))"),
        ("(ADJP (JJ new) (PP-LOC (IN in) (NN town)))", "(ADJP (JJ new) (PP-LOC? (IN in) (NN town)))"),
        ("(ADJP (JJ sad) (S-PRP (VP (TO to))))", "(ADJP (JJ sad) (S (VP (TO to))))"),
        ("(VP (VBD went) (PP-DIR (TO to) (NN bed)))", "(VP (VBD went) (PP-DIR-CLR? (TO to) (NN bed)))"),
        ("(VP (VBN used) (S-PRP (VP (TO to))))", "(VP (VBN used) (S-CLR (VP (TO to))))"),
        ("(VP (VBD came) (S-PRP (VP (TO to))))", "(VP (VBD came) (S-PRP (VP (TO to))))"),
        ("(S (ADVP-TMP (RB However)))", "(S (ADVP-LOC?-MNR? (RB However)))"),
        ("(S (ADVP-TMP (RB Now)))", "(S (ADVP-TMP (RB Now)))"),
    ],
)
def test_gum_gets_the_functions_that_penn_gives(before: str, expected: str) -> None:
    assert after(before, "gum") == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("(VP (VBD x) (S-MNR (VP (VBG using))))", "(VP (VBD x) (S-ADV-MNR? (VP (VBG using))))"),
        ("(VP (VBN used) (S-PRP (VP (TO to))))", "(VP (VBN used) (S-CLR (VP (TO to))))"),
        ("(VP (VBD x) (PP-MNR (IN as) (NN y)))", "(VP (VBD x) (PP-MNR-CLR? (IN as) (NN y)))"),
        ("(VP (VBD x) (PP-LOC (IN in) (NN y)))", "(VP (VBD x) (PP-LOC (IN in) (NN y)))"),
        ("(VP (VBD x) (PP-MNR (VBG according) (NN y)))", "(VP (VBD x) (PP-MNR? (VBG according) (NN y)))"),
        ("(NP (NNP Lyon) (, ,) (NP-LOC (NNP France)))", "(NP (NNP Lyon) (, ,) (NP-LOC? (NNP France)))"),
        ("(S (ADVP (RB Here)))", "(S (ADVP-LOC?-CLR?-DIR? (RB Here)))"),
        ("(S (ADVP (RB Thus)))", "(S (ADVP (RB Thus)))"),
    ],
)
def test_craft_gets_the_functions_that_penn_gives(before: str, expected: str) -> None:
    assert after(before, "craft") == expected


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP-SBJ (NP (NML (NN a) (NN b)) (NN c)) (-LRB- -LRB-) (NP-LOC (NN d)) (-RRB- -RRB-)) (VP (V e)) (. .))",
        "(S (S-TPC (NP-SBJ (NN a)) (VP (V b))) (. .))",
        "(NP-VOC (NML-1 (NN a) (PP-LOC (IN of) (NP (NN b)))) (NN c))",
        "(S (CIT-LOC (-LRB- [) (CD 1) (-RRB- ])) (ADJP-PRD (RB well) (HYPH -) (VBN known)) (NP-SBJ (NP (NN x))))",
        "(SBAR (NP-SBJ (WDT that)) (S (VP (V x))))",
    ],
)
def test_all_steps_do_the_same_to_a_tree_with_functions(text: str) -> None:
    marked = Tree.from_string(f"(TOP {text})")
    plain = without_functions(marked)
    for step in (harmonize, join_hyphens, lambda tree: without_final_stop(tree) or tree, as_headline):
        assert without_functions(step(marked)) == without_functions(step(plain))


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    raw = "( (S (NP-SBJ-1 (NN {})) (VP (VBZ is) (ADJP-PRD (NP (-NONE- *)) (JJ new)))))"
    for corpus in ("gum", "masc", "craft", "wsj-sample"):
        folder = tmp_path / "en" / corpus
        (folder / "raw").mkdir(parents=True)
        for split in ("train", "dev", "test"):
            word = f"{corpus}-{split}"
            tree = f"(TOP (S (NP (NN {word})) (VP (VBZ is) (ADJP (JJ new)))))\n"
            (folder / f"{split}.txt").write_text(tree, encoding="utf-8")
            (folder / f"{split}.meta.tsv").write_text("line\tdoc\tcommercial\n1\tx\tyes\n", encoding="utf-8")
            (folder / "raw" / f"{split}.mrg.gz").write_bytes(gzip.compress(raw.format(word).encode()))
    return tmp_path


def test_functions_come_from_the_raw_files(treebanks: Path) -> None:
    (item,) = load(treebanks, "masc", ["dev"], functions=True)
    assert str(item.tree) == "(TOP (S (NP-SBJ (NN masc-dev)) (VP (VBZ is) (ADJP-PRD (JJ new)))))"


def test_a_raw_file_with_other_trees_is_refused(treebanks: Path) -> None:
    (treebanks / "en" / "masc" / "dev.txt").write_text("(TOP (NP (NN x)))\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is not the tree in the treebank"):
        load(treebanks, "masc", ["dev"], functions=True)


def test_the_same_sentences_are_chosen_with_functions(treebanks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, options in (("plain", []), ("marked", ["--functions"])):
        out = str(treebanks / name)
        monkeypatch.setattr("sys.argv", ["prepare.py", "--treebanks", str(treebanks), "--out", out, *options])
        prepare.main()
    for path in (treebanks / "plain").iterdir():
        marked = Treebank.load(treebanks / "marked" / path.name)
        assert Treebank(map(without_functions, marked)) == Treebank.load(path)
        assert "NP-SBJ" in str(marked[0])


@pytest.mark.parametrize("corpus", ["gum", "masc", "craft", "wsj"])
def test_the_functions_of_every_treebank_can_be_read(shared: Path, corpus: str) -> None:
    plain = load(shared / "treebanks", corpus, ["test"])
    marked = load(shared / "treebanks", corpus, ["test"], functions=True)
    assert [without_functions(item.tree) for item in marked] == [item.tree for item in plain]
