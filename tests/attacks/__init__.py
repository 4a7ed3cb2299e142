"""Attacks that once worked, and their neighbours: each must end in an error that says what is wrong, and touch nothing.

The long versions, with random attacks, are in ``benchmarks/attacks``.
"""
