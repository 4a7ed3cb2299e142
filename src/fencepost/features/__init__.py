"""Sentences to numbers: vocabularies, letters, sub-tokens, batches of arrays.

Arrays are numpy's, so every backend reads the same ones. Nothing here computes a score or imports torch.
"""
