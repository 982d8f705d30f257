"""`python -m pratique`: the command line where no script is on the path."""

import sys

from pratique.cli import main

sys.exit(main())
