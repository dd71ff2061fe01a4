"""Reading agents' session logs."""
