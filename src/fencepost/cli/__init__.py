"""The command line: one module per command. Data goes to stdout, everything else to stderr.

Only arguments, files and messages belong here; the work is done in the other rooms.
"""
