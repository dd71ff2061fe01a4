"""Running agents: workspaces, child processes, their output, and what must never leak from it.

Nothing here judges a run; it hands on bytes, lines and how each process ended.
"""
