"""The tables of the paper, run again: one TOML file per table, and the runner that trains, measures and reports.

What is specific to an experiment is here; training itself is in ``training/``, scoring in ``evaluation/``.
"""
