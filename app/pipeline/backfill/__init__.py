"""A long time, hour by hour into the lake. In: a range and a source. Out: chunks, each ingested and diagnosed, in the order of time."""
