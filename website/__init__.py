"""What `mkdocs build` needs besides the pages in docs/: links to files outside docs/, and drawings of labels.

Pages stay in docs/, where they are read on GitHub as they are; nothing here is part of the package.
"""
