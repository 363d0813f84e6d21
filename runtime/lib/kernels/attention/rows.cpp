//===- rows.cpp - attention masks by row ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention/attention.h"

#include <algorithm>
#include <limits>

namespace tt::ttnn {

VisibleColumns::VisibleColumns(const OpCall &call, const Attention &attention) : a(attention) {
  if (const TensorSpec *mask = optionalOperand(call, a.maskIndex); mask) {
    loadMask = loader<float>(mask->dtype);
    maskBytes = storageBytes(mask->dtype);
  }
  if (const TensorSpec *sink = optionalOperand(call, a.sinkIndex)) {
    loadSink = loader<float>(sink->dtype);
    sinkBytes = storageBytes(sink->dtype);
  }
  if (a.positionIndex >= 0) {
    const DataType type = operand(call, static_cast<size_t>(a.positionIndex)).dtype;
    loadPosition = loader<int64_t>(type);
    positionBytes = storageBytes(type);
  }
}

VisibleColumns::Span VisibleColumns::of(const Buffers &buffers, int64_t batch, int64_t row) const {
  int64_t own = a.firstPosition + row;
  Span span{0, a.columns};
  if (a.positionIndex >= 0) {
    loadPosition(buffers.ins[static_cast<size_t>(a.positionIndex)] + static_cast<size_t>(batch) * positionBytes, &own,
                 1);
    own = std::clamp<int64_t>(own, -1, a.columns); // a negative position sees nothing
    span.last = std::min(a.columns, own + 1);
  } else if (a.causal && !loadMask) {
    span.last = std::min(a.columns, own + 1);
  }
  if (a.window > 0) {
    const int64_t before = a.centred ? a.window / 2 : a.window - 1;
    if (a.centred)
      span.last = std::min(span.last, own + before + 1);
    span.first = std::clamp<int64_t>(own - before, 0, span.last);
  }
  return span;
}

void VisibleColumns::mask(const Buffers &buffers, int64_t batch, int64_t head, int64_t row, int64_t column, int64_t n,
                          float *to) const {
  const int64_t step = a.maskStrides[3];
  const int64_t at = batch * a.maskStrides[0] + head * a.maskStrides[1] + row * a.maskStrides[2] + column * step;
  loadMask(buffers.ins[a.maskIndex] + static_cast<size_t>(at) * maskBytes, to, step ? static_cast<size_t>(n) : 1);
  const int64_t loaded = step ? n : 1;
  if (a.scalesExtras)
    for (int64_t i = 0; i < loaded; ++i)
      to[i] *= static_cast<float>(a.scale);
  std::fill_n(to + loaded, n - loaded, to[0]);
}

float VisibleColumns::sink(const Buffers &buffers, int64_t head) const {
  float value = -std::numeric_limits<float>::infinity();
  if (!loadSink)
    return value;
  loadSink(buffers.ins[a.sinkIndex] + static_cast<size_t>(head) * sinkBytes, &value, 1);
  return a.scalesExtras ? value * static_cast<float>(a.scale) : value;
}

} // namespace tt::ttnn
