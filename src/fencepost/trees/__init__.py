"""Trees: the type, Penn brackets, spans, normalisation, treebanks and their statistics.

Nothing here knows about models or numbers, and files are opened only to read or write trees.
"""
