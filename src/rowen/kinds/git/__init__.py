"""Any repository, by the `git` command."""
