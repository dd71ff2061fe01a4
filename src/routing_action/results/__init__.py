"""What is kept of a batch: rows, journal, transcripts."""
