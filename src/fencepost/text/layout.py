"""Finds lines that stand for themselves in running text: list items, headings, mail headers, rows of tables.

All patterns read classes of characters (see ``classify``). Every rule looks back only as far as the current sentence
and ahead only to the first word of the next line, so that a text in pieces gives the same sentences as the whole.
"""

from __future__ import annotations

import re
from typing import Final

from fencepost.text.character_classes import BULLET, DASH

_BLANKS: Final = r"[^\S\n]*"
_NUMBER: Final = r"(?:[0-9]{1,2}|[a-z](?=\)))(?:\.\)?|\))[^\S\n]"
_BRACKETED: Final = r"\([0-9a-z]{1,2}\)[^\S\n]"
_HEADER: Final = (
    r"(?:From|To|C[Cc]|B[Cc]{2}|Subject|SUBJECT|Date|Sent|Sender|Reply-To|Re|RE|Fwd|FW|Attachments?|Message-I[Dd]"
    r"|Content-Type|MIME-Version|Tel|Phone|Fax|E-?mail|Web):[^\S\n]"
)
_SECTION: Final = r"[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}\.?[^\S\n]+[A-Z]"
_RULE: Final = rf"(?:-{{3,}}|={{3,}}|\*{{3,}}|_{{3,}}|~{{3,}}|{DASH}{{3,}}){_BLANKS}(?=\n)"
_HEADING: Final = r"\#{1,6}[^\S\n]"
_FENCE: Final = r"`{3,}[A-Za-z0-9]*"
_SPEAKER: Final = (
    r"[QA][.:][^\S\n]|[A-Z][A-Z .'-]{1,24}:[^\S\n]"
    r"|\[[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\]|<[A-Za-z][A-Za-z0-9_-]{0,30}>[^\S\n]"  # in the log of a chat
)
_LABEL: Final = r"[A-Z][A-Za-z]{1,15}:\s"
# "2 cups flour", "200g sugar", "1 1/2 tsp. salt"
_QUANTITY: Final = r"[0-9]{1,4}(?:[./–-][0-9]{1,3}|[^\S\n][0-9](?:/[0-9])?)?[^\S\n]?[A-Za-z(]"
_ITEM: Final = rf"[-*][^\S\n]+(?=\S)|{DASH}[^\S\n]+(?=[\"“A-Z])|{BULLET}"
# The next line: does it begin a list item, a heading and so on?
_BEGINS: Final = re.compile(
    rf"{_BLANKS}(?:(?P<alone>{_ITEM}|{_HEADER}|{_HEADING}|{_SECTION}|{_RULE}|{_FENCE}|{_SPEAKER}|\|)"
    rf"|(?P<numbered>{_NUMBER})|(?P<bracketed>{_BRACKETED})|(?P<quantity>{_QUANTITY})|(?P<label>{_LABEL})|(?P<capital>[A-Z][a-z\s]))"
)
# The line before: does nothing that follows belong to it?
_GREETING: Final = rf"(?:Dear|Hi|Hello|Hey)(?:[^\S\n]+[A-Z]?[A-Za-z'-]+\.?){{0,4}}[,:]{_BLANKS}(?=\n)"
_CLOSING: Final = (
    r"(?:(?:With )?(?:[Vv]ery )?(?:[Bb]est|[Kk]ind(?:est)?|[Ww]arm(?:est)?) (?:regards|wishes)|Regards|Best"
    r"|All the best|Cheers|Love|(?:Many )?[Tt]hanks(?: again| so much| in advance)?|Thank you"
    rf"|Yours(?: (?:sincerely|faithfully|truly|ever))?|(?:Sincerely|Respectfully)(?: yours)?),{_BLANKS}(?=\n)"
)
_CHAPTER: Final = (
    r"(?:Chapter|Part|Section|Act|Scene|Book|Appendix) "
    rf"(?:[0-9]{{1,3}}|[A-Z]|[IVXLC]{{1,6}}|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten){_BLANKS}(?=\n)"
)
_STANDS_ALONE: Final = re.compile(rf"{_BLANKS}(?:{_HEADER}|{_HEADING}|{_RULE}|{_FENCE}|\||{_GREETING}|{_CHAPTER})")
_CLOSES_A_LETTER: Final = re.compile(rf"{_BLANKS}{_CLOSING}")
_NOT_SMALL: Final = re.compile(r"[^\S\n]*[^a-z\s]")
_LABELLED: Final = re.compile(rf"{_BLANKS}{_LABEL}")
_IS_ITEM: Final = re.compile(rf"{_BLANKS}(?:{_ITEM}|{_NUMBER})")
_IS_QUANTITY: Final = re.compile(rf"{_BLANKS}{_QUANTITY}")
_GOES_ON: Final = re.compile(
    r"(?:,|\b(?:[Aa]n?|[Tt]he|and|at|by|for|from|in|of|on|or|to|with|Dr\.|Mrs?\.|Ms\.|St\.))\s*\Z"
)
_QUOTED_MAIL: Final = re.compile(r"[^\S\n]*(?=\S)(>?)")
_HEADS_A_SECTION: Final = re.compile(rf"{_BLANKS}{_SECTION}")
_BEGINS_WITH_NUMBER: Final = re.compile(rf"\s*(?:{_NUMBER}|{_BRACKETED})")
_BEGINS_WITH_MARK: Final = re.compile(rf"\s*(?:(?P<bullet>{BULLET})|[0-9]{{1,2}}\)\s)")
_COLUMNS: Final = re.compile(r"\S(?:\t|[ ]{4})\s*\S")
_SHORT_LINE: Final = 50  # characters; in wrapped prose, lines are longer
_FEWEST_CAPITALS: Final = 4  # in a heading


def is_line_border(classes: str, begin: int, line_end: int) -> bool:
    """True if the sentence from ``begin`` ends at a line end because of the line before or after it."""
    following = _BEGINS.match(classes, line_end + 1)
    kind = following.lastgroup if following else None
    if kind == "alone":
        return True
    line_start = max(begin, classes.rfind("\n", begin, line_end) + 1)
    line = classes[line_start : line_end + 1]
    if _ends_quoted_mail(classes, line, line_end):
        return True
    if _CLOSES_A_LETTER.match(line) and _NOT_SMALL.match(classes, line_end + 1):
        return True
    if kind in ("numbered", "bracketed") and _precedes_item(classes, begin, line, kind):
        return True
    if _STANDS_ALONE.match(line) or (("\t" in line or "    " in line) and _COLUMNS.search(line)):
        return True
    if kind == "quantity" and len(line) <= _SHORT_LINE and _IS_QUANTITY.match(line) and not _GOES_ON.search(line):
        return True  # between two ingredients of a recipe
    if kind == "label" and _LABELLED.match(line):
        return True
    if kind not in ("capital", "label"):
        return False
    # A line after a short item isn't part of the item unless it is indented.
    is_short_item = line_start == begin and len(line) <= _SHORT_LINE and _IS_ITEM.match(line) is not None
    if is_short_item and classes[line_end + 1].isupper() and not _GOES_ON.search(line):
        return True
    in_capitals = line.isupper() and sum(map(str.isalpha, line)) >= _FEWEST_CAPITALS
    return in_capitals or (len(line) <= _SHORT_LINE and _HEADS_A_SECTION.match(line) is not None)


def _ends_quoted_mail(classes: str, line: str, line_end: int) -> bool:
    """True if only one of two lines begins with the ``>`` of a quoted mail."""
    before, after = _QUOTED_MAIL.match(line), _QUOTED_MAIL.match(classes, line_end + 1)
    return before is not None and after is not None and before[1] != after[1]


def _precedes_item(classes: str, begin: int, line: str, kind: str) -> bool:
    """True if the number after a line is that of a list item, and doesn't end a sentence of wrapped prose."""
    may_be_prose = kind == "bracketed" or len(line) > _SHORT_LINE
    return not may_be_prose or line.rstrip()[-1:] in ".:;!?" or _BEGINS_WITH_NUMBER.match(classes, begin) is not None


def item_border(classes: str, begin: int, mark: int) -> int:
    """Where the sentence ends if a list goes on in its line, as in ``• one • two`` and ``1) one 2) two``; -1 if not."""
    first = _BEGINS_WITH_MARK.match(classes, begin)
    if first is None or first.end() > mark or (classes[mark] == BULLET) != bool(first["bullet"]):
        return -1
    end = mark
    while classes[end - 1].isdigit() and end > mark - 2:
        end -= 1
    return end if classes[end - 1].isspace() else -1
