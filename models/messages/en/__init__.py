"""The catalogue in English. In: nothing. Out: :data:`SENTENCES`, every sentence by its key."""

from throttlescope.models.messages.en import causes, missing, truth_table

SENTENCES: dict[str, str] = {**causes.SENTENCES, **truth_table.SENTENCES, **missing.SENTENCES}
