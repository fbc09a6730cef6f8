"""One file a command: its options, the flow it calls, and how the answer looks."""
