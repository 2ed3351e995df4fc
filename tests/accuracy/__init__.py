"""The accuracy page of the diagnosis. In: the recordings of the repository. Out: ``docs/accuracy/diagnosis.md`` and ``measured.json``.

``python -m tests.accuracy --write`` recomputes every figure: recordings are read (:mod:`recorded`), evidence is removed
(:mod:`evidence`) or a cause is written into them (:mod:`altered`), signals are made without Spark (:mod:`signals`) and judged by
:mod:`throttlescope.models.evaluation`; :mod:`figures` collects, :mod:`page` shows.
"""
