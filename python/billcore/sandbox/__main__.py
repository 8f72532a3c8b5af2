"""`python -m billcore.sandbox`: the same as `billcore sandbox`."""

import sys

from billcore._cli import sandbox_main

if __name__ == "__main__":
    sys.exit(sandbox_main())
