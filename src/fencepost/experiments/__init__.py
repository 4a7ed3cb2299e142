"""Runs the tables of the paper: one TOML file per table, and a runner that trains, measures and reports.

Training itself is in ``training/``, scoring in ``evaluation/``.
"""
