"""The HTML report: its shell and its data."""
