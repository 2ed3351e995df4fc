"""The catalogue in English. In: nothing. Out: :data:`SENTENCES`, every sentence by its key.

Each module of this folder holds the sentences about one subject; a new module is found without being listed.
"""

from importlib import import_module
from pkgutil import iter_modules

SENTENCES: dict[str, str] = {}
for _module in iter_modules(__path__):
    _found = import_module(f"{__name__}.{_module.name}").SENTENCES
    if _twice := SENTENCES.keys() & _found.keys():
        raise ValueError(
            f"models/messages/en/{_module.name}.py repeats keys of another module: {sorted(_twice)}"
        )
    SENTENCES |= _found
