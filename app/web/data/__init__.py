"""What pages read. ``reader`` answers questions of one ``snapshot``; ``newest`` (of the SQL in ``latest``) and ``history`` are questions."""
