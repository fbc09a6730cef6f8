"""Documents, data, source code and office files to the Markdown of their main content, in child processes.

`pool.PoolConverter` is the adapter. The parent process never loads the parser: only `worker` does.
"""
