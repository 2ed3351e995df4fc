"""How parts of the kernel are compiled. In: functions of this package. Out: functions that only :func:`simulation.run_packed` can call.

That function is the one that is kept on disk, by the content of all files of the package.
"""

from __future__ import annotations

import functools
from typing import Any

from throttlescope.ingest.core.compilation import CompiledIntrinsic, compiled_part

# Wrappers for calls from Python and from C would be compiled for each of a hundred functions.
compiled = compiled_part(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _address(typing_context: Any, array: Any) -> Any:
    from numba import types

    _allow_names_as_places()

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


#: Where an array begins: ``a[place]`` reads and writes its elements as before. An array itself is seven words that each call copies, and
#: an atomic count of who holds it.
address_of = CompiledIntrinsic(_address, in_python=lambda array: array)


@functools.cache
def _allow_names_as_places() -> None:
    """Let ``a[R.NOW]`` be compiled where ``a`` is an address, as it is where it is an array."""
    import operator

    from numba import types
    from numba.extending import overload

    def is_named(address: Any, place: Any) -> bool:
        return isinstance(address, types.CPointer) and isinstance(place, types.IntEnumMember)

    @overload(operator.getitem)
    def read(address, place):
        if is_named(address, place):
            return lambda address, place: address[place + 0]
        return None

    @overload(operator.setitem)
    def write(address, place, value):
        if not is_named(address, place):
            return None

        def written(address, place, value):
            address[place + 0] = value

        return written
