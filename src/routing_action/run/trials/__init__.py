"""How many trials a pair gets."""
