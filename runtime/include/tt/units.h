//===- units.h - vector and matrix units of the host ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace tt {

/// Instruction sets of x86-64 that kernels choose between when they are created, each including those before it.
enum class Units : uint8_t { None, AVX2, AVX512, AVX512_BF16, AMX };

std::string_view toString(Units units);

/// Returns the units of the machine that the system lets the process use, whatever TTRT_UNITS says.
Units presentUnits();

/// Returns the units that kernels may use: those of the machine, and no more than the environment variable TTRT_UNITS
/// allows (avx2, avx512, avx512_bf16 or amx). This holds for oneDNN as well, which never uses AMX. AVX2 stands for AVX2
/// and FMA; AVX512 for AVX-512 F, BW and VL. Throws Error when the variable has another value.
Units units();

/// Whether kernels may multiply bytes and sum up four products in one instruction: AVX512_VNNI with AVX512, AVX-VNNI
/// with AVX2. TTRT_VNNI=0 in the environment says no.
bool multipliesBytes();

} // namespace tt
