"""Geo-replication: in, a seed; out, two clusters that replicate topics, causes of a replication backlog, and a recording of both."""
