"""`python -m billcore_sandbox`: the same as the command `billcore-sandbox`."""

import sys

from billcore_sandbox.cli import main

if __name__ == "__main__":
    sys.exit(main())
