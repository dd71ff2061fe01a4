"""Taking in what an agent prints."""
