"""Files on disk: text files and streams, model folders, locks, and finding a model by its name.

What the files mean does not belong here: trees are read in ``trees``, models are run in ``backends``.
"""
