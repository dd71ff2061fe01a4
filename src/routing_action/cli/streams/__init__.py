"""The commands of `providers` that look at what an agent prints."""
