//===- sums.cpp - what follows the sums of panels -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/sums.h"

#include "core/scalars.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::ttnn {

SumsFinish::SumsFinish(panels::Unit unit, DataType produced, const std::string &activation)
    : unit(unit), toBf16(storageType(produced) == StorageType::BF16) {
  relu6 = activation == "relu6" && unit == panels::Unit::BF16 && toBf16 && !sim::isBlockFormat(produced);
  relu = activation == "relu" || relu6;
  if (sim::isBlockFormat(produced))
    block = produced;
  if (!relu && !activation.empty()) {
    const ElementwiseRow &row = *findActivation(activation);
    this->activation = toBf16 && !block && row.rounded ? row.rounded : row.f;
  }
}

void SumsFinish::operator()(float *c, const float *bias, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes,
                            const Residual &residual) const {
  const int64_t width = panels::width(unit);
  alignas(64) float padded[panels::mostWidth] = {};
  if (bias)
    std::copy_n(bias, columns, padded);
  const bool before = activation || block; // something follows that the store does not do
  if (bias && before)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j)
        c[i * width + j] += padded[j];
  if (activation) {
    const float *in = c;
    activation(&in, c, static_cast<size_t>(rows * width), {});
  }
  if (block) {
    if (relu)
      for (int64_t i = 0; i < rows * width; ++i)
        c[i] = scalars::relu(c[i]);
    // Panels begin where groups do.
    for (int64_t i = 0, together = columns == width ? rows : 1; i < rows; i += together)
      sim::quantise(*block, c + i * width, static_cast<size_t>(together * (together > 1 ? width : columns)));
  }
  panels::store(unit, c,
                {bias && !before ? padded : nullptr, relu && !block, toBf16, relu6, residual.values, residual.relu},
                rows, columns, to, rowBytes);
}

} // namespace tt::ttnn
