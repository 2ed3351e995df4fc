"""The targets: one file for each door, with the inputs that it gets and the reader that takes them."""
