// SPDX-License-Identifier: GPL-3.0-or-later
// In place of cuda_table.cpp where there is no nvcc.
#include "gpu/cuda_runtime.h"

namespace forkpoint {

const CudaRuntime &cudaRuntime()
{
    static const CudaRuntime Absent{"built without CUDA"};
    return Absent;
}

} // namespace forkpoint
