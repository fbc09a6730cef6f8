"""What embedding so much text would come to, before anything is sent.

A rule of thumb for `rowen plan`, not a bill: four characters a token is near the truth for English prose;
code and other scripts need more tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    calls: int
    tokens: int

    def cost(self, price_per_million_tokens: float) -> float:
        """In the currency of the price."""
        return self.tokens * price_per_million_tokens / 1_000_000


def estimate(texts_chars: int, texts: int, *, batch_size: int) -> Estimate:
    """For this many texts with this many characters in all, at most `batch_size` texts a call."""
    if texts_chars < 0 or texts < 0 or batch_size < 1:
        raise ValueError(f"expected counts, got {texts_chars} characters, {texts} texts, {batch_size} a call")
    return Estimate(calls=-(-texts // batch_size), tokens=-(-texts_chars // CHARACTERS_PER_TOKEN))
