//===- attention.h - scaled dot product attention -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"
#include "tensor/storage.h"

namespace tt::ttnn {

/// Sizes, and the positions of the operands that differ between prefill and decode.
struct Attention {
  int64_t batch, heads, keyHeads, rows, columns, size, valueSize; // rows: of the query, columns: positions of the keys
  size_t maskIndex = 3, sinkIndex = 4;
  int positionIndex = -1;           // per batch, the last position that is seen; -1: none
  int64_t firstPosition = 0;        // the column that is the first row's own
  bool causal = false;              // rows see the columns up to their own
  int64_t window = 0;               // columns that a row sees; 0: all
  bool centred = false;             // half of the window lies on each side of a row's own column; else it ends there
  std::vector<int64_t> maskStrides; // of batch, head, row and column; 0 where broadcast
  bool scalesExtras = false;        // scores are scaled with the mask, and so is the sink
  double scale = 1;

  int64_t groups() const { return heads / keyHeads; }
};

/// The visible part of a row of scores: a span of columns, and the contributions of the mask and the sink.
class VisibleColumns {
public:
  VisibleColumns(const OpCall &call, const Attention &attention);

  /// Numbers of columns [first, last).
  struct Span {
    int64_t first, last;
  };
  Span of(const Buffers &buffers, int64_t batch, int64_t row) const;

  bool masked() const { return loadMask != nullptr; }
  /// Adds the mask to the scores of n columns from `column` on.
  void mask(const Buffers &buffers, int64_t batch, int64_t head, int64_t row, int64_t column, int64_t n,
            float *to) const;

  bool hasSink() const { return loadSink != nullptr; }
  /// The score of a column without a value, -Inf if there is none.
  float sink(const Buffers &buffers, int64_t head) const;

private:
  Attention a;
  Load<float> loadMask = nullptr, loadSink = nullptr;
  Load<int64_t> loadPosition = nullptr;
  size_t maskBytes = 0, sinkBytes = 0, positionBytes = 0;
};

/// The kernel for many rows, in panels; nullptr if the machine lacks the units or there are few rows.
std::unique_ptr<Kernel> makePanelAttention(const OpCall &call, const Attention &attention);

} // namespace tt::ttnn
