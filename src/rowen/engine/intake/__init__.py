"""Where the items of a run arrive, and what becomes of them. `Intake` is the way in."""

from rowen.engine.intake.intake import Agreed, Intake
from rowen.engine.intake.tally import OnEvent, unheard

__all__ = ["Agreed", "Intake", "OnEvent", "unheard"]
