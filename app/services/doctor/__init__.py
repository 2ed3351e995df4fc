"""Checks of the sources. In: settings. Out: what they offer, what hides evidence, and the fix for each."""
