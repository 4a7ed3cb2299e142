"""Makes ``python -m fencepost`` the same as the command ``fencepost``."""

from fencepost.cli.main import main

raise SystemExit(main())
