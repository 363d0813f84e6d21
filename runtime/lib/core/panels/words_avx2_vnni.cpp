//===- words_avx2_vnni.cpp - integers of 8 bits with AVX-VNNI ---===//
// SPDX-License-Identifier: Apache-2.0

#include "core/panels/words.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::avx2vnni {
namespace {

struct Quads : Words256 {
  static Vector add(Vector sum, Vector left, Vector right) { return _mm256_dpbusd_avx_epi32(sum, left, right); }
};

} // namespace

void multiplyQuads(const IntegerBlock &block) { multiplyWords<Quads>(block); }

} // namespace tt::ttnn::panels::avx2vnni

#endif
