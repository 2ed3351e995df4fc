"""Times, labels, names, selectors and errors. In: plain values. Out: plain values; nothing is read or written here."""
