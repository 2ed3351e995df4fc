"""The catalogue in Simplified Chinese. In: nothing. Out: :data:`SENTENCES`, sentences by the keys of the English catalogue.

Each module of this folder holds the sentences about one subject, as the English module of that name; a new module is found without being listed.
``sources.json`` has a digest of the English sentence that each was translated from.
"""

from importlib import import_module
from pkgutil import iter_modules

SENTENCES: dict[str, str] = {}
for _module in iter_modules(__path__):
    _found = import_module(f"{__name__}.{_module.name}").SENTENCES
    if _twice := SENTENCES.keys() & _found.keys():
        raise ValueError(
            f"models/messages/zh/{_module.name}.py repeats keys of another module: {sorted(_twice)}"
        )
    SENTENCES |= _found
