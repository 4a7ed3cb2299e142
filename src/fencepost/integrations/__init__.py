"""Adapters to other libraries: spaCy, NLTK and benepar's model files, one adapter each.

No other room imports those libraries.
"""
