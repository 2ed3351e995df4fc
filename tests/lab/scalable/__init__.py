"""Scalable topics: in, a seed; out, a broker of Pulsar 5 with topics of segments, causes of a backlog per segment, and a recording."""
