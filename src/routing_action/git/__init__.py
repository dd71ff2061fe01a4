"""Git: commands, fetching, the merge base."""
