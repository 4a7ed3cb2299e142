"""The command line: one module per command. Data goes to stdout, everything else to stderr.

This package handles only arguments, files and messages. The other packages do the work.
"""
