"""Which files a shell command prints."""
