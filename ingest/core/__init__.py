"""Times, labels, names, selectors and errors. In and out: plain values; nothing is read or written here."""
