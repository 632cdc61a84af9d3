"""`python -m fatscan`."""

import sys

from ._command import main

sys.exit(main())
