"""Why functions of `numpy` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import (
    DATES,
    DTYPES,
    FILES,
    LAYOUT,
    SETTINGS,
    TEXT,
    WhyNot,
    not_captured,
)

__all__: list[str] = []

not_captured("numpy", {
    TEXT: "array2string array_repr array_str format_float_positional format_float_scientific info",
    WhyNot("it gives text, of an int", "Return the int, and write it outside", plain=True):
        "base_repr binary_repr",
    FILES: "fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed",
    WhyNot("it reads bytes or text as numbers", "Read them before the call", plain=True):
        "frombuffer fromstring",
    SETTINGS: "get_include get_printoptions getbufsize geterr geterrcall printoptions "
              "set_printoptions setbufsize seterr seterrcall show_config show_runtime test",
    DATES: "busday_count busday_offset datetime_as_string datetime_data is_busday isnat",
    WhyNot("it is the former name of another function", "Use np.vstack"): "row_stack",
    WhyNot("it moves bits of ints, which have no derivative", "Use `>>` and `&`", plain=True):
        "packbits unpackbits",
    DTYPES: "isdtype issubdtype min_scalar_type mintypecode promote_types typename",
    WhyNot("it says in which order einsum multiplies, as text",
           "Call it on constants of the same shapes"): "einsum_path",
    LAYOUT: "isfortran may_share_memory require shares_memory",
    WhyNot("it makes an np.matrix, a class with operators of its own", "Use arrays and `@`"):
        "asmatrix bmat",
    WhyNot("it makes a ufunc of Python objects", "Call the function in a loop, or use np.vectorize",
           plain=True): "frompyfunc",
    WhyNot("it makes iterators over memory", "Write loops over indices"): "nested_iters",
    WhyNot("it finds indices by calling a function on an array of ones",
           "Pass a size and a function that do not depend on the arguments", plain=True):
        "mask_indices",
})
