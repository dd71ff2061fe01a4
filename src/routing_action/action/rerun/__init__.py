"""A run that is for a pull request without being of its event: what it is told, and takes over."""
