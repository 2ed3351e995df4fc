"""The catalogue in English. In: nothing. Out: :data:`SENTENCES`, every sentence by its key."""

from throttlescope.models.messages.en import advice, causes, forecast, missing, truth_table, whatif

SENTENCES: dict[str, str] = {
    **causes.SENTENCES,
    **truth_table.SENTENCES,
    **missing.SENTENCES,
    **advice.SENTENCES,
    **forecast.SENTENCES,
    **whatif.SENTENCES,
}
