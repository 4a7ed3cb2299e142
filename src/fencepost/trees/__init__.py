"""Phrase-structure trees and collections of them.

``tree`` and ``leaf`` are the types, ``brackets`` reads and writes them, ``spans`` turns trees into labelled spans and
back, ``rebuild`` into dictionaries. ``heads`` finds heads by rules and ``head_tables`` has the rules by language;
``phrases`` and ``clauses`` list parts of a tree, over its ``layout``. ``treebank``, ``normalize``, ``split`` and
``stats`` work on many trees.
Nothing here knows about models or scores. Opening files is the job of ``storage``; drawing trees that of ``drawing``.
"""
