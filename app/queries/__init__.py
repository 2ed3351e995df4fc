"""Every read of the lake for people, one module per table. In: a lake and a filter. Out: rows of plain values, for all front ends."""
