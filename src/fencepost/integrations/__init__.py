"""Adapters to other libraries: spaCy, NLTK and benepar's model files.

No other package of fencepost imports those libraries.
"""
