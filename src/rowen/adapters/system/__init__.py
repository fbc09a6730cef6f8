"""The machine Rowen runs on: its clock, its processes, and the packages installed on it."""

from rowen.adapters.system.clock import SystemClock
from rowen.adapters.system.owner import is_dead, owner

__all__ = ["SystemClock", "is_dead", "owner"]
