"""How parts of the kernel are compiled. In: functions of this package. Out: functions that only :func:`simulation.run_packed` can call.

That function is the one that is kept on disk, by the content of all files of the package.
"""

from throttlescope.ingest.core.compilation import compiled_part

# Wrappers for calls from Python and from C would be compiled for each of a hundred functions.
compiled = compiled_part(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
