"""One pull. In: a source, selectors and a range. Out: series, samples and policies in the lake, and a manifest of what was done."""
