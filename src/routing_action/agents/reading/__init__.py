"""What the readers of agent output share."""
