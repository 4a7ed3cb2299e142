"""Sentences with rates and amounts: ``$3 a share``, ``60 miles an hour``, ``twice a week``, ``rose 5% to $4``.

The treebanks that may be trained on have a dozen rates, but news about business is full of them. The trees follow the
Penn Treebank: ``(NP (NP ($ $) (CD 3)) (NP-ADV (DT a) (NN share)))``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from templates import Grammar, leaves, sentences

from fencepost.trees.tree import Tree


def rate_sentences(choice: random.Random, count: int) -> Iterator[Tree]:
    return sentences(GRAMMAR, choice, count)


def _price(choice: random.Random) -> str:
    small, cents = choice.randint(1, 99), choice.randint(0, 99)
    return choice.choice(
        (
            f"{small}",
            f"{small}.{cents:02}",
            f"{small}.{cents:02}",
            f"{choice.randint(10, 99) * 10}",
            f"{small},{cents * 10:03}",
        )
    )


def _decimal(choice: random.Random) -> str:
    return choice.choice((str(choice.randint(2, 95)), f"{choice.randint(1, 99)}.{choice.randint(1, 9)}"))


def _count(choice: random.Random) -> str:
    return choice.choice(
        (
            str(choice.randint(2, 90)),
            str(choice.randint(10, 99) * 10),
            f"{choice.randint(1, 90)},{choice.randint(0, 9)}00",
        )
    )


GRAMMAR: Final[Grammar] = {
    "sentence": (
        # earnings and prices
        "(S {results} (VP {moved} (NP-EXT {percent}) (PP-DIR (TO to) {earned_first}) "
        "(PP-DIR (IN from) {earned_before})) (. .))",
        "(S {results} (VP {moved} (PP-DIR (TO to) {per_share}) (PP-DIR (IN from) {per_share})) (. .))",
        "(S {period} (, ,) {results} (VP {moved} (NP-EXT {percent}) (PP-DIR (TO to) {earned})) (. .))",
        "(S {company} (VP {got} {earned_in} (, ,) (PP (VBN compared) (PP (IN with) {earned_before}))) (. .))",
        "(S {company} (VP {got} {earned_first} {period}) (. .))",
        "(S {company} (VP (VBD said) (SBAR (S {it} (VP {got} {earned_first} {period})))) (. .))",
        "(S {company} (VP (VBD reported) (NP (NP {profit}) (PP (IN of) {earned_in})) (, ,) "
        "(ADVP {up} (PP (IN from) {per_share}) {year_ago})) (. .))",
        "(S {company} (VP (VBD had) (NP (NP {profit}) (PP (IN of) {earned}))) (. .))",
        "(S {stock} (VP {moved} (NP-EXT {small_money}) (PP-DIR (TO to) {per_share})) (. .))",
        "(S {stock} (VP {moved} (NP-EXT (NP {small_money}) (NP-ADV (DT a) (NN share))) "
        "(PP-DIR (TO to) (NP {money}))) (. .))",
        "(S {stock} (VP (VBD closed) (PP-CLR (IN at) {per_share}) (, ,) (ADVP-CLR {up} (NP {small_money}))) (. .))",
        "(S {stock} (VP (VBD was) (ADVP-PRD {up} (NP {percent})) (PP-CLR (IN at) (NP {money}))) (. .))",
        "(S {goods} (VP {moved} (NP-EXT (NP {small_money}) (NP-ADV {weight})) (PP-DIR (TO to) {rate})) (. .))",
        "(S {goods} (VP {moved} (PP-DIR (TO to) {rate}) (PP-DIR (IN from) {rate}) {period}) (. .))",
        "(S {goods} (VP (MD could) (VP (VB rise) (NP-EXT {percent}) (, ,) (PP-DIR (TO to) {rate}))) (. .))",
        "(S {company} (VP (VBD raised) (NP {its} (NN dividend)) (PP-DIR (TO to) {per_share}) "
        "(PP-DIR (IN from) (NP {small_money}))) (. .))",
        "(S {company} (VP (VBD agreed) (S (VP (TO to) (VP (VB pay) {per_share} (PP-CLR (IN for) {target}))))) (. .))",
        "(S {company} (VP (VBD offered) {per_share} (PP-CLR (IN for) {target})) (. .))",
        "(S {company} (VP (VBD bought) {target} "
        "(PP-CLR (IN for) (NP (NP {millions}) (, ,) (CC or) {per_share}))) (. .))",
        "(S {analysts} (VP (VBP expect) (S {company} (VP (TO to) (VP (VB earn) {per_share} {period})))) (. .))",
        "(S (S-TPC {company} (VP (MD may) (VP (VB earn) {per_share} {period}))) "
        "(, ,) {analysts} (VP (VBD said)) (. .))",
        # growth
        "(S {growing} (VP (VBZ is) (VP (VBG growing) (NP-EXT (NP {percent}) (NP-ADV {year})))) (. .))",
        "(S {growing} (VP (VBD grew) (NP-EXT (NP {percent}) (NP-ADV {year})) {years}) (. .))",
        "(S {growing} (VP (VBZ has) (VP (VBN risen) (PP-EXT (IN by) (NP (NP {percent}) (NP-ADV {year}))))) (. .))",
        "(S {company} (VP (VBZ pays) (NP (NP (NN interest)) (PP (IN of) (NP (NP {percent}) (NP-ADV {year}))))) (. .))",
        "(S {results} (VP (VBD was) (NP-PRD (NP {millions}) (, ,) (ADVP {up} (NP {percent}) "
        "(PP (IN from) (NP (NP {millions}) {year_ago}))))) (. .))",
        # output and speed
        "(S {works} (VP {produces} (NP (NP {tons}) (NP-ADV {time}))) (. .))",
        "(S {works} (VP (MD can) (VP (VB handle) (NP (NP {tons}) (NP-ADV {time})))) (. .))",
        "(S {works} (VP (VBD raised) (NP (NN output)) (PP-DIR (TO to) (NP (NP {tons}) (NP-ADV {time}))) "
        "(PP-DIR (IN from) (NP {tons}))) (. .))",
        "(S (NP-SBJ (DT the) (NN speed) (NN limit)) (VP (VBZ is) "
        "(NP-PRD (NP {miles}) (NP-ADV (DT an) (NN hour))) {here}) (. .))",
        "(S {mover} (VP (VBD was) (VP {going} (PP-MNR (IN at) (NP (NP {miles}) (NP-ADV (DT an) (NN hour)))))) (. .))",
        "(S {mover} (VP {went} (NP-EXT (NP {miles}) (NP-ADV {time}))) (. .))",
        "(S {mover} (VP (VBZ uses) (NP (NP {liters}) (PP (IN of) (NP (NN fuel))) (NP-ADV {time}))) (. .))",
        # everyday money
        "(S {cost} (VP {is} (NP-PRD (NP {money}) (NP-ADV {time}))) (. .))",
        "(S {cost} (VP (VBD went) (PRT (RP up)) (PP-DIR (TO to) (NP (NP {money}) (NP-ADV {time})))) (. .))",
        "(S {person} (VP {pays} (NP (NP {money}) (NP-ADV {time})) (PP-CLR {for_room})) (. .))",
        "(S {person} (VP {earns} (NP (NP {money}) (NP-ADV {time}))) (. .))",
        "(S {person} (VP {earns} (NP (NP {money}) (NP-ADV {time})) (PP-LOC (IN at) (NP (DT the) (NN {place})))) (. .))",
        "(S {person} (VP (VBD paid) (NP (NP {money}) (NP-ADV {unit})) (PP-CLR (IN for) (NP (NNS {food})))) (. .))",
        "(S (NP-SBJ (NNS {food})) (VP {sell} (PP-CLR (IN for) (NP (NP {money}) (NP-ADV {unit})))) (. .))",
        "(S (NP-SBJ (NNS {food})) (VP (VBP cost) (NP (NP {money}) (NP-ADV {unit})) "
        "(PP-LOC (IN at) (NP (DT the) (NN {place})))) (. .))",
        "(S (NP-SBJ (NNS tickets)) (VP (VBP are) (NP-PRD (NP {money}) {each})) (. .))",
        "(S {person} (VP (VBD sold) (NP (PRP$ her) (NNS {food})) (PP-CLR (IN for) (NP (NP {money}) {each}))) (. .))",
        "(SBARQ (WHNP (WP who)) (SQ (VP (MD would) (VP (VB pay) (NP (NP {money}) (NP-ADV {unit})) "
        "(PP-CLR (IN for) (NP (DT that)))))) (. ?))",
        "(SQ (VBZ is) (NP-SBJ (NP {money}) (NP-ADV {time})) (ADJP-PRD (JJ enough)) (. ?))",
        "(S (PP (IN at) (NP (NP {money}) (NP-ADV {unit}))) (, ,) "
        "(NP-SBJ (NNS {food})) (VP (VBP are) (ADJP-PRD (JJ cheap))) (. .))",
        "(NP (NP {offer}) (: :) (NP (NP {money}) (NP-ADV {unit})))",
        "(NP (NP {offer}) (, ,) (NP (NP {money}) (NP-ADV {unit})) (. .))",
        "(S {person} (VP (VBD bought) (NP (DT some) (NNS {food})) (PRN (-LRB- -LRB-) (NP (NP {money}) (NP-ADV {unit})) "
        "(-RRB- -RRB-)) {market}) (. .))",
        "(S (NP-SBJ (DT the) (NN rate)) (VP (VBZ is) (NP-PRD (NP {money}) (PP (IN per) (NP {per})))) (. .))",
        "(S {person} (VP (VBD borrowed) (NP {money}) (ADVP-TMP (NP {span}) (IN ago))) (. .))",
        "(S {person} (VP (VBD spent) (NP {money}) (PP-TMP (IN in) (NP {span}))) (. .))",
        # how often
        "(S {person} (VP {does} {often}) (. .))",
        "(S {person} (VP {does} {often}) (. .))",
        "(S {person} (VP (VBD used) (S (VP (TO to) (VP {do} {often})))) (. .))",
        "(S {person} (VP (MD should) (VP {do} {often})) (. .))",
        "(S (VP (VB take) (NP {pills}) {often}) (. .))",
        "(S (VP (VB water) (NP (DT the) (NNS plants)) {often} (PP-TMP (IN in) (NP (NN summer)))) (. .))",
        "(S (NP-SBJ (DT the) {vehicle}) (VP (VBZ runs) {often}) (. .))",
        "(S {often} (, ,) {person} (VP {does}) (. .))",
        "(S {person} (VP (VBZ works) (NP-TMP (NP (CD {number}) (NNS {hours})) (NP-ADV {time}))) (. .))",
    ),
    "rate": ("(NP (NP {money}) (NP-ADV {weight}))",),
    "per_share": (
        "(NP (NP {small_money}) (NP-ADV (DT a) (NN share)))",
        "(NP (NP ($ $) (CD {low})) (NP-ADV (DT a) (NN share)))",
    ),
    "earned": ("(NP (NP {millions}) (, ,) (CC or) {per_share})", "(NP {millions})", "{per_share}"),
    "earned_first": ("(NP (NP {millions}) (, ,) (CC or) {per_share} (, ,))", "(NP {millions})", "{per_share}"),
    "earned_in": ("(NP (NP {millions}) (, ,) (CC or) {per_share})", "{per_share}"),
    "earned_before": (
        "(NP (NP (NP {millions}) (, ,) (CC or) {per_share}) (, ,) {year_ago})",
        "(NP (NP {millions}) {year_ago})",
        "(NP {per_share} {year_ago})",
        "{per_share}",
    ),
    "year_ago": (
        "(ADVP-TMP (NP (DT a) (NN year)) (RBR earlier))",
        "(ADVP-TMP (NP (DT a) (NN year)) (RBR earlier))",
        "(ADVP-TMP (NP (DT a) (NN year)) (IN ago))",
        "(ADVP-TMP (NP (DT the) (NN year)) (IN before))",
    ),
    "millions": (
        "(QP ($ $) (CD {decimal}) (CD {scale}))",
        "(QP ($ $) (CD {decimal}) (CD {scale}))",
        "(QP ($ £) (CD {decimal}) (CD {scale}))",
        "(QP (IN about) ($ $) (CD {decimal}) (CD {scale}))",
        "(QP (CD {decimal}) (CD {scale})) (NNS {currency})",
    ),
    "scale": ("million", "million", "billion"),
    "currency": ("euros", "francs", "pesos", "marks", "dollars", "rupees"),
    "money": (
        "($ $) (CD {price})",
        "($ $) (CD {price})",
        "($ $) (CD {price})",
        "($ US$) (CD {price})",
        "($ £) (CD {price})",
        "($ €) (CD {price})",
        "(CD {price}) (NNS {currency})",
        "(CD {number}) (NNS dollars)",
        "(QP (IN about) ($ $) (CD {price}))",
        "(QP (RB nearly) ($ $) (CD {price}))",
        "(QP (RB only) ($ $) (CD {price}))",
        "(QP (JJR more) (IN than) ($ $) (CD {price}))",
        "(QP (JJR less) (IN than) ($ $) (CD {price}))",
        "(QP (IN at) (JJS least) ($ $) (CD {price}))",
        "(QP (RB as) (JJ much) (IN as) ($ $) (CD {price}))",
        "(QP ($ $) (CD {price}) (TO to) ($ $) (CD {price}))",
    ),
    "low": lambda choice: f"{choice.randint(0, 39)}.{choice.randint(1, 99):02}",
    "small_money": (
        "(CD {whole}) (NNS cents)",
        "(CD {number}) (NNS cents)",
        "($ $) (CD {low})",
        "(CD {whole}) (NN pence)",
        "(CD {whole}) (NN yen)",
    ),
    "percent": (
        "(CD {decimal}) (NN %)",
        "(CD {decimal}) (NN %)",
        "(CD {number}) (NN percent)",
        "(QP (IN about) (CD {decimal})) (NN %)",
        "(QP (JJR more) (IN than) (CD {decimal})) (NN %)",
    ),
    "price": _price,
    "decimal": _decimal,
    "count": _count,
    "whole": lambda choice: str(choice.randint(2, 98)),
    "number": ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen", "twenty"),
    "weight": leaves(
        "DT:a NN:pound",
        "DT:a NN:ton",
        "DT:an NN:ounce",
        "DT:a NN:gallon",
        "DT:a NN:barrel",
        "DT:a NN:bushel",
        "DT:a JJ:metric NN:ton",
        "DT:a NN:kilo",
    ),
    "unit": leaves(
        "DT:a NN:pound",
        "DT:a NN:kilo",
        "DT:a NN:bottle",
        "DT:a NN:person",
        "DT:a NN:piece",
        "DT:a NN:dozen",
        "DT:a JJ:square NN:foot",
        "DT:a NN:seat",
        "DT:a NN:copy",
        "DT:a NN:head",
        "DT:a NN:night",
        "DT:an NN:hour",
        "DT:a NN:unit",
        "DT:a NN:box",
        "DT:a NN:student",
        "DT:a NN:month",
        "DT:a NN:share",
    ),
    "per": leaves("NN:share", "NN:hour", "NN:person", "JJ:square NN:meter", "NN:night", "NN:page"),
    "time": leaves(
        "DT:a NN:day",
        "DT:a NN:week",
        "DT:a NN:month",
        "DT:a NN:year",
        "DT:an NN:hour",
        "DT:a NN:minute",
        "DT:a NN:night",
    ),
    "year": leaves("DT:a NN:year", "DT:a NN:year", "DT:a NN:month", "DT:a NN:quarter"),
    "each": ("(NP-ADV (DT each))", "(ADVP (RB apiece))", "(NP-ADV (DT a) (NN head))", "(NP-ADV (DT a) (NN person))"),
    "span": leaves("DT:a NN:year", "DT:a NN:week", "DT:a NN:month", "CD:two NNS:days"),
    "often": (
        "(ADVP-TMP (RB twice) (NP-ADV {period_unit}))",
        "(ADVP-TMP (RB once) (NP-ADV {period_unit}))",
        "(ADVP-TMP (RB twice) (NP-ADV {period_unit}))",
        "(ADVP-TMP (RB once) (NP-ADV {period_unit}))",
        "(NP-TMP (NP (CD {number}) (NNS times)) (NP-ADV {period_unit}))",
        "(NP-TMP (NP (CD {number}) (NNS times)) (NP-ADV {period_unit}))",
        "(NP-TMP (NP (QP (IN at) (JJS least) (CD {number})) (NNS times)) (NP-ADV {period_unit}))",
        "(NP-TMP (NP (CD {number}) (NNS {spells})) (NP-ADV {period_unit}))",
    ),
    "period_unit": leaves(
        "DT:a NN:day", "DT:a NN:week", "DT:a NN:month", "DT:a NN:year", "DT:a NN:night", "DT:an NN:hour"
    ),
    "spells": ("days", "nights", "hours", "mornings", "evenings", "weeks"),
    "hours": ("hours", "days", "nights", "shifts"),
    # who and what
    "company": tuple(
        f"(NP-SBJ {words})"
        for words in leaves(
            "NNP:Halden NNP:Paper",
            "NNP:Orrin NNP:Foods NNP:Inc.",
            "DT:the NN:company",
            "DT:the NN:bank",
            "DT:the NN:airline",
            "NNP:Castell NNP:Energy",
            "DT:the NN:retailer",
            "NNP:Norvik",
            "DT:the NN:shipping NN:group",
            "NNP:Brack NNP:& NNP:Sons",
            "DT:the JJ:Danish NN:brewer",
            "NNP:Tamsin NNPS:Airlines",
            "DT:the NN:insurer",
            "NNP:Quarry NNP:Hill NNP:Corp.",
        )
    ),
    "it": ("(NP-SBJ (PRP it))",),
    "its": ("(PRP$ its)",),
    "target": (
        "(NP (DT the) (NN unit))",
        "(NP (NP (NNP Lorne) (POS 's)) (NNS shares))",
        "(NP (NP (DT the) (NN rest)) (PP (IN of) (NP (DT the) (NN stock))))",
        "(NP (DT the) (NN brewery))",
        "(NP (PRP$ its) (JJR smaller) (NN rival))",
        "(NP (NP (DT a) (NN stake)) (PP (IN in) (NP (DT the) (NN mine))))",
    ),
    "analysts": (
        "(NP-SBJ (NNS analysts))",
        "(NP-SBJ (JJ most) (NNS analysts))",
        "(NP-SBJ (DT the) (NNS owners))",
        "(NP-SBJ (JJ some) (NNS brokers))",
    ),
    "results": (
        "(NP-SBJ (NN profit))",
        "(NP-SBJ (JJ net) (NN income))",
        "(NP-SBJ (NN revenue))",
        "(NP-SBJ (VBG operating) (NN profit))",
        "(NP-SBJ (JJ quarterly) (NN profit))",
        "(NP-SBJ (NP (NN profit)) (PP (IN at) (NP (DT the) (NN airline))))",
        "(NP-SBJ (NP (DT the) (NN bank) (POS 's)) (NN profit))",
        "(NP-SBJ (NP (NN income)) (PP (IN from) (NP (NNS rents))))",
    ),
    "profit": leaves(
        "DT:a NN:profit", "JJ:net NN:income", "DT:a JJ:net NN:loss", "NN:profit", "DT:a JJ:third-quarter NN:loss"
    ),
    "got": ("(VBD earned)", "(VBD lost)", "(VBD made)"),
    "moved": tuple(
        f"(VBD {verb})"
        for verb in (
            "rose",
            "fell",
            "climbed",
            "dropped",
            "jumped",
            "slipped",
            "declined",
            "gained",
            "advanced",
            "slid",
        )
    ),
    "up": ("(RB up)", "(RB down)", "(RB up)"),
    "period": (
        "(PP-TMP (IN in) (NP (DT the) (JJ third) (NN quarter)))",
        "(NP-TMP (JJ last) (NN year))",
        "(PP-TMP (IN in) (NP (NNP March)))",
        "(NP-TMP (DT this) (NN year))",
        "(PP-TMP (IN in) (NP (DT the) (JJ first) (NN half)))",
        "(PP-TMP (IN in) (NP (CD 2009)))",
    ),
    "years": (
        "(PP-TMP (IN for) (NP (DT a) (NN decade)))",
        "(PP-TMP (IN in) (NP (DT the) (NNS 1990s)))",
        "(PP-TMP (IN until) (NP (CD 2015)))",
    ),
    "stock": (
        "(NP-SBJ (DT the) (NN stock))",
        "(NP-SBJ (DT the) (NNS shares))",
        "(NP-SBJ (NP (NNP Norvik) (POS 's)) (NNS shares))",
        "(NP-SBJ (NP (NNS shares)) (PP (IN of) (NP (DT the) (NN retailer))))",
        "(NP-SBJ (NNP Castell))",
    ),
    "goods": (
        "(NP-SBJ (NN copper))",
        "(NP-SBJ (NN wheat))",
        "(NP-SBJ (JJ crude) (NN oil))",
        "(NP-SBJ (NP (DT the) (NN price)) (PP (IN of) (NP (NN milk))))",
        "(NP-SBJ (NN gold))",
        "(NP-SBJ (NN coffee))",
        "(NP-SBJ (NN gasoline))",
        "(NP-SBJ (NN soybean) (NNS prices))",
        "(NP-SBJ (JJ raw) (NN cotton))",
    ),
    "growing": (
        "(NP-SBJ (DT the) (NN city))",
        "(NP-SBJ (DT the) (NN economy))",
        "(NP-SBJ (NN demand))",
        "(NP-SBJ (JJ online) (NN trade))",
        "(NP-SBJ (NP (NN traffic)) (PP-LOC (IN on) (NP (DT the) (NN canal))))",
        "(NP-SBJ (DT the) (NN population))",
    ),
    "works": (
        "(NP-SBJ (DT the) (NN mine))",
        "(NP-SBJ (DT the) (JJ new) (NN plant))",
        "(NP-SBJ (DT the) (NN mill))",
        "(NP-SBJ (PRP$ their) (NN bakery))",
        "(NP-SBJ (DT the) (NN port))",
        "(NP-SBJ (DT the) (NN refinery))",
        "(NP-SBJ (NP (DT a) (NN factory)) (PP-LOC (IN near) (NP (NNP Lyon))))",
    ),
    "produces": ("(VBZ produces)", "(VBZ makes)", "(VBZ ships)", "(VBD produced)", "(VBZ burns)", "(VBD loaded)"),
    "tons": (
        "(CD {count}) (NNS {freight})",
        "(CD {count}) (NNS {freight})",
        "(QP (IN about) (CD {count})) (NNS {freight})",
        "(QP (IN up) (TO to) (CD {count})) (NNS {freight})",
        "(QP (JJR more) (IN than) (CD {count})) (NNS {freight})",
    ),
    "freight": ("tons", "barrels", "loaves", "containers", "cars", "bottles", "tonnes", "units", "trucks"),
    "liters": ("(CD {whole}) (NNS liters)", "(CD {number}) (NNS gallons)"),
    "miles": (
        "(CD {whole}) (NNS miles)",
        "(CD {whole}) (NNS kilometers)",
        "(QP (IN about) (CD {whole})) (NNS miles)",
        "(CD {number}) (NNS miles)",
        "(QP (RB almost) (CD {whole})) (NNS kilometers)",
    ),
    "mover": ("(NP-SBJ (DT the) {vehicle})", "(NP-SBJ (DT the) (JJ red) {vehicle})", "(NP-SBJ (PRP$ our) {vehicle})"),
    "vehicle": leaves("NN:train", "NN:bus", "NN:car", "NN:ferry", "NN:truck", "NN:boat"),
    "going": ("(VBG going)", "(VBG moving)", "(VBG traveling)"),
    "went": ("(VBD covered)", "(VBD drove)", "(VBZ travels)"),
    "here": ("(ADVP-LOC (RB here))", "(PP-LOC (IN on) (NP (DT this) (NN road)))", "(PP-LOC (IN in) (NP (NN town)))"),
    "cost": (
        "(NP-SBJ (DT the) (NN rent))",
        "(NP-SBJ (PRP$ his) (NN salary))",
        "(NP-SBJ (DT the) (NN fee))",
        "(NP-SBJ (NP (DT the) (NN rent)) (PP (IN for) (NP (DT the) (NN hall))))",
        "(NP-SBJ (NN parking))",
        "(NP-SBJ (PRP$ my) (NN pension))",
        "(NP-SBJ (DT the) (JJ basic) (NN wage))",
    ),
    "is": ("(VBZ is)", "(VBD was)"),
    "pays": ("(VBZ pays)", "(VBD paid)"),
    "earns": ("(VBZ earns)", "(VBD made)", "(VBZ gets)", "(VBD earned)"),
    "for_room": tuple(
        f"(IN for) (NP {words})"
        for words in leaves("DT:a NN:room", "DT:the NN:flat", "NN:child NN:care", "NNS:lessons")
    ),
    "place": ("bakery", "hospital", "market", "library", "airport"),
    "food": ("apples", "eggs", "tomatoes", "lemons", "oysters", "shares", "chairs", "roses", "stamps"),
    "sell": ("(VBP sell)", "(VBD sold)", "(VBP go)"),
    "offer": leaves(
        "NN:admission",
        "NNS:rooms",
        "JJ:guided NNS:tours",
        "NN:bike NN:rental",
        "JJ:fresh NNS:oysters",
        "JJ:adult NNS:tickets",
        "NN:firewood",
    ),
    "market": (
        "(PP-LOC (IN at) (NP (DT the) (NN market)))",
        "(NP-TMP (NN yesterday))",
        "(PP-TMP (IN on) (NP (NNP Friday)))",
    ),
    "pills": leaves("DT:the NNS:tablets", "CD:two NNS:pills", "DT:this NN:medicine", "DT:a NN:break"),
    "person": tuple(
        f"(NP-SBJ {words})"
        for words in leaves(
            "PRP:she",
            "PRP:he",
            "NNP:Anna",
            "PRP$:my NN:brother",
            "DT:the NN:nurse",
            "NNP:Mr. NNP:Ito",
            "DT:a NN:driver",
            "DT:the JJ:young NN:cook",
            "PRP$:her NN:uncle",
            "NNP:Rosa NNP:Lind",
            "DT:every NN:guard",
            "NN:nobody",
        )
    ),
    "does": (
        "(VBZ swims)",
        "(VBZ visits) (NP (PRP$ his) (NN mother))",
        "(VBD called) (NP (PRP us))",
        "(VBZ cleans) (NP (DT the) (NN house))",
        "(VBZ plays) (NP (NN chess))",
        "(VBZ goes) (PP-DIR (TO to) (NP (DT the) (NN gym)))",
        "(VBD came) (ADVP-DIR (RB home))",
        "(VBZ checks) (NP (DT the) (NN mail))",
        "(VBD washed) (NP (DT the) (NN car))",
        "(VBZ eats) (NP (NN fish))",
        "(VBZ travels) (PP-DIR (TO to) (NP (NNP Rome)))",
        "(VBZ meets) (NP (DT the) (NNS lawyers))",
    ),
    "do": (
        "(VB swim)",
        "(VB visit) (NP (DT the) (NN dentist))",
        "(VB call) (NP (PRP them))",
        "(VB clean) (NP (DT the) (NNS filters))",
        "(VB play) (NP (NNS cards))",
        "(VB go) (PP-DIR (TO to) (NP (NNP Boston)))",
        "(VB rest)",
        "(VB test) (NP (DT the) (NN alarm))",
    ),
}
