"""Settings: frozen dataclasses, the TOML files that fill them, and the configurations known by name (``named/``).

What a setting *does* does not belong here: every room reads the settings that concern it.
"""
