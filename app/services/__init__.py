"""Answers that need work: diagnosis of this moment, what-if, forecasts, evaluation, reviews. In: a lake or sources, and a question. Out: records."""
