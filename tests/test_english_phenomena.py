"""What the English model inside the package makes of constructions that parsers often get wrong.

Each expectation names the constituents that a construction is about, in the notation of the Penn Treebank, and leaves
the rest of the tree open. Punctuation at the edges of a constituent doesn't count: treebanks attach it differently.
"""

from __future__ import annotations

import pytest

import fencepost
from fencepost.features.possible_tags import is_sign
from fencepost.parsing.parser import Parser
from fencepost.trees.tree import Leaf, Node, Tree


@pytest.fixture(scope="module")
def parser() -> Parser:
    return fencepost.load()


def parsed(parser: Parser, text: str) -> Tree:
    (tree,) = parser.parse_text(text)
    return tree


def words(node: Node) -> str:
    """The words of a constituent without the punctuation at its edges."""
    found = [node.word] if isinstance(node, Leaf) else list(node.words())
    while found and is_sign(found[0]):
        del found[0]
    while found and is_sign(found[-1]):
        del found[-1]
    return " ".join(found)


def constituents(tree: Tree) -> set[tuple[str, str]]:
    return {(phrase.label, words(phrase)) for phrase in tree.subtrees()}


def children(tree: Tree, label: str, text: str) -> list[tuple[str, str]]:
    """The phrases directly below the innermost constituent with this label and these words."""
    parents = [phrase for phrase in tree.subtrees(label) if words(phrase) == text]
    assert parents, f"no {label} over “{text}”: {tree}"
    return [(child.label, words(child)) for child in parents[-1].children if isinstance(child, Tree)]


# Inversion


@pytest.mark.parametrize(
    ("text", "said", "speaker"),
    [
        ('"I am tired," said the old man.', "I am tired", "the old man"),
        ('"We lost the match," admitted the coach.', "We lost the match", "the coach"),
        ('"It is getting late," said Tom.', "It is getting late", "Tom"),
        ('"The results are not final," warned one official.', "The results are not final", "one official"),
        ('"Nobody told us anything," complained a passenger.', "Nobody told us anything", "a passenger"),
        ('"You should leave," replied her brother.', "You should leave", "her brother"),
        ("“There is no hurry,” says Mrs. Bell.", "There is no hurry", "Mrs. Bell"),
    ],
)
def test_a_verb_before_its_subject_makes_an_inverted_clause(parser: Parser, text: str, said: str, speaker: str) -> None:
    tree = parsed(parser, text)
    parts = children(tree, "SINV", words(tree))
    assert [label for label, _ in parts] == ["S", "VP", "NP"]
    assert (parts[0][1], parts[2][1]) == (said, speaker)


@pytest.mark.parametrize(
    ("text", "inverted"),
    [
        ("Never have I seen such a mess.", "Never have I seen such a mess"),
        ("Only then did she understand the problem.", "Only then did she understand the problem"),
        ("Here comes the bus.", "Here comes the bus"),
        ("Under the bridge lived an old troll.", "Under the bridge lived an old troll"),
        ("Among the guests were two ministers.", "Among the guests were two ministers"),
    ],
)
def test_inversion_after_a_negative_or_a_place_is_seen(parser: Parser, text: str, inverted: str) -> None:
    assert ("SINV", inverted) in constituents(parsed(parser, text))


# Quoted questions


@pytest.mark.parametrize(
    ("text", "clause", "question", "asked"),
    [
        ('"Where are you going?" she asked.', "S", "SBARQ", "Where are you going"),
        ('"Do you like it?" he asked.', "S", "SQ", "Do you like it"),
        ('"Why did they leave?" Mary wondered.', "S", "SBARQ", "Why did they leave"),
        ('"Who broke the window?" the teacher asked.', "S", "SBARQ", "Who broke the window"),
        ('"What time is it?" asked the boy.', "SINV", "SBARQ", "What time is it"),
        ('"Is anyone home?" called the postman.', "SINV", "SQ", "Is anyone home"),
        ("“Can you hear me?” said Anna.", "SINV", "SQ", "Can you hear me"),
    ],
)
def test_a_quoted_question_is_a_question_and_its_speaker_is_outside(
    parser: Parser, text: str, clause: str, question: str, asked: str
) -> None:
    tree = parsed(parser, text)
    assert children(tree, clause, words(tree))[0] == (question, asked)


# Reports


@pytest.mark.parametrize(
    ("text", "said", "speaker"),
    [
        ("The road is closed, police said.", "The road is closed", "police"),
        ("Sales rose in March, the company said.", "Sales rose in March", "the company"),
        ("Two men were arrested after the fight, police said.", "Two men were arrested after the fight", "police"),
        ("The bridge will reopen on Monday, officials said.", "The bridge will reopen on Monday", "officials"),
        ("Nobody was hurt in the fire, a spokesman said.", "Nobody was hurt in the fire", "a spokesman"),
        ("The train left ten minutes early, witnesses say.", "The train left ten minutes early", "witnesses"),
        ("He had been warned several times, his lawyer said.", "He had been warned several times", "his lawyer"),
    ],
)
def test_the_speaker_at_the_end_of_a_report_is_outside_the_reported_clause(
    parser: Parser, text: str, said: str, speaker: str
) -> None:
    tree = parsed(parser, text)
    parts = children(tree, "S", words(tree))
    assert parts[:2] == [("S", said), ("NP", speaker)]
    assert [label for label, _ in parts] == ["S", "NP", "VP"]


# Coordination


@pytest.mark.parametrize(
    "clauses",
    [
        ["I came", "I saw", "I conquered"],
        ["The bell rang", "the doors opened", "the children ran out"],
        ["She sang", "he danced", "we all laughed"],
        ["The sun set", "the wind dropped", "the sea grew calm"],
        ["He cooks", "she cleans", "the kids do nothing"],
        ["Prices fell", "demand rose", "profits doubled"],
        ["The lights went out", "a door slammed", "somebody screamed", "we ran away"],
    ],
)
def test_coordinated_clauses_are_side_by_side(parser: Parser, clauses: list[str]) -> None:
    *first, last = clauses
    tree = parsed(parser, f"{', '.join(first)}, and {last}.")
    assert children(tree, "S", words(tree)) == [("S", clause) for clause in clauses]


# Fragments and headlines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Not today.", {("FRAG", "Not today")}),
        ("A good place for a quiet weekend.", {("NP", "A good place for a quiet weekend"), ("NP", "a quiet weekend")}),
        ("Best pizza in town!", {("NP", "Best pizza in town"), ("PP", "in town")}),
        ("Plenty of parking behind the shop.", {("NP", "Plenty"), ("PP", "of parking"), ("PP", "behind the shop")}),
        ("Nice place, terrible food.", {("NP", "Nice place"), ("NP", "terrible food")}),
        ("A table for two, please.", {("NP", "A table for two"), ("PP", "for two")}),
        ("No news from the hospital yet.", {("NP", "No news"), ("PP", "from the hospital")}),
    ],
)
def test_fragments_are_phrases_and_not_clauses(parser: Parser, text: str, expected: set[tuple[str, str]]) -> None:
    found = constituents(parsed(parser, text))
    assert expected <= found
    assert not {"S", "SQ", "SINV", "VP"} & {label for label, _ in found}


@pytest.mark.parametrize(
    ("text", "subject", "predicate"),
    [
        ("Man bites dog", "Man", "bites dog"),
        ("Parliament rejects budget", "Parliament", "rejects budget"),
        ("Storm leaves thousands without power", "Storm", "leaves thousands without power"),
        ("Council approves new housing plan", "Council", "approves new housing plan"),
        ("Minister to resign after vote", "Minister", "to resign after vote"),
        ("Police seek missing girl", "Police", "seek missing girl"),
        ("Rescue teams search for survivors", "Rescue teams", "search for survivors"),
    ],
)
def test_a_headline_without_articles_has_a_subject_and_a_predicate(
    parser: Parser, text: str, subject: str, predicate: str
) -> None:
    assert children(parsed(parser, text), "S", text) == [("NP", subject), ("VP", predicate)]


# Tags


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("They won the cup.", "VBD"),
        ("Who won?", "VBD"),
        ("Nobody won the lottery this week.", "VBD"),
        ("Our dog won first prize at the fair.", "VBD"),
        ("Having won the toss, they chose to bat.", "VBN"),
        ("She has won every race this year.", "VBN"),
        ("The team that won the final was happy.", "VBD"),
        ("I think the right side won.", "VBD"),
    ],
)
def test_won_is_a_form_of_win(parser: Parser, text: str, tag: str) -> None:
    assert [leaf.tag for leaf in parsed(parser, text).leaves() if leaf.word.lower() == "won"] == [tag]


def test_won_before_not_is_a_modal(parser: Parser) -> None:
    assert [(leaf.tag, leaf.word) for leaf in parsed(parser, "I won't go.").leaves()][1] == ("MD", "wo")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Yes, no, maybe.", {",": ",", ".": "."}),
        ("Stop! Who goes there?", {"!": ".", "?": "."}),
        ("She (the boss) left; we stayed.", {"(": "-LRB-", ")": "-RRB-", ";": ":", ".": "."}),
        ("I want it all: money, fame, and cake.", {":": ":", ",": ",", ".": "."}),
        ("It costs $5 -- or 10% more.", {"$": "$", "--": ":", "%": "NN", ".": "."}),
        ("It costs £5, or €6.", {"£": "$", "€": "$", ",": ",", ".": "."}),
        ("“Fine,” he said.", {"“": "``", "”": "''", ",": ",", ".": "."}),
        ("See [3], too.", {"[": "-LRB-", "]": "-RRB-", ",": ",", ".": "."}),
        (", , ,", {",": ","}),
    ],
)
def test_punctuation_has_the_tags_that_it_can_have(parser: Parser, text: str, tags: dict[str, str]) -> None:
    leaves = [leaf for tree in parser.parse_text(text) for leaf in tree.leaves()]
    quotes = {"``": "``", "''": "''"}
    assert [(leaf.word, leaf.tag) for leaf in leaves if is_sign(leaf.word)] == [
        (leaf.word, (tags | quotes)[leaf.word]) for leaf in leaves if is_sign(leaf.word)
    ]
    assert not [leaf for leaf in leaves if not is_sign(leaf.word) and is_sign(leaf.tag)]


# Ambiguity


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (
            "I saw the man with the telescope.",
            {("NP", "the man with the telescope")},
            {("NP", "the man"), ("VP", "saw the man with the telescope")},
        ),
        (
            "I shot an elephant in my pajamas.",
            {("NP", "an elephant in my pajamas")},
            {("NP", "an elephant"), ("VP", "shot an elephant in my pajamas")},
        ),
        (
            "She hit the boy with the stick.",
            {("NP", "the boy with the stick")},
            {("NP", "the boy"), ("VP", "hit the boy with the stick")},
        ),
        (
            "She called her friend from Paris.",
            {("NP", "her friend from Paris")},
            {("NP", "her friend"), ("VP", "called her friend from Paris")},
        ),
        (
            "They discussed the plan on the train.",
            {("NP", "the plan on the train")},
            {("NP", "the plan"), ("VP", "discussed the plan on the train")},
        ),
        (
            "The police arrested the protesters near the station.",
            {("NP", "the protesters near the station")},
            {("NP", "the protesters"), ("VP", "arrested the protesters near the station")},
        ),
        (
            "Visiting relatives can be boring.",
            {("S", "Visiting relatives"), ("VP", "Visiting relatives")},
            {("NP", "Visiting relatives")},
        ),
    ],
)
def test_both_readings_are_among_the_five_best_trees(
    parser: Parser, text: str, one: set[tuple[str, str]], other: set[tuple[str, str]]
) -> None:
    """The second reading has none of the first's constituents that it lacks itself."""
    found = [constituents(scored.tree) for scored in parser.analyze(text, k=5).trees]
    assert any(one <= each for each in found)
    assert any(other <= each and not one - other <= each for each in found)
    assert not {"NX", "NAC"} & {label for each in found for label, _ in each}


# Rates


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("Shares fell to $3.75 a share.", "a share"),
        ("It costs $5 a pound.", "a pound"),
        ("The bonus is $40 a ton.", "a ton"),
        ("He drives sixty miles an hour.", "an hour"),
    ],
)
def test_a_rate_is_a_noun_phrase(parser: Parser, text: str, rate: str) -> None:
    assert ("NP", rate) in constituents(parsed(parser, text))


# Chats


@pytest.mark.parametrize(
    ("text", "subject", "verbs"),
    [
        ("it doesnt work", "it", "does nt work"),
        ("she didnt see him", "she", "did nt see him"),
        ("theyre not here", "they", "re not here"),
        ("thats great", "that", "s great"),
    ],
)
def test_a_contraction_without_its_apostrophe_has_a_subject(
    parser: Parser, text: str, subject: str, verbs: str
) -> None:
    assert {("NP", subject), ("VP", verbs)} <= constituents(parsed(parser, text))
