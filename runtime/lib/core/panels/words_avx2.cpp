//===- words_avx2.cpp - integers of 16 bits with AVX2 ---===//
// SPDX-License-Identifier: Apache-2.0

#include "core/panels/words.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::avx2 {
namespace {

struct Pairs : Words256 {
  static Vector add(Vector sum, Vector left, Vector right) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(left, right));
  }
};

} // namespace

void multiplyPairs(const IntegerBlock &block) { multiplyWords<Pairs>(block); }

} // namespace tt::ttnn::panels::avx2

#endif
