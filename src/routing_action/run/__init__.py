"""The run: a batch of units, from plan to results."""
