"""Verbs with their complements and other phrases, and the functions that the Penn Treebank gives to them."""

from __future__ import annotations

from typing import Final

Frame = tuple[str, str, str]  # the verb's base form and past tense, and what follows it, with the slots of business.py


def _complements(preposition: str, object_: str, verbs: str) -> tuple[Frame, ...]:
    phrase = f"(PP-CLR ({'TO' if preposition == 'to' else 'IN'} {preposition}) {object_})"
    forms = (verb.split("/") for verb in verbs.split())
    return tuple((base, past, phrase) for base, past in forms)


FRAMES: Final[tuple[Frame, ...]] = (
    *_complements("on", "{noun}", "rely/relied depend/depended insist/insisted count/counted focus/focused"),
    *_complements("for", "{noun}", "wait/waited prepare/prepared ask/asked apply/applied account/accounted"),
    *_complements("of", "{noun}", "approve/approved dispose/disposed complain/complained"),
    *_complements("in", "{goods}", "invest/invested specialize/specialized deal/dealt"),
    *_complements("in", "{noun}", "result/resulted engage/engaged believe/believed end/ended"),
    *_complements("with", "{firm_np}", "compete/competed merge/merged agree/agreed cooperate/cooperated"),
    *_complements("with", "{noun}", "comply/complied cope/coped begin/began"),
    *_complements("to", "{noun}", "refer/referred respond/responded object/objected contribute/contributed lead/led"),
    *_complements("about", "{noun}", "worry/worried talk/talked"),
    *_complements("from", "{noun}", "suffer/suffered benefit/benefited stem/stemmed recover/recovered"),
    *_complements("at", "{noun}", "look/looked aim/aimed"),
    *_complements("as", "(NP {post})", "serve/served act/acted"),
    *_complements("against", "(NP {plan})", "vote/voted argue/argued"),
    ("spend", "spent", "{money} (PP-CLR (IN on) {goods})"),
    ("impose", "imposed", "{limit} (PP-CLR (IN on) {goods})"),
    ("pay", "paid", "(NP ($ $) (CD {price})) (PP-CLR (IN for) {goods})"),
    ("buy", "bought", "{goods} (PP-CLR (IN for) (NP ($ $) (CD {price})))"),
    ("accuse", "accused", "{firm_np} (PP-CLR (IN of) (NP (NN fraud)))"),
    ("charge", "charged", "{firm_np} (PP-CLR (IN with) (NP (NN fraud)))"),
    ("supply", "supplied", "{people_np} (PP-CLR (IN with) {goods})"),
    ("replace", "replaced", "(NP {site}) (PP-CLR (IN with) {goods})"),
    ("limit", "limited", "{figures} (PP-CLR (TO to) (NP {level}))"),
    ("attribute", "attributed", "{change} (PP-CLR (TO to) {noun})"),
    ("sell", "sold", "(NP {site}) (PP-CLR (TO to) {firm_np})"),
    ("buy", "bought", "{goods} (PP-CLR (IN from) {firm_np})"),
    ("prevent", "prevented", "{firm_np} (PP-CLR (IN from) (S-NOM (VP (VBG selling) {goods})))"),
    ("turn", "turned", "(NP {site}) (PP-CLR (IN into) (NP (NNS homes)))"),
    ("convert", "converted", "(NP {securities}) (PP-CLR (IN into) (NP (NNS shares)))"),
    ("describe", "described", "{noun} (PP-CLR (IN as) (ADJP (JJ normal)))"),
    ("regard", "regarded", "{noun} (PP-CLR (IN as) (NP (DT a) (NN risk)))"),
    ("price", "priced", "(NP {securities}) (PP-CLR (IN at) (NP ($ $) (CD {price})))"),
    ("value", "valued", "{firm_np} (PP-CLR (IN at) (NP ($ $) (CD {price})))"),
    ("give", "gave", "{money} (PP-DTV (TO to) {people_np})"),
    ("offer", "offered", "{goods} (PP-DTV (TO to) {firm_np})"),
    ("move", "moved", "(NP {site}) (PP-DIR (TO to) (NP {city}))"),
    ("go", "went", "(PP-DIR (TO to) (NP {city}))"),
    ("fly", "flew", "(PP-DIR (IN from) (NP {city})) (PP-DIR (TO to) (NP {city}))"),
    ("ship", "shipped", "{goods} (PP-DIR (TO to) (NP {city}))"),
    ("withdraw", "withdrew", "(PP-DIR (IN from) (NP {city}))"),
    ("expand", "expanded", "(PP-DIR (IN into) (NP {city}))"),
    ("move", "moved", "(PP-DIR (IN through) (NP {city}))"),
    ("come", "came", "(ADVP-DIR (RB back))"),
    ("move", "moved", "(ADVP-DIR (RB away))"),
    ("raise", "raised", "{figures} (PP-DIR (TO to) (NP {level})) (PP-DIR (IN from) (NP {level}))"),
    ("cut", "cut", "{figures} (PP-EXT (IN by) (NP {amount}))"),
    ("step", "stepped", "(ADVP-CLR (RB in))"),
    ("cut", "cut", "(ADVP-CLR (RB back))"),
    ("go", "went", "(ADVP-CLR (RB ahead))"),
    ("work", "worked", "{in_city}"),
    ("build", "built", "(NP {site}) {in_city}"),
    ("operate", "operated", "(PP-LOC (IN under) (NP {plan}))"),
    ("trade", "traded", "(PP-LOC {exchange})"),
    ("trade", "traded", "(PP-LOC (IN in) (NP (DT the) (JJ over-the-counter) (NN market)))"),
    ("sell", "sold", "{goods} (ADVP-LOC (RB {abroad}))"),
    ("meet", "met", "(PP-LOC (IN at) (NP (DT the) (NN airport)))"),
    ("appear", "appeared", "(PP-LOC (IN on) (NP (DT the) (JJ front) (NN page)))"),
    ("act", "acted", "{quickly}"),
    ("sell", "sold", "{goods} (PP-MNR {means})"),
    ("remain", "remained", "(ADJP-PRD (JJ cautious))"),
    ("be", "was", "(PP-PRD (IN in) (NP (NN trouble)))"),
    ("become", "became", "(NP-PRD (DT a) (NN target))"),
    ("refuse", "refused", "(S (VP (TO to) (VP (VB comment))))"),
    ("call", "called", "{noun} (S (NP-PRD (DT a) (NN mistake)))"),
    ("drop", "dropped", "{noun}"),
    ("offer", "offered", "{people_np} {money}"),
)
