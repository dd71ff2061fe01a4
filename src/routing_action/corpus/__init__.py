"""What people write: cases, baselines, skills, and the units they make."""
