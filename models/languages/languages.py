"""The languages that have models of their own, and the treebanks that those are trained on.

Only treebanks are listed from which a model may be made and given to anyone, for any use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Language:
    """One model: its name, its treebank, and what has to be said about it."""

    name: str  # of the model
    code: str  # of the language, or of its rules for splitting text (fencepost.text)
    title: str
    treebank: str  # its folder
    corpus: str
    text: str
    license: str  # an SPDX expression for the model
    source: str
    citation: str
    words: str  # how the treebank cuts text into words
    example: str  # a short sentence
    only_free: bool = False  # take only trees whose line in *.meta.tsv has commercial=yes


TERMS: Final = {  # of each licence, for whoever passes a model on
    "CC-BY-4.0": "Creative Commons Attribution 4.0: name the treebank and its authors",
    "CC-BY-SA-4.0": "Creative Commons Attribution-ShareAlike 4.0: name the treebank and its authors, and pass the "
    "model on under the same licence",
    "LGPL-3.0-or-later": "GNU Lesser General Public License, version 3 or later: pass the model on under the same "
    "licence, with its text",
    "LGPLLR": "Lesser General Public License For Linguistic Resources: pass the model on under the same licence, with "
    "its text",
}
LANGUAGES: Final = {
    each.name: each
    for each in (
        Language(
            "is",
            "is",
            "Icelandic",
            "is/greynir",
            "GreynirCorpus 1.1",
            "news and government web sites, 2015 to 2021",
            "CC-BY-4.0",
            "https://github.com/mideind/GreynirCorpus",
            "GreynirCorpus 1.1 is a product of Miðeind ehf., Reykjavík, Iceland, 2021.",
            "Words are those between blanks; punctuation is cut off.",
            "Hundurinn sefur í garðinum.",
        ),
        Language(
            "is-historical",
            "is-historical",
            "Icelandic of the 12th to the 21st century",
            "is/icepahc",
            "IcePaHC, Icelandic Parsed Historical Corpus 2024.03",
            "sagas, sermons, law, letters and novels",
            "CC-BY-4.0",
            "https://github.com/antonkarl/icecorpus",
            "J. C. Wallenberg, A. K. Ingason, E. F. Sigurðsson, E. Rögnvaldsson. Icelandic Parsed Historical "
            "Corpus (IcePaHC), version 2024.03.",
            "A suffixed article is a word of its own: `konung$` `$inn`.",
            "Konungurinn gaf honum skip.",
        ),
        Language(
            "fo",
            "fo",
            "Faroese",
            "fo/farpahc",
            "FarPaHC, Faroese Parsed Historical Corpus 0.1",
            "the New Testament, in translations of 1823, 1928 and 1936",
            "LGPL-3.0-or-later",
            "https://github.com/einarfs/farpahc",
            "E. F. Sigurðsson, A. K. Ingason, J. C. Wallenberg, E. Rögnvaldsson. 2012. Faroese Parsed "
            "Historical Corpus (FarPaHC), version 0.1.",
            "A suffixed article is a word of its own: `Barn$` `$ið`.",
            "Barnið sá bátin.",
        ),
        Language(
            "id",
            "id",
            "Indonesian",
            "id/icon",
            "ICON",
            "news and encyclopaedia",
            "CC-BY-SA-4.0",
            "https://github.com/aisingapore/seacorenlp-data",
            "E. S. Lim, W. Q. Leong, T. N. Nguyen, D. Adhista, W. M. Kng, W. C. Tjh, A. Purwarianti. 2023. ICON: "
            "Building a Large-Scale Benchmark Constituency Treebank for the Indonesian Language. TLT 2023.",
            "-nya and -pun are words of their own (`buku` `nya`), and hyphens stand alone (`anak` `-` `anak`).",
            "Anak itu membaca bukunya.",
        ),
        Language(
            "fr",
            "fr",
            "French",
            "fr/sequoia",
            "Sequoia 6.0",
            "Europarl, news, Wikipedia and medical reports",
            "LGPLLR",
            "https://deep-sequoia.inria.fr",
            "M. Candito, D. Seddah. 2012. Le corpus Sequoia : annotation syntaxique et exploitation pour l'adaptation "
            "d'analyseur par pont lexical. TALN 2012.",
            "Elided words are words of their own (`l'` `église`), and some fixed expressions are one word (`afin_de`).",
            "Le chat dort.",
        ),
        Language(
            "ja",
            "ja",
            "Japanese",
            "ja/keyaki",
            "Keyaki Treebank 1.1, openly licensed texts",
            "fiction, Wikipedia, parliament, Bible and talks",
            "CC-BY-4.0",
            "https://github.com/ajb129/KeyakiTreebank",
            "A. Butler, K. Yoshimoto, S. Hiyama, S. W. Horn, I. Nagasaki, A. Kubota. 2018. The Keyaki Treebank Parsed "
            "Corpus, Version 1.1.",
            "Words are those of the treebank (`残し` `て` `おり` `ます`). `pip install "
            '"fencepost[ja]"` installs what finds them in text.',
            "猫が寝ている。",
            only_free=True,
        ),
    )
}

JOINT: Final = "multi"  # the model of all of them


def own_scores(name: str, scores: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a model's own languages: ``fr.dev`` and ``fr.test`` of ``fr``, those of all of the joint model."""
    names = [*LANGUAGES] if name == JOINT else [name]
    sets = [f"{language}.{part}" for language in names for part in ("dev", "test")]
    if missing := [each for each in sets if each not in scores]:
        raise SystemExit(f"no scores of {', '.join(missing)}: run evaluate_language.py first")
    return {each: scores[each] for each in sets}
