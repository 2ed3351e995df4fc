"""What a run does, step by step. In: a request. Out: tables of the lake."""
