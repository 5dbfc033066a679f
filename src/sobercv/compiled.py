"""How loops are compiled: the options of numba, its cache, and an instruction that numba does not offer.

The only module besides the kernels that imports numba.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numba as nb
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from .errors import warn

_OPTIONS: Any = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
_said: list[bool] = []  # whether the user knows that nothing can be kept

# A fork waits until no thread is compiling: the child would find the lock held by a thread that it does not have.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a loop when it is first called, and keep the result on disk where a folder can be written to."""
    try:
        return nb.njit(cache=True, **options, **_OPTIONS)(function)
    except RuntimeError:  # no folder that numba looks for can be written to
        if not _said:
            _said.append(True)
            warn(
                "W240",
                "No cache folder is writable, so every process compiles the loops again, which takes seconds. Set "
                "NUMBA_CACHE_DIR to a writable folder.",
            )
        return nb.njit(**options, **_OPTIONS)(function)


#: Compile a loop into each loop that calls it.
inlined = partial(compiled, inline="always")


@intrinsic
def fetch(typing_context, address):
    """Ask for the cache line at an address, without waiting for it."""

    def generate(context, builder, signature, arguments):
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        how = [ir.Constant(number, k) for k in (0, 3, 1)]  # to be read, soon, data
        builder.call(function, [builder.inttoptr(arguments[0], pointer), *how])
        return context.get_dummy_value()

    return nb.void(address), generate
