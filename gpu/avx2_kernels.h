// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_kernels.h"

// What the translation units of AVX2 give each other.

namespace forkpoint::avx2 {

kernels::Hash128 hash(const std::uint8_t *data, std::size_t size);

bool diffFloat64(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums);
bool diffFloat32(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums);
bool diffBFloat16(const kernels::BlockView &block, const BlockContext &context,
                  kernels::DiffRecord &record, kernels::BlockSums &sums);
bool diffFloat16(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums);

void countPairs(const std::uint8_t *a, const std::uint8_t *b, std::size_t size, std::uint16_t *even,
                std::uint16_t *odd);

} // namespace forkpoint::avx2
