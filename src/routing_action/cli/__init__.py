"""The command line: one file a command; errors become exit codes in `main`."""
