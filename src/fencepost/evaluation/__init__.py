"""Scoring: the same figures as evalb, its parameter files, breakdowns, and calibration.

The input is trees and numbers: nothing here loads a model.
"""
