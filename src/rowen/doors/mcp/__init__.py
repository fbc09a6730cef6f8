"""Rowen for assistants: the Model Context Protocol over standard input and output, and over HTTP.

Reads what is stored and may start a sync of a source that exists. No tool adds or removes anything, and an
address that a client names is looked up, never fetched.
"""

from __future__ import annotations
