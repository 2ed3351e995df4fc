"""Scenarios in which each topic has a cause of its own and all have the same three states: what their families have in common."""
