"""What a run and a comparison show on a terminal."""
