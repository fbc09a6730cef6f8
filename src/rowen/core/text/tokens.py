"""How many tokens a text has, by a rule of thumb.

Four characters a token is near the truth for English prose; code and other scripts need more tokens.
"""

from __future__ import annotations

CHARACTERS_PER_TOKEN = 4
