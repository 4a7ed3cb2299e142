"""Scripts and blocks of Unicode, which Java's regular expressions know as ``\\p{IsGreek}`` and ``\\p{InGreek}``.

Python doesn't know the scripts of characters, but almost every character names its script. For the others there are
lists: those that belong to a script without naming it, and those that name a script but are shared by several.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Script(NamedTuple):
    name: re.Pattern[str]  # found in the names of its characters
    more: str = ""  # further characters, in hexadecimal
    less: str = ""  # characters with such a name that belong to no script


_ORDINALS: Final = "FEMININE ORDINAL|MASCULINE ORDINAL|^KELVIN|^ANGSTROM|^ROMAN NUMERAL|^SMALL ROMAN"
_LATIN: Final = "LATIN (CAPITAL |SMALL |EPIGRAPHIC |SUBSCRIPT |LETTER |SMALL CAPITAL )*(LETTER|LIGATURE)"
_HAN: Final = "^CJK UNIFIED|^CJK COMPATIBILITY IDEOGRAPH|^CJK RADICAL|^KANGXI|^HANGZHOU|^VIETNAMESE ALTERNATE"

SCRIPTS: Final[dict[str, Script]] = {
    "arabic": Script(
        re.compile(r"\bARABIC\b"),
        more="60B FDFC 10E60-10E7E",
        less="605 60C 61B 61F 640 64B-655 670 6DD 8E2 206C-206D",
    ),
    "armenian": Script(re.compile(r"\bARMENIAN\b")),
    "bengali": Script(re.compile(r"\bBENGALI\b")),
    "cyrillic": Script(re.compile(r"\bCYRILLIC\b"), more="A673", less="485-486"),
    "devanagari": Script(re.compile(r"\bDEVANAGARI\b"), less="951-954 964-965"),
    "georgian": Script(re.compile(r"\bGEORGIAN\b"), less="10FB"),
    "greek": Script(
        re.compile(r"\bGREEK\b"),
        more="1D5D-1D61 1DBF 2126 1018E",
        less="342-345 374 37E 385 387 2129 2719-271A 1F7A1-1F7A7 1FBBB",
    ),
    "han": Script(re.compile(_HAN), more="3005 3007 3038-303B"),
    "hangul": Script(re.compile(r"\bHANGUL\b"), more="321D-321E 327C-327D"),
    "hebrew": Script(re.compile(r"\bHEBREW\b")),
    "hiragana": Script(re.compile(r"\bHIRAGANA\b|^HENTAIGANA"), less="3099-309C 30A0 30FC FF70"),
    "katakana": Script(
        re.compile(r"\bKATAKANA\b"),
        more="3300-3357",
        less="3099-309C 30A0 30FB-30FC FF65 FF70 FF9E-FF9F 1F201-1F202 1F213",
    ),
    "latin": Script(
        re.compile(f"{_LATIN}|{_ORDINALS}|^TURNED (CAPITAL|SMALL) F|^MODIFIER LETTER (SMALL|CAPITAL) "),
        more="A770",
        less="363-36F 1ABF-1AFF 1D5D-1D61 1DBF 1DCA 1DD3-1DF4 249C-24E9 1F110-1F1A5 1F520-1F524",
    ),
    "tamil": Script(re.compile(r"\bTAMIL\b"), less="11035-11037"),
    "thai": Script(re.compile(r"\bTHAI\b"), less="E3F"),
}

BLOCKS: Final[dict[str, str]] = {
    "basiclatin": "0-7F",
    "latin1supplement": "80-FF",
    "latinextendeda": "100-17F",
    "latinextendedb": "180-24F",
    "latinextendedadditional": "1E00-1EFF",
    "ipaextensions": "250-2AF",
    "greek": "370-3FF",
    "greekandcoptic": "370-3FF",
    "greekextended": "1F00-1FFF",
    "cyrillic": "400-4FF",
    "armenian": "530-58F",
    "hebrew": "590-5FF",
    "arabic": "600-6FF",
    "devanagari": "900-97F",
    "bengali": "980-9FF",
    "tamil": "B80-BFF",
    "thai": "E00-E7F",
    "georgian": "10A0-10FF",
    "hanguljamo": "1100-11FF",
    "hangulcompatibilityjamo": "3130-318F",
    "hangulsyllables": "AC00-D7AF",
    "generalpunctuation": "2000-206F",
    "superscriptsandsubscripts": "2070-209F",
    "currencysymbols": "20A0-20CF",
    "letterlikesymbols": "2100-214F",
    "numberforms": "2150-218F",
    "arrows": "2190-21FF",
    "mathematicaloperators": "2200-22FF",
    "cjksymbolsandpunctuation": "3000-303F",
    "hiragana": "3040-309F",
    "katakana": "30A0-30FF",
    "katakanaphoneticextensions": "31F0-31FF",
    "cjkunifiedideographs": "4E00-9FFF",
    "cjkunifiedideographsextensiona": "3400-4DBF",
    "cjkcompatibilityideographs": "F900-FAFF",
    "halfwidthandfullwidthforms": "FF00-FFEF",
}
