"""Settings: frozen dataclasses, the TOML files that fill them, and the built-in configurations (``named/``).

This package only reads, checks and writes settings. What they do is up to the packages that use them.
"""
