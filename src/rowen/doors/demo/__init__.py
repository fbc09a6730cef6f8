"""A small documentation site that comes with Rowen, and a server for it: what `rowen demo` harvests.

Quern, the tool it documents, does not exist.
"""

from rowen.doors.demo.pages import DemoSite
from rowen.doors.demo.server import DemoServer

__all__ = ["DemoServer", "DemoSite"]
