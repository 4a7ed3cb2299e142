from __future__ import annotations

import pytest

from fencepost.text.tokens import tokenize
from fencepost.trees.tree import Tree


def rows(text: str) -> list[tuple[str, str, str]]:
    return [(clause.kind, clause.text, clause.verb) for clause in Tree.from_string(text).clauses()]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        pytest.param(
            "(TOP (S (S (NP (PRP I)) (VP (VBD came))) (CC and) (S (NP (PRP you)) (VP (MD may) (VP (VB go)))) (. .)))",
            [("main", "I came", "came"), ("main", "you may go", "may")],
            id="two main clauses",
        ),
        pytest.param(
            "(TOP (S (SBAR (IN Because) (S (NP (PRP it)) (VP (VBD rained)))) (, ,) (NP (PRP we)) (VP (VBD left))))",
            [("main", "Because it rained , we left", "left"), ("dependent", "Because it rained", "rained")],
            id="an adverbial clause",
        ),
        pytest.param(
            "(S (NP (NP (DT the) (NN cat)) (SBAR (WHNP (WDT that)) (S (VP (VBD sat))))) (VP (VBZ sleeps)))",
            [("main", "the cat that sat sleeps", "sleeps"), ("relative", "that sat", "sat")],
            id="a relative clause",
        ),
        pytest.param(
            "(NP (NP (NNS books)) (SBAR (S (NP (PRP I)) (VP (VBD read)))))",
            [("relative", "I read", "read")],
            id="a relative clause without a relative word",
        ),
        pytest.param(
            "(NP (NP (NNS men)) (SBAR (SBAR (WHNP (WP who)) (S (VP (VBD came)))) (CC and)"
            " (SBAR (WHNP (WP who)) (S (VP (VBD saw))))))",
            [("relative", "who came", "came"), ("relative", "who saw", "saw")],
            id="two relative clauses of one noun",
        ),
        pytest.param(
            "(NP (NP (NNS men)) (SBAR (WHNP (WP who)) (S (S (VP (VBD came))) (CC and) (S (VP (VBD saw))))))",
            [("relative", "came", "came"), ("relative", "saw", "saw")],
            id="a relative word before two clauses",
        ),
        pytest.param(
            "(NP (DT the) (NN fact) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD sat)))))",
            [("dependent", "that it sat", "sat")],
            id="a clause that completes a noun",
        ),
        pytest.param(
            "(S (NP (SBAR (WHNP (WP What)) (S (NP (PRP he)) (VP (VBD said))))) (VP (VBZ is) (ADJP (JJ true))))",
            [("main", "What he said is true", "is"), ("dependent", "What he said", "said")],
            id="a clause instead of a noun phrase",
        ),
        pytest.param(
            "(S (NP (PRP I)) (VP (VBP want) (S (VP (TO to) (VP (VB go))))))",
            [("main", "I want to go", "want")],
            id="an infinitive is not a clause",
        ),
        pytest.param(
            "(S (S (VP (VB Stop))) (NP (PRP he)) (VP (VBD shouted)))",
            [("main", "Stop he shouted", "shouted"), ("dependent", "Stop", "Stop")],
            id="a command that is quoted",
        ),
        pytest.param("(TOP (S (VP (VB Go) (ADVP (RB home))) (. !)))", [("main", "Go home !", "Go")], id="a command"),
        pytest.param(
            "(S (NP (PRP I)) (VP (VBD let) (S (NP (PRP him)) (VP (VB go)))))",
            [("main", "I let him go", "let")],
            id="a base form is a verb of its own only in a command",
        ),
        pytest.param(
            "(TOP (SBARQ (WHADVP (WRB Why)) (SQ (VBD did) (NP (PRP he)) (VP (VB go))) (. ?)))",
            [("main", "Why did he go ?", "did")],
            id="a question",
        ),
        pytest.param(
            "(TOP (SINV (`` ``) (S (VP (VB Go))) (, ,) ('' '') (VP (VBD said)) (NP (PRP she))))",
            [("main", "`` Go , '' said she", "said"), ("dependent", "Go", "Go")],
            id="a quotation depends on the clause around it",
        ),
        pytest.param(
            "(S (NP (PRP It)) (PRN (, ,) (S (NP (PRP he)) (VP (VBD said))) (, ,)) (VP (VBZ is) (ADJP (JJ late))))",
            [("main", "It , he said , is late", "is"), ("main", "he said", "said")],
            id="a clause between commas",
        ),
        pytest.param(
            "(S (NP (PRP He)) (VP (VP (VBD came)) (CC and) (VP (VBD went))))",
            [("main", "He came and went", "came")],
            id="two verb phrases of one clause: the first verb",
        ),
        pytest.param("(TOP (NP (NN Silence)))", [], id="no clause"),
    ],
)
def test_clauses_with_their_kind_and_verb(text: str, clauses: list[tuple[str, str, str]]) -> None:
    assert rows(text) == clauses


def test_a_clause_has_offsets_and_a_head() -> None:
    text = "We  left  because it rained."
    tree = Tree.from_string(
        "(TOP (S (NP (PRP We)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))) (. .)))"
    ).placed(text, tokenize(text))
    main, because = tree.clauses()
    assert (because.start, because.end, because.start_char, because.end_char) == (2, 5, 10, 27)
    assert text[10:27] == because.text == "because it rained"
    assert (because.label, because.head, because.verb_tag, because.verb_index) == ("SBAR", "because", "VBD", 4)
    assert (main.head, main.head_index, main.verb_index) == ("left", 1, 1)
    assert main.tree == tree[0]
