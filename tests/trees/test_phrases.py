from __future__ import annotations

import pytest
from hypothesis import given, settings

from fencepost.errors import UsageError
from fencepost.text.tokens import tokenize
from fencepost.trees.head_tables import GERMAN
from fencepost.trees.heads import HeadRules, plain_label
from fencepost.trees.phrases import Phrase
from fencepost.trees.tree import Tree
from tests.trees.strategies import trees

TEXT = "The cat in a hat's  box sat."
HAT = Tree.from_string(
    "(TOP (S (NP-SBJ (NP (DT The) (NN cat)) (PP-LOC (IN in) (NP (NP (DT a) (NN hat) (POS 's)) (NN box))))"
    " (VP (VBD sat)) (. .)))"
)


def texts(phrases: list[Phrase]) -> list[str]:
    return [phrase.text for phrase in phrases]


def test_all_phrases_come_outer_before_inner_without_the_root_symbol() -> None:
    labels = [phrase.label for phrase in HAT.phrases()]
    assert labels == ["S", "NP-SBJ", "NP", "PP-LOC", "NP", "NP", "VP"]


def test_maximal_phrases_are_inside_no_other_of_their_kind_and_base_phrases_contain_none() -> None:
    assert texts(HAT.phrases("NP", kind="maximal")) == ["The cat in a hat 's box"]
    assert texts(HAT.phrases("NP", kind="base")) == ["The cat", "a hat 's"]
    assert texts(HAT.phrases("NP")) == ["The cat in a hat 's box", "The cat", "a hat 's box", "a hat 's"]


def test_labels_are_asked_for_with_or_without_functions() -> None:
    assert texts(HAT.phrases("NP-SBJ")) == ["The cat in a hat 's box"]
    assert texts(HAT.phrases("PP", "VP")) == ["in a hat 's box", "sat"]


def test_a_phrase_has_offsets_and_a_head() -> None:
    tree = HAT.placed(TEXT, tokenize(TEXT))
    phrase = tree.phrases("PP")[0]
    assert phrase == Phrase("PP-LOC", 2, 7, "in a hat's  box", "in", "IN", 2, 8, 23, phrase.tree)
    assert TEXT[8:23] == phrase.text
    assert phrase.tree == HAT[0, 0, 1]
    noun = tree.phrases("NP")[0]
    assert (noun.head, noun.head_tag, noun.head_index) == ("cat", "NN", 1)


@given(trees)
@settings(deadline=None, max_examples=60)
def test_kinds_of_phrases_agree_with_their_definitions(tree: Tree) -> None:
    tree = Tree("TOP", [tree])
    nodes = {path: node for path, node in zip(tree.paths(), tree.walk(), strict=True) if isinstance(node, Tree)}
    names = {path: plain_label(node.label) for path, node in nodes.items()}
    around = [(outer, inner) for inner in names for outer in names if inner != outer and inner[: len(outer)] == outer]
    alike = [(outer, inner) for outer, inner in around if names[outer] == names[inner]]

    def phrases(dropped: set[tuple[int, ...]]) -> list[Tree]:
        return [node for path, node in nodes.items() if path != () and path not in dropped]

    assert [phrase.tree for phrase in tree.phrases()] == phrases(set())
    assert [phrase.tree for phrase in tree.phrases(kind="maximal")] == phrases({inner for _, inner in alike})
    assert [phrase.tree for phrase in tree.phrases(kind="base")] == phrases({outer for outer, _ in alike})


@given(trees)
@settings(deadline=None, max_examples=60)
def test_dependencies_are_a_tree_over_the_words(tree: Tree) -> None:
    words = tree.dependencies()
    assert [word.number for word in words] == list(range(len(tree.words())))
    roots = [word for word in words if word.head is None]
    assert len(roots) == 1
    for word in words:
        steps = 0
        while word.head is not None:
            word = words[word.head]
            steps += 1
            assert steps <= len(words)


def test_dependencies_follow_the_heads() -> None:
    pairs = [(word.word, word.head_word) for word in HAT.dependencies()]
    assert pairs == [
        ("The", "cat"), ("cat", "sat"), ("in", "cat"), ("a", "'s"), ("hat", "'s"), ("'s", "box"), ("box", "in"),
        ("sat", None), (".", "sat"),
    ]  # fmt: skip


def test_punctuation_is_no_head_in_the_tables_by_language() -> None:
    fragment = Tree.from_string("(FRAG (NP (NN Silence)) (. .))")
    assert fragment.head.word == "Silence"
    german = Tree.from_string("(S (NP (ART Die) (NN Katze)) (VAFIN hat) (VP (VVPP geschlafen)) ($. .))")
    assert GERMAN.head(german).word == "hat"


def test_tables_know_french_german_and_chinese_trees() -> None:
    french = Tree.from_string("(SENT (NP (DET Le) (NC chat)) (VN (V a) (VPP dormi)) (PONCT .))")
    chinese = Tree.from_string("(IP (NP (NN 猫)) (VP (VV 睡) (AS 了)) (PU 。))")
    assert [word.head_word for word in french.dependencies("fr")] == ["chat", "dormi", "dormi", None, "dormi"]
    assert [word.head_word for word in chinese.dependencies("zh")] == ["睡", None, "睡", "睡"]


@pytest.mark.parametrize(
    ("language", "text", "heads"),
    [
        ("es", "(S (sn (espec (da0ms0 el)) (grup.nom (ncms000 gato))) (grup.verb (vmip3s0 duerme)) (Fp .))",
         "gato duerme - duerme"),
        ("nl", "(smain (np (det de) (noun kat)) (verb heeft) (ppart (verb geslapen)))", "kat heeft - heeft"),
        ("pt", "(fcl (np (art o) (n gato)) (vp (v-fin está) (prp a) (v-inf dormir)) (PU .))",
         "gato dormir dormir dormir - dormir"),
    ],
)  # fmt: skip
def test_tables_know_spanish_dutch_and_portuguese_trees(language: str, text: str, heads: str) -> None:
    assert [word.head_word or "-" for word in Tree.from_string(text).dependencies(language)] == heads.split()


def test_heads_that_a_treebank_marks_are_followed() -> None:
    tree = Tree.from_string("(S (NP-SB (ART-NK Die) (NE-NK Alpen) (NN-HD Kette)) (VVFIN-HD steht))")
    assert [word.head_word for word in tree.dependencies("de")] == ["Kette", "Kette", "steht", None]


def test_rules_of_ones_own_take_the_place_of_a_language() -> None:
    tree = Tree.from_string("(PP (NP (N neko)) (P ga))")
    rules = HeadRules({"PP": [("left", ("NP",))]})
    assert [word.head_word for word in tree.dependencies(rules=rules)] == [None, "neko"]
    assert tree.phrases("PP", rules=rules)[0].head == "neko"
    assert tree.phrases("PP", language="es")[0].head == "neko"
    assert tree.phrases("PP")[0].head == "ga"


@pytest.mark.parametrize("language", ["ja", "is", "xx"])
def test_a_language_without_head_rules_is_an_error_that_says_what_to_do(language: str) -> None:
    tree = Tree.from_string("(IP (NP (N neko)) (VB neru))")
    for use in (tree.dependencies, lambda code: tree.phrases(language=code)):
        with pytest.raises(UsageError, match=f"no head rules|language can't be '{language}'") as error:
            use(language)
        assert "give rules=HeadRules(…)" in (error.value.hint or "")


def test_punctuation_is_not_the_head_of_a_french_coordination() -> None:
    tree = Tree.from_string(
        "(NP (DET un) (NC chat) (COORD (PONCT ,) (NP (DET un) (NC chien))) (COORD (CC et) (NP (NC oies))))"
    )
    assert [word.head_word for word in tree.dependencies("fr")] == [
        "chat",
        None,
        "chien",
        "chien",
        "chat",
        "chat",
        "et",
    ]
