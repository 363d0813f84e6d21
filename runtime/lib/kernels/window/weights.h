//===- weights.h - prepared weights of convolutions ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/library.h"

#include <functional>

namespace tt::ttnn {

struct WeightOrder {
  int64_t in, out, groups;
  bool transposed;
};
/// Converts weights [O, I / groups, positions...], transposed [I, O / groups, positions...], in any given shape, as the
/// library does: in its matrix, output channels are adjacent, so in a block format 16 of them share an exponent at each
/// position of the window and each input channel.
std::unique_ptr<Kernel> weightConversion(const OpCall &call, const WeightOrder &order, const TensorSpec &from,
                                         const TensorSpec &to);

/// Creates the kernel of a convolution whose weights and bias have the type in its config (weights_dtype): those of
/// another float type are converted, once if they are constant, else in each run.
std::unique_ptr<Kernel> withTypedWeights(const OpCall &call, const WeightOrder &order,
                                         const std::function<std::unique_ptr<Kernel>(const OpCall &)> &make);

/// The order in which prepare_conv3d_weights stores a weight [O, I, depth, height, width]: the rows of a matrix [rows,
/// O] are blocks of input channels, in each block the positions of the window, at each position the block's channels.
/// The input channels are padded with zeros to whole blocks.
class PreparedVolumes {
public:
  /// Checks `matrix` against the weight. `block`: channels of a block, 0 for all of the matrix.
  PreparedVolumes(const OpCall &call, const Shape &matrix, const Shape &weight, int64_t block);
  /// The matrix of a weight.
  void pack(const std::byte *weight, std::byte *matrix, size_t elementBytes) const;
  /// The weight in a matrix.
  void unpack(const std::byte *matrix, std::byte *weight, size_t elementBytes) const;

private:
  /// Calls f(index in the weight, index in the matrix) for each element.
  template <class F> void forEach(F f) const;
  int64_t out, in, places, block, rows;
};

} // namespace tt::ttnn
