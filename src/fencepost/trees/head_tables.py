"""Head rules for the treebanks of several languages.

Unlike ``heads.COLLINS``, these tables choose punctuation only if there is no other child, and they follow a treebank
that marks heads itself: a child such as ``VVFIN-HD`` is the head.

| language | treebank style | source of the rules |
|---|---|---|
| en | Penn Treebank | Collins (1999), with ``NML``, ``META`` and root symbols added |
| de | NEGRA, TIGER | heads of the TIGER annotation scheme (Albert et al. 2003), where ``HD`` marks them |
| fr | French Treebank, Sequoia | Dybro-Johansen (2004), Arun and Keller (2005) |
| es | AnCora, CESS-ESP | heads named in its labels: ``sn`` over ``grup.nom`` over a noun (Taulé et al. 2008) |
| nl | Alpino, Lassy | heads of its annotation scheme, where ``hd`` marks them (van Noord et al. 2011) |
| pt | Floresta, Bosque | heads of its annotation scheme, where ``H`` marks them (Afonso et al. 2002) |
| zh | Penn Chinese Treebank | Sun and Jurafsky (2004), Zhang and Clark (2008) |

Other treebanks have other labels, also in these languages: the table for Chinese isn't for Sinica's trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost.errors import UsageError
from fencepost.trees.heads import COLLINS_RULES, PENN_PUNCTUATION, HeadRules, left, leftdis, right, rightdis

MARKS: Final = ("HD", "HEAD", "H", "hd")  # TIGER and Talbanken, GUM, Floresta, Alpino

_ROOT: Final = (left("S SINV SQ SBARQ VP NP FRAG"),)
ENGLISH: Final = HeadRules(
    {
        **COLLINS_RULES,
        "NML": COLLINS_RULES["NP"],
        "META": [left("S NP")],
        **dict.fromkeys(("TOP", "ROOT", "S1", "VROOT"), _ROOT),
    },
    avoid=PENN_PUNCTUATION | {"HYPH", "NFP"},
    marks=MARKS,
    coordination=True,
)

_FINITE: Final = "VVFIN VAFIN VMFIN VVIMP VAIMP"
_NOT_FINITE: Final = "VVPP VAPP VMPP VVINF VAINF VMINF VVIZU VZ"
_PRONOUNS: Final = "PIS PPER PDS PRELS PWS PPOSS PRF"
_COORDINATED: Final = (leftdis("NN NE NP PN S VP PP AP AVP CARD ADJA ADJD ADV APPR VVFIN VVINF VVPP VZ TRUNC"),)
GERMAN: Final = HeadRules(
    {
        "S": [leftdis(_FINITE), left("CVP VP S CS"), leftdis(_NOT_FINITE), right("AP NP CNP PP")],
        "VP": [rightdis(_NOT_FINITE), right("VP CVP"), leftdis(_FINITE), right("PP NP CNP AP ADJD")],
        "VZ": [rightdis("VVINF VAINF VMINF VVIZU")],
        "NP": [
            rightdis("NN NE PN FM"),
            rightdis(_PRONOUNS),
            left("CNP NP"),
            right("CARD NM TRUNC ADJA PIAT PPOSAT AP CAP"),
            left("S PP"),
        ],
        "PN": [right("NE NN FM")],
        "PP": [left("APPR APPRART APPO PROAV PWAV PTKA"), left("PP CPP"), right("NN NE NP")],
        "AP": [right("ADJA ADJD CARD PIAT PIS ADV"), right("AP CAP")],
        "AVP": [right("ADV ADJD PROAV PWAV PTKNEG"), right("AVP")],
        "AA": [right("ADJA ADJD ADV")],
        "NM": [right("CARD NN")],
        "MTA": [right("ADJA")],
        "CH": [left()],
        "DL": [left()],
        "ISU": [left()],
        **dict.fromkeys(("CNP", "CS", "CVP", "CPP", "CAP", "CAVP", "CO"), _COORDINATED),
        **dict.fromkeys(("TOP", "ROOT", "VROOT"), (left("S CS VP CVP NP CNP PP AP AVP"),)),
    },
    avoid=("$.", "$,", "$(", "$-LRB-", "$*LRB*", "KON"),
    marks=MARKS,
)

_VERBS: Final = "V VIMP VS VINF VPP VPR"
FRENCH: Final = HeadRules(
    {
        "SENT": [left("VN"), left("VPinf Ssub Sint NP PP AP AdP COORD")],
        "Sint": [left("VN"), left("VPinf Ssub NP")],
        "Srel": [left("VN"), left("VPinf Ssub NP")],
        "Ssub": [left("VN"), left("VPinf Ssub NP")],
        "VN": [rightdis(_VERBS), right("VN")],
        "VPinf": [left("VN VINF"), left("VPinf")],
        "VPpart": [left("VN VPP VPR"), left("VPpart")],
        "NP": [leftdis("NC NPP N PRO PROREL PROWH CLS"), left("NP"), leftdis("ADJ AP ET DET P+PRO"), left("VPinf")],
        "PP": [left("P P+D P+PRO"), left("PP")],
        "AP": [rightdis("ADJ A ADJWH VPP ET"), right("AP")],
        "AdP": [right("ADV ADVWH P"), right("AdP")],
        "COORD": [left("CC"), left("NP PP AP AdP VN VPinf VPpart Sint Srel Ssub NC NPP PRO ADJ ADV")],
        **dict.fromkeys(("TOP", "ROOT"), (left("SENT S NP"),)),
    },
    other="left",
    avoid=("PONCT",),
    marks=MARKS,
)

CHINESE: Final = HeadRules(
    {
        "ADJP": [right("ADJP JJ AD")],
        "ADVP": [right("ADVP AD CS JJ NP PP P VA VV")],
        "CLP": [right("CLP M NN NP")],
        "CP": [right("CP IP VP")],
        "DNP": [right("DEG DEC DNP")],
        "DP": [left("DP DT"), right("M")],
        "DVP": [right("DEV AD VP")],
        "FRAG": [right("VV NR NN NT")],
        "IP": [right("VP IP NP")],
        "LCP": [right("LCP LC")],
        "LST": [right("CD NP QP")],
        "NP": [rightdis("NP NN NT NR QP")],
        "PP": [left("P PP")],
        "PRN": [left("PN")],
        "QP": [right("QP CLP CD OD")],
        "UCP": [left("IP NP VP")],
        "VCD": [left("VV VA VE")],
        "VCP": [left("VV VA VC VE")],
        "VNV": [left("VV VA VC VE")],
        "VP": [left("VE VC VV VNV VPT VRD VSB VCD VCP VA VP BA LB SB IP")],
        "VPT": [left("VA VV")],
        "VRD": [left("VV VA")],
        "VSB": [right("VV VE")],
        **dict.fromkeys(("TOP", "ROOT"), (left("IP CP NP VP FRAG"),)),
    },
    avoid=("PU",),
    marks=MARKS,
)

_SPANISH_NOUN: Final = (leftdis("grup.nom"), leftdis("sn*"), left("relatiu S*"))
_SPANISH_VERB: Final = [left("grup.verb infinitiu gerundi participi"), left("S*"), left("sn s.a sa sp sadv")]
SPANISH: Final = HeadRules(
    {
        "grup.nom": [leftdis("n* W Z* p*"), left("grup.nom"), leftdis("a* s.a grup.a"), left("sp S*")],
        **dict.fromkeys(("sn", "snp", "sno", "snl", "sna", "snd", "snn"), _SPANISH_NOUN),
        "sp": [left("prep"), left("sp")],
        "grup.verb": [right("v*"), right("infinitiu gerundi participi")],
        "infinitiu": [right("v*")],
        "s.a": [left("grup.a"), left("s.a")],
        "sa": [left("grup.a"), left("sa")],
        "grup.a": [leftdis("a*"), left("grup.a")],
        "sadv": [left("grup.adv"), left("sadv")],
        "S": _SPANISH_VERB,
        **{f"S.{kind}": _SPANISH_VERB for kind in ("F.C", "F.R", "F.A", "F.AComp", "F.ACons", "F.ACond", "F.AConc")},
        **{f"S.NF.{kind}": _SPANISH_VERB for kind in ("C", "P", "A", "R")},
    },
    other="left",
    avoid=("F*", "espec", "coord", "conj.subord"),
    marks=MARKS,
)

DUTCH: Final = HeadRules(
    {
        **dict.fromkeys(("smain", "ssub", "sv1"), (left("verb"), left("inf ppart"))),
        **dict.fromkeys(("inf", "ppart", "ppres"), (left("verb"), left("inf ppart"))),
        "np": [leftdis("noun"), left("mwu np"), right("adj num det pron")],
        "pp": [left("prep"), left("mwu pp")],
        "ap": [right("adj"), right("ap")],
        "advp": [right("adv"), right("advp")],
        "detp": [right("det num")],
        "cp": [left("comp comparative")],
        **dict.fromkeys(("ti", "oti", "ahi"), (left("comp"),)),
        **dict.fromkeys(("rel", "whrel", "whsub", "whq"), (left("ssub sv1"), left("conj"))),
        "mwu": [left()],
        "conj": [left()],
        "du": [left("smain sv1 ssub du np")],
        **dict.fromkeys(("TOP", "ROOT"), (left("smain sv1 whq du conj np pp"),)),
    },
    other="left",
    avoid=("punct", "vg"),
    marks=MARKS,
)

PORTUGUESE: Final = HeadRules(
    {
        **dict.fromkeys(("fcl", "icl"), (left("vp v-fin v-inf v-pcp v-ger"), left("cu fcl icl"))),
        "vp": [right("v-*")],
        "np": [leftdis("n prop"), leftdis("pron-*"), left("np"), leftdis("adj num v-pcp ap")],
        "pp": [left("prp"), left("pp")],
        "ap": [leftdis("adj v-pcp num"), left("ap")],
        "advp": [left("adv"), left("advp")],
        "cu": [left()],
        "acl": [left("np cu pp")],
        "sq": [left("fcl")],
        **dict.fromkeys(("TOP", "ROOT"), (left("fcl cu np icl pp"),)),
    },
    other="left",
    avoid=("PU", "conj-c"),
    marks=MARKS,
)

LANGUAGES: Final[Mapping[str, HeadRules]] = {
    "de": GERMAN,
    "en": ENGLISH,
    "es": SPANISH,
    "fr": FRENCH,
    "nl": DUTCH,
    "pt": PORTUGUESE,
    "zh": CHINESE,
}


def rules_for(language: str) -> HeadRules:
    """The head rules for trees of a language, by its code.

    >>> from fencepost import Tree
    >>> rules_for("fr").head(Tree.from_string("(NP (DET le) (NC chat) (AP (ADJ noir)))"))
    Leaf('NC', 'chat')
    """
    if language not in LANGUAGES:
        raise UsageError(
            f"language can't be {language!r}: there are no head rules for it",
            hint=f"use one of {', '.join(LANGUAGES)}; or in Python, give rules=HeadRules(…)",
        )
    return LANGUAGES[language]
