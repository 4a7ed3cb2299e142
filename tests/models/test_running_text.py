"""Running text from trees of other languages, with trees of our own, and the scores of its splits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import split_languages
from running_text import paragraphs, splits, text_of, written

from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank

# The words of a tree, and the text that they stand for.
TEXTS = [
    ("fr", "Aujourd'_hui , l' ami dit -il : \" Oui ! \"", "Aujourd'hui, l'ami dit-il : « Oui ! »"),
    ("fr", "l' ex- ami afin_de 50_000", "l'ex-ami afin de 50 000"),
    ("fo", "Barn$ $ið svevur , og", "Barnið svevur, og"),
    ("id", 'kata nya , " anak - anak ini . "', 'katanya, "anak-anak ini."'),
    ("pt", "Está em o sofá de a Ana { sim } .", "Está no sofá da Ana (sim)."),
    ("pt", "Vai a a casa e deita- se .", "Vai à casa e deita-se."),
    ("de", 'Er sagt : " Am 3. Mai " .', "Er sagt: „Am 3. Mai“."),
    ("ja", "猫 が 寝 た 。", "猫が寝た。"),
    ("nl", "Zo'n auto's ( rood ) !", "Zo'n auto's (rood)!"),
    ("fro", "qu' a@ @u roi", "qu'au roi"),
]


def tree_of(words: str) -> Tree:
    return Tree("TOP", [Leaf("X", word) for word in words.split()])


@pytest.mark.parametrize(("name", "words", "text"), TEXTS)
def test_the_marks_of_a_treebank_become_text(name: str, words: str, text: str) -> None:
    assert text_of([written(tree_of(words), name)], name) == text


def test_a_paragraph_ends_with_a_document_a_heading_and_ten_sentences() -> None:
    sentence, heading = tree_of("Sie schläft ."), tree_of("Die Katze")
    lengths = [len(each) for each in paragraphs([heading, *[sentence] * 13], "de")]
    assert lengths == [1, 10, 3]
    assert [len(each) for each in paragraphs([sentence] * 4, "de", ["a", "a", "a", "b"])] == [3, 1]


def test_splits_count_characters_without_spaces() -> None:
    found = splits([["a b", "c"], ["d"]])
    assert found.boundaries == {3, 4}
    assert found.tokens == {(0, 2), (2, 3), (3, 4)}


def test_scores_of_a_treebank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / split_languages.FOLDERS["de"]
    folder.mkdir(parents=True)
    Treebank([tree_of("Sie kam am 3. Mai ."), tree_of("Er schlief ."), tree_of("Haus hoch")]).save(folder / "dev.txt")
    command = ["split_languages.py", "--treebanks", str(tmp_path), "--only", "de", "--mistakes", "9"]
    monkeypatch.setattr(sys, "argv", command)
    split_languages.main()
    assert capsys.readouterr().out.splitlines()[-1] == "| de | 2 | 100.00 | 100.00 | 100.00 | 11 | 100.00 |"
    Treebank([tree_of("Ach_was ."), tree_of("Ja .")]).save(folder / "dev.txt")
    split_languages.main()
    assert "[Ach]" in capsys.readouterr().out  # a word that the rules cut and the treebank doesn't
