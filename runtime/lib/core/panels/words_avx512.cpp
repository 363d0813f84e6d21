//===- words_avx512.cpp - integers of 16 bits with AVX-512 ---===//
// SPDX-License-Identifier: Apache-2.0

#include "core/panels/words.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::avx512 {
namespace {

struct Pairs : Words512 {
  static Vector add(Vector sum, Vector left, Vector right) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(left, right));
  }
};

} // namespace

void multiplyPairs(const IntegerBlock &block) { multiplyWords<Pairs>(block); }

} // namespace tt::ttnn::panels::avx512

#endif
