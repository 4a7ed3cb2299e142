"""Sentences with constructions that are rare in the treebanks: inverted conditions and two objects.

``Had I known, …`` and ``Should you need it, …`` are ``(SBAR-ADV (SINV …))``, as in the Penn Treebank and in all the
treebanks of the training data, which have about twenty of them. ``She fed her cat food`` has two objects, neither of
them with a function.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from templates import Grammar, leaves, sentences

from fencepost.trees.tree import Tree

SUBJECTS: Final = (
    "PRP:I",
    "PRP:we",
    "PRP:they",
    "PRP:you",
    "NNP:Mary",
    "DT:the NN:doctor",
    "DT:the NNS:workers",
    "PRP$:his NN:father",
    "NNP:Mr. NNP:Hale",
    "DT:the NN:bank",
)


def condition_sentences(choice: random.Random, count: int) -> Iterator[Tree]:
    return sentences(CONDITIONS, choice, count)


def two_object_sentences(choice: random.Random, count: int) -> Iterator[Tree]:
    return sentences(TWO_OBJECTS, choice, count)


CONDITIONS: Final[Grammar] = {
    "sentence": (
        "(S (SBAR-ADV {past}) (, ,) {subject} (VP (MD {would}) {not} (VP (VB have) (VP {done}))) (. .))",
        "(S {subject} (VP (MD {would}) {not} (VP (VB have) (VP {done}) (SBAR-ADV {past}))) (. .))",
        "(S (SBAR-ADV {should}) (, ,) {subject} (VP (MD {will}) (VP {do})) (. .))",
        "(S {subject} (VP (MD {will}) (VP {do} (SBAR-ADV {should}))) (. .))",
        "(S (SBAR-ADV {should}) (, ,) (VP {order}) (. .))",
        "(S (VP {order} (SBAR-ADV {should})) (. .))",
        "(S (SBAR-ADV {were}) (, ,) {subject} (VP (MD {would}) (VP {do})) (. .))",
        "(S {subject} (VP (MD {would}) (VP {do} (SBAR-ADV {were}))) (. .))",
        "(SBARQ (SBAR-ADV {past}) (, ,) (WHNP (WP what)) "
        "(SQ (MD would) {subject} (VP (VB have) (VP (VBN done)))) (. ?))",
    ),
    "past": (
        "(SINV (VBD had) {subject} (VP {known}))",
        "(SINV (VBD had) {subject} (ADVP (RB {only})) (VP {known}))",
        "(SINV (VBD had) {subject} (RB not) (VP {known}))",
    ),
    "should": (
        "(SINV (MD should) {subject} (VP {need}))",
        "(SINV (MD should) {subject} (ADVP-TMP (RB ever)) (VP {need}))",
    ),
    "were": (
        "(SINV (VBD were) {subject} (S-PRD (VP (TO to) (VP {do}))))",
        "(SINV (VBD were) {subject} (ADJP-PRD {able}))",
        "(SINV (VBD were) {subject} (PP-PRD (IN in) (NP (NN charge))))",
        "(SINV (VBD were) (NP-SBJ (PRP it)) (RB not) (PP-PRD (IN for) (NP (NN luck))))",
    ),
    "subject": tuple(f"(NP-SBJ {words})" for words in leaves(*SUBJECTS)),
    "not": ("", "", "(RB not)", "(RB n't)"),
    "would": ("would", "would", "could", "might"),
    "will": ("will", "can", "may"),
    "only": ("only", "really", "just"),
    "known": (
        "(VBN known)",
        "(VBN known) (NP (DT the) (NN truth))",
        "(VBN arrived) (ADVP-TMP (RB earlier))",
        "(VBN been) (ADVP-PRD (RB there))",
        "(VBN asked) (PP-CLR (IN for) (NP (NN help)))",
        "(VBN seen) (NP (DT the) (NN letter)) (PP-TMP (IN before) (NP (NNP Monday)))",
        "(VBN been) (VP (VBN told))",
        "(VBN said) (NP (NN something))",
        "(VBN listened) (PP-CLR (TO to) (NP (PRP us)))",
        "(VBN taken) (NP (DT the) (JJ early) (NN train))",
    ),
    "done": (
        "(VBN come)",
        "(VBN acted) (ADVP-MNR (RB differently))",
        "(VBN sold) (NP (DT the) (NN house))",
        "(VBN stayed) (PP-LOC (IN at) (NP (NN home)))",
        "(VBN left) (NP (DT the) (NN country))",
        "(VBN been) (ADJP-PRD (JJ ready))",
        "(VBN found) (NP (DT a) (JJ better) (NN way))",
        "(VBN won) (NP (DT the) (NN election))",
    ),
    "do": (
        "(VB help)",
        "(VB leave) (NP-TMP (NN tomorrow))",
        "(VB call) (NP (DT the) (NN office))",
        "(VB lose) (NP (PRP$ their) (NNS jobs))",
        "(VB return) (PP-DIR (TO to) (NP (NNP Lisbon)))",
        "(VB change) (NP (DT the) (NNS rules))",
        "(VB be) (ADJP-PRD (JJ glad))",
        "(VB agree) (PP-CLR (TO to) (NP (DT the) (NN plan)))",
        "(VB pay) (PP-CLR (IN for) (NP (DT the) (NN damage)))",
    ),
    "need": (
        "(VB need) (NP (JJ more) (NN time))",
        "(VB need) (NP (NN help))",
        "(VB have) (NP (DT any) (NNS questions))",
        "(VB fail)",
        "(VB change) (NP (PRP$ your) (NN mind))",
        "(VB wish) (S (VP (TO to) (VP (VB cancel))))",
        "(VB decide) (S (VP (TO to) (VP (VB sell))))",
        "(VB lose) (NP (DT the) (NN key))",
        "(VB be) (ADJP-PRD (JJ late))",
    ),
    "able": leaves("JJR:younger", "JJ:free", "JJ:alive", "JJ:ill", "RB:so JJ:inclined"),
    "order": (
        "(VB call) (NP (DT this) (NN number))",
        "(VB let) (S (NP-SBJ (PRP me)) (VP (VB know)))",
        "(VB write) (PP-CLR (TO to) (NP (DT the) (NN office)))",
        "(VB press) (NP (DT the) (JJ red) (NN button))",
    ),
}

TWO_OBJECTS: Final[Grammar] = {
    "sentence": (
        "(S {giver} (VP {gave} {getter} {gift}) (. .))",
        "(S {giver} (VP {gave} {getter} {gift} {when}) (. .))",
        "(S {giver} (VP (MD {will}) (VP {give} {getter} {gift})) (. .))",
        "(S {giver} (VP {wanted} (S (VP (TO to) (VP {give} {getter} {gift})))) (. .))",
        "(S (VP {give} {getter} {gift}) (. .))",
        "(SQ (MD could) (NP-SBJ (PRP you)) (VP {give} {getter} {gift}) (. ?))",
        "(S {giver} (VP (VBD fed) {animal} (NP {feed})) (. .))",
        "(S {giver} (VP (VBD had) (VP (VBN fed) {animal} (NP {feed}) {when})) (. .))",
        "(SBARQ (WHNP (WP who)) (SQ (VP {gave} {getter} {gift})) (. ?))",
    ),
    "giver": tuple(f"(NP-SBJ {words})" for words in leaves(*SUBJECTS, "PRP:she", "PRP:he", "PRP$:her NN:uncle")),
    "getter": tuple(
        f"(NP {words})"
        for words in leaves(
            "PRP:me",
            "PRP:him",
            "PRP:her",
            "PRP:us",
            "PRP:them",
            "DT:the NNS:children",
            "PRP$:her NN:sister",
            "NNP:Peter",
            "DT:every NN:guest",
            "PRP$:his JJ:old NN:friend",
            "DT:the NN:waiter",
        )
    ),
    "gift": (
        "(NP (DT a) (NN letter))",
        "(NP (DT the) (NNS keys))",
        "(NP (DT some) (NN soup))",
        "(NP (DT a) (JJ new) (NN coat))",
        "(NP (JJ good) (NN advice))",
        "(NP (DT the) (NN truth))",
        "(NP (PRP$ her) (NN phone) (NN number))",
        "(NP ($ $) (CD 50))",
        "(NP (NP (DT a) (NN cup)) (PP (IN of) (NP (NN tea))))",
        "(NP (NP (DT the) (NN story)) (PP (IN of) (NP (DT the) (NN flood))))",
        "(NP (NNS flowers))",
        "(NP (DT another) (NN chance))",
    ),
    "gave": tuple(
        f"(VBD {verb})" for verb in ("gave", "sent", "bought", "handed", "offered", "brought", "left", "lent")
    ),
    "give": tuple(f"(VB {verb})" for verb in ("give", "send", "buy", "hand", "offer", "bring", "pass", "save")),
    "will": ("will", "should", "might", "can"),
    "wanted": ("(VBD wanted)", "(VBD promised)", "(VBD forgot)", "(VBD tried)"),
    "when": ("(NP-TMP (JJ last) (NN night))", "(PP-TMP (IN on) (NP (NNP Sunday)))", "(ADVP-TMP (RB again))"),
    "animal": tuple(
        f"(NP {words})"
        for words in leaves("PRP:her", "PRP$:her NN:dog", "DT:the NNS:birds", "PRP$:his NN:horse", "PRP:them")
    ),
    "feed": leaves("NN:cat NN:food", "NN:bread", "DT:some NN:hay", "JJ:raw NN:meat", "NN:dog NN:food", "NNS:carrots"),
}
