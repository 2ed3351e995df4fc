"""Forecasts of a lake, and how they came true."""
