"""Where the outside comes in: parse a call, run a flow, present what it answered."""
