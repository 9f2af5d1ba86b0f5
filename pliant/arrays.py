"""The array types that cross every public boundary. Floats are float64, indices int64, units SI."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.signedinteger]  # row pointers and columns of sparse matrices: 32 or 64 bit
