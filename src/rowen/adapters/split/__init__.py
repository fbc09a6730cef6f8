"""The `Splitter` port: many texts in child processes, few in this one."""
