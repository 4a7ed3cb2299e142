"""Scoring: evalb to the last digit, its parameter files, breakdowns, calibration.

Only trees and numbers come in: nothing here loads a model.
"""
