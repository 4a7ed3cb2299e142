"""English abbreviations that end in a period, and words that often begin a sentence."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# No sentence ends with these: a name or an explanation follows.
NEVER_LAST: Final = _words("mr mrs ms messrs mme mlle dr drs prof profs st mt vs e.g i.e cf viz approx incl excl esp")
# The same, but small letters make them ordinary words ("ten reps", "a rev").
TITLES: Final = _words(
    "gen gens sen sens rep reps gov govs lt col cols sgt capt cmdr adm maj cpl pvt rev hon pres supt atty msgr"
    " assoc asst wm geo chas jas jos thos"
)
# These are abbreviations before a number, and ordinary words otherwise ("no", "art").
BEFORE_NUMBERS: Final = _words(
    "no nos art arts p pp par para paras sect sec secs op fig figs eq eqs ref refs vol vols ch chap ca tel ext app ct "
    "supp ver pg pgs cir stat jan feb mar apr jun jul aug sep sept oct nov dec"
)
# The same before another abbreviation: "Fed. R. Civ. P. 12", "by the Fed".
CITED: Final = _words("fed civ crim evid bankr sup id")
# These may end a sentence. Even then the period stays part of the abbreviation, not a token of its own.
OTHERS: Final = _words(
    "inc corp ltd co cos bros llc plc jr sr esq dept assn univ ave blvd rd hwy bldg apt ph.d "
    "ala ariz ark cal calif colo conn fla kan ky md mich minn mont neb nev okla tenn tex va vt wis wyo "
    "mon tue tues thu thur thurs fri hr hrs lb lbs oz ft tsp tsps tbsp tbsps"
)
# The same, but any capital after it begins a sentence.
ENDS_A_LIST: Final = "etc"
# No sentence begins with these: "Yahoo! Inc."
NEVER_FIRST: Final = _words("inc corp ltd llc plc bros jr sr")
STARTERS: Final = _words(
    "the a an this that these those he she it we you they i his her its our their my your there here in on at by for "
    "from with as after before when while if since although because but and or so yet however also then what who "
    "where why how which is are was were do does did has have had can could will would should may might must not no "
    "many some most all each another both several such one two three first last now today yesterday mr mrs ms dr "
    "later meanwhile once during despite instead moreover furthermore thus therefore perhaps maybe please let until "
    "though indeed finally nevertheless nor neither nobody nothing everyone everything someone something every even "
    "still only very well yes thanks thank sorry ok okay oh hi hello"
)
DAYS_AND_MONTHS: Final = _words(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec eastern central mountain pacific greenwich"
)
# What people do with quoted words: `"Stop!" Ada cried.`
SAYING: Final = _words(
    "said says asked asks cried cries replied answered shouted called whispered exclaimed yelled screamed muttered "
    "murmured demanded added repeated responded snapped inquired enquired remarked observed growled groaned roared "
    "bellowed echoed interrupted ejaculated rejoined retorted protested declared announced insisted begged pleaded "
    "wailed sobbed hissed wondered"
)
