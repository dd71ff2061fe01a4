"""What is read from GitHub and written to it."""
