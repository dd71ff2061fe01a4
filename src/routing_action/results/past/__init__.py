"""What runs on the default branch measured: its lines, and what they add up to."""
