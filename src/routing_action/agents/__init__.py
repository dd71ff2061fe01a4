"""The agent CLIs: one file each, and what their readers share."""
