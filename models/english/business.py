"""Sentences of business news, for the functions of their phrases: places in noun phrases, complements, dates, manner.

The treebanks that may be trained on have hardly any business news. Words, firms and people are our own. The functions
are those of the Penn Treebank: ``an analyst [PP-LOC at a bank]``, ``a drop [PP-LOC in sales]``, ``priced it [S-CLR to
yield 7%]``, ``took [NP-CLR effect]``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from frames import FRAMES
from templates import Grammar, leaves, sentences

from fencepost.trees.tree import Tree


def business_sentences(choice: random.Random, count: int) -> Iterator[Tree]:
    return sentences(GRAMMAR, choice, count)


def _words(listed: str) -> tuple[str, ...]:
    """Fillers from a text such as ``NN:steel, JJ:used NNS:cars``."""
    return leaves(*listed.split(", "))


def _each(form: str, listed: str) -> tuple[str, ...]:
    return tuple(form.replace("*", words) for words in _words(listed))


def _decimal(choice: random.Random) -> str:
    return choice.choice((str(choice.randint(2, 95)), f"{choice.randint(1, 99)}.{choice.randint(1, 9)}"))


PARTS: Final = (  # of noun phrases and adjective phrases
    "(S (NP-SBJ {people} {in_city}) (VP {expected} {noun}) (. .))",
    "(S {expert_subject} (VP (VBD said) (SBAR {clause})) (. .))",
    "(S (NP-SBJ {name} (, ,) {expert} (, ,)) (VP (VBD said) (SBAR {clause})) (. .))",
    "(SINV {topic} (, ,) (VP (VBD said)) (NP-SBJ {name} (, ,) {expert}) (. .))",
    "(S {firm} (VP {reported} (NP {change} (PP-LOC (IN in) {figures}))) (. .))",
    "(S (NP-SBJ {change} (PP-LOC (IN in) {figures})) (VP {surprised} {people_np}) (. .))",
    "(S {firm} (VP (VBD blamed) (NP {change} (PP-LOC (IN in) {figures})) (PP-CLR (IN on) {noun})) (. .))",
    "(S {firm} (VP (VBZ owns) (NP (NP {site}) {in_city})) (. .))",
    "(S {firm} (VP (VBD bought) (NP (NP (DT a) (ADJP (CD {whole}) (NN %)) (NN stake)) "
    "(PP-LOC (IN in) {firm_np}))) (. .))",
    "(S {firm} (VP (VBD won) (NP (NP (DT a) {contract}) (PP (IN from) {firm_np}))) (. .))",
    "(S {firm} (VP (VBD opposed) (NP {limit} (PP (IN on) {figures}))) (. .))",
    "(S (NP-SBJ (NP {gathering}) {in_city}) (VP (VBD lasted) (NP-TMP (CD {number}) (NNS days))) (. .))",
    "(S (NP-SBJ (NP {gathering}) {on_day}) (VP (VBD ended) {quickly}) (. .))",
    "(S {person} (VP (VBD cited) (NP (NP (NN trading)) (PP-LOC (IN in) {goods}))) (. .))",
    "(S (NP-SBJ {demand} (PP (IN for) {goods})) (VP (VBD rose) {in_period}) (. .))",
    "(S {firm} (VP {reported} (NP (NP (NN income)) (PP (IN for) (NP {quarter})))) (. .))",
    "(S {firm} (VP {reported} (NP (NP (NNS sales)) (PP-TMP (IN in) (NP {quarter})))) (. .))",
    "(S {firm} (VP {expected} (NP (NP (NNS shipments)) (PP-DIR (TO to) (NP {city})))) (. .))",
    "(S {firm} (VP {expected} (NP (NP (NNS imports)) (PP-DIR (IN from) (NP {city})))) (. .))",
    "(S (NP-SBJ (DT the) (NAC-LOC {town} (, ,) {state} (, ,)) {kind}) (VP {reported} {noun}) (. .))",
    "(S (NP-SBJ (DT a) (NAC-LOC {town} (, ,) {state} (, ,)) {professional}) (VP {expected} {noun}) (. .))",
    "(S (NP-SBJ {name} (, ,) (NP-LOC {town}) (, ,)) (VP (VBD paid) (NP (DT a) (NN fine))) (. .))",
    "(S (NP-SBJ (NP (DT a) {professional}) (PP-LOC (IN in) (NP (NP {town}) (, ,) (NP {state})))) "
    "(VP (VBD agreed)) (. .))",
    "(S (NP-SBJ {firm_np} (, ,) (VP (VBN based) (PP-LOC (IN in) (NP (NP {town}) (, ,) (NP {state})))) (, ,)) "
    "(VP {expected} {noun}) (. .))",
    "(S {firm} (VP (VBD sold) (NP (NP {securities}) (ADJP (JJ due) (NP-TMP {date}))) {in_period}) (. .))",
    "(S (NP-SBJ (DT the) {dividend}) (VP (VBZ is) (ADJP-PRD (JJ payable) (NP-TMP {date}))) (. .))",
)

PRICES: Final = (
    "(S (NP-SBJ {securities}) (VP (VBD were) (VP (VBN priced) (PP-CLR (IN at) (NP (CD {price}))) "
    "(S-CLR (VP (TO to) (VP (VB yield) (NP (CD {decimal}) (NN %))))))) (. .))",
    "(S {firm} (VP {closed} (PP-CLR (IN at) (NP ($ $) (CD {price}))) (PP-LOC {exchange}) (NP-TMP (NN yesterday))) "
    "(. .))",
    "(S (PP-LOC {trading}) (, ,) {firm} (VP {closed} (PP-CLR (IN at) (NP ($ $) (CD {price})))) (. .))",
    "(S {firm} (VP {closed} (PP-LOC {trading}) (PP-CLR (IN at) (NP ($ $) (CD {price})))) (. .))",
    "(S {firm} (VP {moved} (NP-EXT {amount}) {when}) (. .))",
    "(S {firm} (VP {moved} (NP-EXT {amount}) "
    "(S-CLR (VP (TO to) (VP (VB close) (PP-CLR (IN at) (NP ($ $) (CD {price}))))))) (. .))",
    "(S (NP-SBJ {figure}) (VP {moved} (NP-EXT {amount}) (PP-DIR (TO to) (NP {level})) (PP-DIR (IN from) (NP {level}))) "
    "(. .))",
    "(S (PP-TMP (IN after) (S-NOM (VP (VBG rising) (NP-EXT {amount}) {when}))) (, ,) (NP-SBJ {figure}) "
    "(VP (VBD stalled)) (. .))",
    "(S {in_city} (, ,) (NP-SBJ {figure}) (VP {moved} (NP-EXT {amount})) (. .))",
    "(S {firm} (VP (VBD cut) (NP (PRP$ its) (NN forecast)) (PP-EXT (IN by) (NP {amount}))) (. .))",
    "(S (NP-SBJ {figure}) (VP {moved} {quickly} {when}) (. .))",
)

VERBS: Final = (  # complements, and phrases that are none
    "(S {firm} (VP {frame}) (. .))",
    "(S {firm} (VP (MD will) (VP {base_frame})) (. .))",
    "(S {firm} (VP (VBD said) (SBAR (S {it} (VP (MD would) (VP {base_frame} {when}))))) (. .))",
    "(S {person} (VP {frame} {when}) (. .))",
    "(S {in_period} (, ,) {firm} (VP {frame}) (. .))",
    "(S {firm} (VP {frame} (PP-PRP {because} {noun})) (. .))",
    "(S {firm} (VP {frame} (, ,) (PP (VBG according) (PP (TO to) {people_np}))) (. .))",
    "(S {firm} (VP {frame} (PP {despite} {noun})) (. .))",
    "(S (PP {despite} {noun}) (, ,) {firm} (VP {frame}) (. .))",
    "(S {firm} (VP {opened} (NP {site}) {in_city}) (. .))",
    "(S {firm} (VP {opened} (NP {site}) (S-PRP (VP (TO to) (VP {base_frame})))) (. .))",
    "(S {firm} (VP (VBD used) {money} (S-CLR (VP (TO to) (VP {base_frame})))) (. .))",
    "(S (NP-SBJ {proceeds}) (VP (MD will) (VP (VB be) (VP (VBN used) (S-CLR (VP (TO to) (VP {base_frame})))))) (. .))",
    "(S (NP-SBJ {plan}) (VP (VBZ is) (VP (VBN designed) (S-CLR (VP (TO to) (VP {base_frame}))))) (. .))",
    "(S {firm} (VP {wanted} (S (VP (TO to) (VP {base_frame})))) (. .))",
    "(S {firm} (VP (VBD took) {light}) (. .))",
    "(S (NP-SBJ {plan}) (VP (VBZ takes) (NP-CLR (NN effect)) {when}) (. .))",
    "(S (NP-SBJ {gathering}) (VP (VBD took) (NP-CLR (NN place)) {in_city} {on_day}) (. .))",
    "(S (PP-LOC (IN under) (NP {plan})) (, ,) {firm} (VP (MD will) (VP {base_frame})) (. .))",
    "(S (PP-LOC (IN under) (NP (NP (NNS terms)) (PP (IN of) (NP {plan})))) (, ,) {firm} "
    "(VP (MD would) (VP {base_frame})) (. .))",
    "(S (PP-LOC (IN among) (NP {group})) (, ,) {firm} (VP {frame}) (. .))",
    "(S (PP-LOC {statement}) (, ,) {firm} (VP (VBD said) (SBAR {clause})) (. .))",
    "(S {firm} (VP (VBD said) (PP-LOC {statement}) (SBAR (IN that) {statement_clause})) (. .))",
    "(S (PP {addition}) (, ,) {firm} (VP {frame}) (. .))",
    "(S {sentence_adverb} (, ,) {firm} (VP {frame}) (. .))",
    "(S {firm} (ADVP-TMP (RB {already})) (VP {frame}) (. .))",
    "(S {firm} (VP (VBD had) (ADVP-TMP (RB {already})) (VP (VBN reached) (NP {city}))) (. .))",
    "(S {firm} (ADVP (RB {only})) (VP {frame}) (. .))",
    "(S {person} (VP {frame} (ADVP (RB as) (RB well))) (. .))",
    "(S {person} (VP (VBD was) (VP (VBN {elected}) (S (NP-PRD {post})) {when})) (. .))",
    "(S {firm} (VP (VBD appointed) {name} (PP-CLR (IN as) (NP {post}))) (. .))",
    "(S (NP-SBJ {plan}) (VP (VBD was) (VP (VBN {praised}) (PP (IN by) (NP-LGS {people_words})))) (. .))",
    "(S {firm} (VP {frame} (, ,) (S-ADV (VP (VBG {saying}) (SBAR {clause})))) (. .))",
    "(S (SBAR-ADV (IN {although}) {statement_clause}) (, ,) {firm} (VP {frame}) (. .))",
    "(S {firm} (VP {frame} (SBAR-PRP (IN because) {statement_clause})) (. .))",
    "(S {firm} (VP {frame} (SBAR-TMP {after} {statement_clause})) (. .))",
    "(S {firm} (VP {frame} (, ,) (SBAR-ADV (IN while) {statement_clause})) (. .))",
    "(S (SBAR-TMP (IN as) (S (NP-SBJ {figure}) (VP (VBD fell)))) (, ,) {firm} (VP {frame}) (. .))",
)

GRAMMAR: Final[Grammar] = {
    "sentence": (*PARTS, *PRICES, *VERBS),
    # who
    "name": tuple(
        f"(NP (NNP {first}) (NNP {last}))"
        for first in ("Ruth", "Alan", "Ines", "Victor", "Paula", "Hugo", "Nadia", "Owen", "Edith")
        for last in ("Marlow", "Petrov", "Hadley", "Ostrom", "Sandoval", "Tanaka", "Bergen", "Coyle")
    ),
    "firm": _each(
        "(NP-SBJ *)",
        "DT:the NN:company, DT:the NN:bank, NNP:Castell NNP:Corp., NNP:Norvik NNP:Inc., DT:the NN:airline, PRP:it, "
        "NNP:Hale NNPS:Industries, DT:the NN:agency, NNP:Orbin, DT:the NN:insurer, NNP:Lindal NNPS:Motors, "
        "DT:the NN:government, DT:the JJ:big NN:retailer, PRP:they",
    ),
    "firm_np": _each(
        "(NP *)", "NNP:Castell NNP:Corp., DT:a NN:bank, NNP:Norvik, DT:the JJ:Danish NN:shipper, PRP$:its NN:rival"
    ),
    "it": _each("(NP-SBJ *)", "PRP:it, PRP:it, PRP:they, DT:the NN:unit"),
    "person": _each("(NP-SBJ *)", "PRP:he, PRP:she, NNP:Mr. NNP:Hadley, NNP:Ms. NNP:Coyle, DT:the NN:chairman"),
    "people": _each(
        "(NP *)", "NNS:investors, NNS:traders, NNS:dealers, DT:some NNS:analysts, JJ:big NNS:banks, NNS:workers"
    ),
    "people_np": ("(NP {people_words})",),
    "people_words": _words("NNS:investors, NNS:analysts, NNS:officials, NN:industry NNS:executives, DT:the NNP:Senate"),
    "group": _words("JJ:big NNS:banks, DT:the NNS:winners, JJ:other NNS:things, JJ:older NNS:workers"),
    "expert": _each(
        "(NP (NP *) (PP-LOC (IN at) {firm_np}))",
        "DT:an NN:analyst, DT:an NN:economist, NN:head NN:trader, DT:a NN:professor, DT:a NN:partner, "
        "NN:research NN:director, DT:a NN:vice NN:president, DT:a NN:lawyer, DT:a NN:strategist",
    ),
    "expert_subject": _each(
        "(NP-SBJ (NP *) (PP-LOC (IN at) {firm_np}))", "DT:an NN:analyst, DT:a NN:dealer, NNS:economists"
    ),
    "post": _words("NN:president, NN:chairman, DT:a NN:director, NN:finance NN:chief, JJ:senior NN:vice NN:president"),
    "elected": ("elected", "named", "appointed"),
    "professional": _words("NN:money NN:manager, NN:lawyer, NN:investor, NN:consultant"),
    "kind": _words("NN:company, NN:maker, NN:concern, NN:bank, NN:software NN:house, NN:printer"),
    # where
    "town": _words(
        "NNP:Dayton, NNP:Fresno, NNP:Tulsa, NNP:Santa NNP:Rosa, NNP:Tacoma, NNP:Boise, NNP:Akron, NNP:Utica"
    ),
    "state": _words("NNP:Calif., NNP:Ohio, NNP:Okla., NNP:Wash., NNP:Idaho, NNP:N.Y., NNP:Wis., NNP:Conn."),
    "city": _words(
        "NNP:Oslo, NNP:Toledo, NNP:Madrid, DT:the JJ:northern NN:region, NNP:Cairo, NNP:Lima, NNP:Houston, NNP:Europe, "
        "DT:the NNP:U.S., NNP:Denmark, JJ:Eastern NNP:Europe, DT:the NN:capital, NNP:Osaka"
    ),
    "in_city": tuple(
        f"(PP-LOC (IN {where}) (NP {{city}}))"
        for where in ("in", "in", "in", "near", "outside", "across", "throughout")
    ),
    "site": _words(
        "CD:two NNS:plants, DT:a NN:factory, CD:three NNS:offices, DT:a NN:warehouse, DT:a NN:refinery, DT:a NN:branch"
    ),
    "gathering": _words("DT:the NN:meeting, DT:a NN:conference, DT:the NN:auction, DT:the NNS:talks, DT:the NN:strike"),
    "exchange": _each(
        "(IN on) (NP *)", "DT:the NNP:Oslo NNP:Stock NNP:Exchange, DT:the JJ:big NN:board, DT:the JJ:main NN:exchange"
    ),
    "trading": _each(
        "(IN in) (NP *)",
        "JJ:early NN:trading, NN:composite NN:trading, JJ:over-the-counter NN:trading, NNP:Tokyo NN:trading",
    ),
    "statement": _each("(IN in) (NP *)", "DT:a NN:statement, DT:an NN:interview, DT:a NN:letter, DT:a NN:filing"),
    "abroad": ("abroad", "overseas", "elsewhere", "there", "here"),
    # what
    "noun": _each(
        "(NP *)",
        "JJR:lower NNS:taxes, DT:a JJ:weak NN:market, DT:the NN:merger, JJ:heavy NNS:losses, NN:competition, "
        "JJ:new NNS:rules, DT:a NN:recession, PRP$:its NN:debt, DT:the NN:delay, JJR:higher NNS:costs",
    ),
    "goods": _each("(NP *)", "NN:steel, NN:coffee, JJ:used NNS:cars, NNS:futures, NN:paper, JJ:municipal NNS:bonds"),
    "change": _each(
        "(NP *)",
        "DT:a NN:drop, DT:a JJ:sharp NN:decline, DT:an NN:increase, DT:the NN:rise, JJ:strong NN:growth, "
        "DT:a NN:reduction, NNS:changes, NNS:gains, DT:an NN:improvement, DT:the JJ:recent NN:fall, DT:any NN:slowdown",
    ),
    "figures": _each(
        "(NP *)",
        "NNS:sales, NN:interest NNS:rates, NN:oil NNS:prices, JJ:foreign NN:investment, NN:output, NNS:exports, "
        "NN:consumer NN:spending, PRP$:its NN:chemicals NN:business, NNS:profits",
    ),
    "figure": _words("NNS:sales, NNS:prices, DT:the NN:index, NN:income, NNS:exports, DT:the NN:yield, NNS:orders"),
    "demand": _each("(NP *)", "NN:demand, DT:the NN:market, NNS:prices, NNS:orders"),
    "limit": _each("(NP *)", "DT:a NN:ban, DT:a NN:tax, NNS:limits, DT:the NNS:curbs"),
    "contract": _words("NN:contract, JJ:big NN:order, NN:license, NN:loan"),
    "plan": _words("DT:the NN:plan, DT:the NN:law, DT:the NN:agreement, DT:the NN:bill, DT:the NN:contract"),
    "securities": _words("NNS:notes, CD:8 NN:% NNS:bonds, JJ:convertible NNS:debentures, DT:the NNS:notes"),
    "dividend": _words("NN:dividend, JJ:reduced NN:dividend, NN:tax, NN:interest"),
    "money": _each("(NP *)", "DT:the NN:money, NNS:proceeds, NN:cash, DT:the NNS:funds, JJ:extra NN:income"),
    "proceeds": _words("DT:the NN:money, NNS:proceeds, DT:the NNS:funds"),
    # how much
    "price": lambda choice: f"{choice.randint(2, 120)}.{choice.randint(0, 99):02}",
    "whole": lambda choice: str(choice.randint(2, 98)),
    "decimal": _decimal,
    "number": ("two", "three", "four", "six", "ten"),
    "amount": (
        "(CD {decimal}) (NN %)",
        "(CD {whole}) (NNS cents)",
        "(CD {whole}) (NNS points)",
        "(QP (RB nearly) (CD {decimal})) (NN %)",
        "(QP (JJR more) (IN than) (CD {whole})) (NNS points)",
        "($ $) (CD {price})",
    ),
    "level": ("(CD {decimal}) (NN %)", "(QP ($ $) (CD {decimal}) (CD million))", "(CD {price})"),
    # when
    "date": _words("NNP:Nov. CD:29, NNP:March CD:1, CD:1997, NNP:June CD:15, NNP:Dec. CD:31, CD:2003, NNP:Jan. CD:4"),
    "quarter": _words("DT:the JJ:third NN:quarter, NNP:August, JJ:fiscal CD:2003, DT:the JJ:first NN:half, CD:1997"),
    "in_period": (
        "(PP-TMP (IN in) (NP {quarter}))",
        "(PP-TMP (IN for) (NP (DT the) (NN year)))",
        "(PP-TMP (IN during) (NP (DT the) (NNS talks)))",
        "(PP-TMP (IN since) (NP (NNP June)))",
        "(PP-TMP (IN at) (NP (NP (DT the) (NN end)) (PP (IN of) (NP (NNP May)))))",
        "(PP-TMP (IN over) (NP (DT the) (JJ past) (NN year)))",
    ),
    "on_day": ("(PP-TMP (IN on) (NP (NNP Tuesday)))", "(PP-TMP (IN on) (NP (NNP Oct.) (CD 4)))"),
    "when": (
        "{in_period}",
        "{on_day}",
        *_each("(NP-TMP *)", "NN:yesterday, JJ:last NN:week, NNP:Monday, JJ:next NN:month, DT:this NN:year"),
        "(ADVP-TMP (NP (DT a) (NN year)) (RBR earlier))",
        "(ADVP-TMP (NP (CD {number}) (NNS months)) (IN ago))",
        "(ADVP-TMP (RB recently))",
        "(ADVP-TMP (RB again))",
    ),
    "already": (
        "already",
        "still",
        "now",
        "soon",
        "recently",
        "currently",
        "never",
        "once",
        "often",
        "previously",
        "later",
    ),
    # how, and the rest
    "quickly": _each(
        "(ADVP-MNR *)", "RB:quickly, RB:sharply, RB:quietly, RB:publicly, RB:steadily, RB:heavily, RB:rapidly"
    ),
    "means": (
        "(IN through) {firm_np}",
        "(IN without) (S-NOM (VP (VBG asking) (NP (NNS investors))))",
        "(IN with) (NP (NN care))",
        "(IN by) (S-NOM (VP (VBG cutting) {figures}))",
        "(IN at) (NP (DT a) (JJ fast) (NN pace))",
        "(IN in) (NP (DT this) (NN way))",
    ),
    "only": ("only", "also", "even", "actually", "probably", "reportedly", "largely", "merely", "increasingly"),
    "sentence_adverb": (
        *_each("(ADVP-TMP *)", "RB:meanwhile, RB:meanwhile, RB:so RB:far, RBR:earlier, RB:now"),
        *_each("(ADVP *)", "RB:however, RB:separately, RB:still"),
    ),
    "addition": (
        *_each("(IN in) (NP *)", "NN:addition, NN:fact, NN:turn, JJ:particular"),
        *("(IN for) (NP (NN example))", "(IN by) (NP (NN contrast))", "(IN of) (NP (NN course))"),
    ),
    "because": ("(IN because) (IN of)", "(RB because) (IN of)"),
    "despite": ("(IN despite)", "(RB instead) (IN of)", "(IN along) (IN with)"),
    "light": (
        "(NP-CLR (NN advantage)) (PP-CLR (IN of) {noun})",
        "(NP-CLR (NN part)) (PP-CLR (IN in) (NP {gathering}))",
        "(NP-CLR (NN control)) (PP-CLR (IN of) {firm_np})",
        "(NP-CLR (NN action)) {when}",
    ),
    "opened": ("(VBD opened)", "(VBD built)", "(VBD closed)", "(VBD bought)", "(VBD sold)"),
    "wanted": (
        *("(VBZ plans)", "(VBD agreed)", "(VBD declined)", "(VBZ expects)"),
        *("(VBD tried)", "(VBD failed)", "(VBZ intends)", "(VBD began)"),
    ),
    "reported": ("(VBD reported)", "(VBD announced)", "(VBD disclosed)"),
    "expected": ("(VBD expected)", "(VBD feared)", "(VBD welcomed)", "(VBD criticized)"),
    "surprised": ("(VBD surprised)", "(VBD hurt)", "(VBD helped)"),
    "closed": ("(VBD closed)", "(VBD traded)", "(VBD finished)", "(VBD opened)"),
    "moved": _each(
        "*", "VBD:rose, VBD:fell, VBD:gained, VBD:lost, VBD:climbed, VBD:dropped, VBD:surged, VBD:eased, VBD:slid"
    ),
    "praised": ("praised", "rejected", "approved", "drafted"),
    "frame": tuple(f"(VBD {past}) {rest}" for _, past, rest in FRAMES),
    "base_frame": tuple(f"(VB {base}) {rest}" for base, _, rest in FRAMES),
    # clauses
    "saying": ("saying", "adding", "arguing", "noting"),
    "although": ("although", "though", "if", "unless"),
    "after": ("(IN after)", "(IN before)", "(IN until)", "(WHADVP (WRB when))"),
    "topic": ("(S-TPC (NP-SBJ {figure}) (VP {moved} {when}))", "(S-TPC {it} (VP {frame}))"),
    "clause": ("{statement_clause}", "(IN that) {statement_clause}"),
    "statement_clause": (
        "(S (NP-SBJ {figure}) (VP {moved} {when}))",
        "(S {it} (VP {frame}))",
        "(S {person} (VP {frame}))",
        "(S (NP-SBJ {plan}) (VP (VBD was) (ADJP-PRD (JJ legal))))",
    ),
}
