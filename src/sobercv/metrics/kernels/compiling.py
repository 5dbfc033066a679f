"""How kernels are compiled, and the two instructions that numba does not offer.

Takes nothing, gives options and intrinsics; never loops.
"""

from __future__ import annotations

from typing import Any

import numba as nb
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.extending import intrinsic

options: Any = {"cache": True, "nogil": True, "boundscheck": False, "error_model": "numpy"}


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


@intrinsic
def ones(typing_context, word):
    """How many bits of a word are set."""
    return word(word), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])
