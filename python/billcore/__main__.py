"""Makes `python -m billcore` do the same as the command `billcore`."""

import sys

from billcore.cli import main

if __name__ == "__main__":
    sys.exit(main())
