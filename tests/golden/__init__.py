"""What people read, kept as text: ``make golden`` writes it anew, and tests hold it against what is said now."""
