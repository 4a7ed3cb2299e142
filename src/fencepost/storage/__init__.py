"""Files and folders on disk: text files, model folders, locks, and finding files and models by name.

What a file means is decided elsewhere: trees are read in ``trees/``, settings in ``config/``, vocabularies in
``features/``, and tensors in ``backends/`` and ``training/``.
"""
