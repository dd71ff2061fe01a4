"""Starting, watching and ending an agent with all that it started."""
