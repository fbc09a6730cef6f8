"""One file a command: its options, the function it calls, and how the answer looks."""
