"""Training: one loop, its schedule, its checks on development data, its checkpoints and how it resumes.

The model and its losses belong in ``model``; the rows of the paper's tables belong in ``experiments``.
"""
