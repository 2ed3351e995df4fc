"""Forecasts of a lake, and their accuracy. In: a lake and a request. Out: forecasts, or a back-test."""
