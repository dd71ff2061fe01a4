"""How each pair is judged: the tree, the test against its own rate, and its row."""
