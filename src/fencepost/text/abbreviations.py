"""English abbreviations that end in a period, and words that often begin a sentence."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# No sentence ends with these: a name or an explanation follows.
NEVER_LAST: Final = _words(
    "mr mrs ms messrs mme mlle dr prof gen sen sens rep reps gov govs lt col sgt capt cmdr adm maj cpl pvt rev hon "
    "pres supt atty msgr st mt vs e.g i.e cf viz approx"
)
# These are abbreviations before a number, and ordinary words otherwise ("no", "art").
BEFORE_NUMBERS: Final = _words(
    "no nos art p pp par sect sec secs op fig figs eq eqs ref refs vol vols ch ca tel ext "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These may end a sentence. Even then the period stays part of the abbreviation, not a token of its own.
OTHERS: Final = _words(
    "inc corp ltd co cos bros llc plc jr sr etc esq dept assn univ ave blvd rd hwy bldg apt ph.d "
    "ala ariz ark calif colo conn fla kan ky md mich minn mont neb nev okla tenn tex va vt wis wyo "
    "mon tue tues thu thur thurs fri hr hrs lb lbs oz ft"
)
STARTERS: Final = _words(
    "the a an this that these those he she it we you they i his her its our their my your there here in on at by for "
    "from with as after before when while if since although because but and or so yet however also then what who "
    "where why how which is are was were do does did has have had can could will would should may might must not no "
    "many some most all each another both several such one two three first last now today yesterday mr mrs ms dr"
)
