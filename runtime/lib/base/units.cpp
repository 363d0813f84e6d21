//===- units.cpp - vector and matrix units of the host ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/units.h"
#include "tt/types.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tt {
namespace {

constexpr std::string_view names[] = {"none", "avx2", "avx512", "avx512_bf16", "amx"};

Units detected() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return Units::None;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
    return Units::AVX2;
  if (!__builtin_cpu_supports("avx512bf16"))
    return Units::AVX512;
  // Linux grants the tile registers to processes that request them: ARCH_REQ_XCOMP_PERM for XTILEDATA.
  const bool tiles = __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-tile") &&
                     syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return tiles ? Units::AMX : Units::AVX512_BF16;
#else
  return Units::None;
#endif
}

Units limit() {
  const char *value = std::getenv("TTRT_UNITS");
  if (!value || !*value)
    return Units::AMX;
  const auto *name = std::find(std::begin(names) + 1, std::end(names), value);
  if (name == std::end(names))
    throw Error("TTRT_UNITS is '" + std::string(value) + "'; expected avx2, avx512, avx512_bf16 or amx");
  return static_cast<Units>(name - std::begin(names));
}

Units capped() {
  const Units cap = limit();
  switch (cap) {
  case Units::AVX2:
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
    break;
  case Units::AVX512:
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_vnni);
    break;
  default:
    // Nor does it use AMX: on such a CPU, version 2.6.3 gives wrong results for volumes, lets NaN into windows that
    // hold none, and writes to memory of others.
    dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    break;
  }
  return std::min(cap, presentUnits());
}

bool hasByteProducts() {
  const char *value = std::getenv("TTRT_VNNI");
  if (value && std::string_view(value) == "0")
    return false;
#if defined(__x86_64__)
  if (units() >= Units::AVX512)
    return __builtin_cpu_supports("avx512vnni");
  return units() >= Units::AVX2 && __builtin_cpu_supports("avxvnni");
#else
  return false;
#endif
}

} // namespace

std::string_view toString(Units units) { return names[static_cast<size_t>(units)]; }

Units presentUnits() {
  static const Units found = detected();
  return found;
}

Units units() {
  static const Units found = capped();
  return found;
}

bool multipliesBytes() {
  static const bool found = hasByteProducts();
  return found;
}

} // namespace tt
