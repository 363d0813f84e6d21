//===- sums.cpp - what follows the sums of panels -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/sums.h"

#include <algorithm>

namespace tt::ttnn {

SumsFinish::SumsFinish(panels::Unit unit, DataType produced, const std::string &activation)
    : unit(unit), relu(activation == "relu"), toBf16(produced == DataType::BFloat16) {
  if (!relu && !activation.empty())
    this->activation = findActivation(activation)->f;
}

void SumsFinish::operator()(float *c, const float *bias, int64_t rows, int64_t columns, std::byte *to,
                            int64_t rowBytes) const {
  const int64_t width = panels::width(unit);
  alignas(64) float padded[panels::mostWidth] = {};
  if (bias)
    std::copy_n(bias, columns, padded);
  if (activation) {
    if (bias)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j)
          c[i * width + j] += padded[j];
    const float *in = c;
    activation(&in, c, static_cast<size_t>(rows * width), {});
  }
  panels::store(unit, c, {bias && !activation ? padded : nullptr, relu, toBf16}, rows, columns, to, rowBytes);
}

} // namespace tt::ttnn
