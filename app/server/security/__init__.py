"""Who gets in, and what a browser may do with what it gets."""
