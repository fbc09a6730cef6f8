"""`python -m rowen` is `rowen`."""

from __future__ import annotations

import sys

from rowen.doors.cli import main

sys.exit(main())
