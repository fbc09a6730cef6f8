"""Where callers come in: parse a call, run it, present what came of it."""
