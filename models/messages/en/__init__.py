"""The catalogue in English. In: nothing. Out: one whole sentence per key, with placeholders ``{name:format}``; see ``../message.py``."""
