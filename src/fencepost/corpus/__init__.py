"""Many documents: files of documents in, parts of parsed sentences out, in runs that can be stopped and resumed.

Splitting text belongs in ``text``, finding trees in ``parsing``, and the options of the command in ``cli``.
"""
