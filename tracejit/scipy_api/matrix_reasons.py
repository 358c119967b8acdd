"""Why functions of `scipy.linalg`, `scipy.fft` and `scipy.sparse` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import (
    DTYPES,
    FILES,
    KNOWN_NUMBERS,
    SETTINGS,
    WhyNot,
    not_captured,
)

__all__: list[str] = []

ROTATIONS = WhyNot("the signs of its factors are those of the rotations that it was made by",
                   "Factor the changed matrix by scipy.linalg.qr", plain=True)
PHASES = WhyNot("its factors are free up to phases, which LAPACK's steps choose",
                "Use scipy.linalg.eig(a, b) for the eigenvalues", plain=True)
PIVOTS = WhyNot("LAPACK decides by the numbers which pivots are single and which are pairs",
                "Use scipy.linalg.cholesky or scipy.linalg.lu", plain=True)
FORMATS = WhyNot("it stores elements in lists, in a dict, in blocks or in diagonals; what is "
                 "captured has an index for each element",
                 "Use scipy.sparse.coo_array, csr_array, csc_array or diags_array", plain=True)
STORED = WhyNot("the numbers would decide which elements its result stores",
                "Use the dense matrix, A.toarray(), and functions of np.linalg and scipy.linalg",
                plain=True)
STOPS = WhyNot("its result is where an iteration stops, and has the tolerance's digits",
               "Use scipy.sparse.linalg.spsolve, or np.linalg.lstsq of A.toarray()", plain=True)
VECTORS = WhyNot("it begins with random numbers, on which the signs of its vectors depend",
                 "Use np.linalg.eigh, eig or svd of A.toarray()", plain=True)
OPERATORS = WhyNot("it makes an object that multiplies", "Write the product as a function",
                   plain=True)
RANDOM = WhyNot("it draws random numbers", "Draw them outside, and pass them", plain=True)

not_captured("scipy.linalg", {
    KNOWN_NUMBERS: "dft hadamard helmert hilbert invhilbert invpascal pascal",
    DTYPES: "find_best_blas_type get_blas_funcs get_lapack_funcs",
    RANDOM: "clarkson_woodruff_transform",
    ROTATIONS: "qr_delete qr_insert qr_update",
    PHASES: "ordqz qz",
    PIVOTS: "ldl",
    WhyNot("its factors are free up to signs, which LAPACK's steps choose",
           "Use np.linalg.svd of the blocks", plain=True): "cossin",
    WhyNot("it scales by powers of two and exchanges rows as the numbers decide, steps that no "
           "derivative goes through", "Use the matrix as it is", plain=True): "matrix_balance",
    WhyNot("it is the greatest singular value of a matrix of n ** 4 numbers",
           "Use scipy.linalg.expm_frechet along directions of yours", plain=True): "expm_cond",
})
not_captured("scipy.fft", {
    DTYPES: "next_fast_len prev_fast_len",
    KNOWN_NUMBERS: "fhtoffset",
    SETTINGS: "get_workers register_backend set_backend set_global_backend set_workers "
              "skip_backend",
})
not_captured("scipy.sparse", {
    FORMATS: "bsr_array bsr_matrix dia_array dia_matrix dok_array dok_matrix lil_array lil_matrix "
             "spdiags",
    STORED: "find tril triu",
    DTYPES: "get_index_dtype isspmatrix isspmatrix_bsr isspmatrix_coo isspmatrix_csc "
            "isspmatrix_csr isspmatrix_dia isspmatrix_dok isspmatrix_lil safely_cast_index_arrays",
    FILES: "load_npz save_npz",
    RANDOM: "rand random random_array",
    WhyNot("it is a class from which sparse matrices inherit", "Use scipy.sparse.coo_array",
           plain=True): "sparray spmatrix",
    WhyNot("sparse arrays have two axes here, and no more or fewer",
           "Use A.T, or the dense array A.toarray()", plain=True):
        "expand_dims permute_dims swapaxes",
})
not_captured("scipy.sparse.linalg", {
    STORED: "expm inv matrix_power spilu",
    STOPS: "bicg cgs gcrotmk lgmres lsmr lsqr minres qmr tfqmr",
    VECTORS: "eigs eigsh lobpcg svds",
    OPERATORS: "LaplacianNd LinearOperator SuperLU aslinearoperator",
    WhyNot("it estimates a norm from below by products that the numbers choose",
           "Use scipy.sparse.linalg.norm(A, 1)", plain=True): "onenormest",
    WhyNot("it multiplies within spaces that it stops to widen by a tolerance",
           "Use scipy.linalg.funm of A.toarray()", plain=True): "funm_multiply_krylov",
    WhyNot("it tells where elements are stored", "Ask outside", plain=True):
        "is_sptriangular spbandwidth",
    SETTINGS: "use_solver",
})
