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
/// Converts weights [O, I / groups, places...], transposed [I, O / groups, places...], whatever shape they are given
/// in, as the library does: in its matrix of them output channels lie side by side, so that in a block format 16 of
/// them share an exponent at each place of the window and each input channel.
std::unique_ptr<Kernel> weightConversion(const OpCall &call, const WeightOrder &order, const TensorSpec &from,
                                         const TensorSpec &to);

/// Makes the kernel of a convolution whose weights and bias are of the type that its config says (weights_dtype): those
/// of another float type are converted, once where they are constant, else at each run.
std::unique_ptr<Kernel> withTypedWeights(const OpCall &call, const WeightOrder &order,
                                         const std::function<std::unique_ptr<Kernel>(const OpCall &)> &make);

/// The order in which prepare_conv3d_weights stores a weight [O, I, depth, height, width]: the rows of a matrix [rows,
/// O] are blocks of input channels, in each block the places of the window, at each place the block's channels. The
/// input channels are padded with zeros to whole blocks.
class PreparedVolumes {
public:
  /// Checks `matrix` against the weight. `block`: channels of a block, 0 for all of the matrix.
  PreparedVolumes(const OpCall &call, const Shape &matrix, const Shape &weight, int64_t block);
  /// The matrix of a weight.
  void pack(const std::byte *weight, std::byte *matrix, size_t elementBytes) const;
  /// The weight in a matrix.
  void unpack(const std::byte *matrix, std::byte *weight, size_t elementBytes) const;

private:
  /// Calls f(place in the weight, place in the matrix) for each element.
  template <class F> void forEach(F f) const;
  int64_t out, in, places, block, rows;
};

} // namespace tt::ttnn
