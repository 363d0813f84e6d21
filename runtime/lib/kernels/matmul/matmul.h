//===- matmul.h - the ways to multiply matrices ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/matmul/product.h"

namespace tt::ttnn {

/// The kernel library's product in f32, with an operand of one row added (biasIndex, or -1) and an activation that the
/// library fuses (library::fuses) or none. Throws dnnl::error if the machine has no implementation.
std::unique_ptr<Kernel> makeLibraryMatmul(const OpCall &call, const Product &product, int biasIndex,
                                          std::string_view activation);

/// The product of few rows with a matrix that is read in place, as makePanelMatmul returns it; nullptr if it is not
/// one, or if the columns of the matrix are not contiguous.
std::unique_ptr<Kernel> makeRowMatmul(const OpCall &call, const Product &product, DataType type, DataType produced,
                                      int biasIndex, const std::string &activation);

/// Left rows that are not a matrix in memory, such as the windows of images.
class LeftRows {
public:
  virtual ~LeftRows() = default;
  /// Copies rows [first, first + count) of operand 0, in the order of panels::copyRows.
  virtual void copy(const std::byte *from, int64_t first, int64_t count, std::byte *to) const = 0;
  /// Row t * k / taps + i of the right operand is element i * taps + t of each column.
  virtual int64_t taps() const = 0;
};

/// The product in panels, with an operand of one row added and any unary elementwise op fused (a name of the
/// elementwise table, or empty); nullptr if the machine lacks the units or the shape does not suit panels.
/// rows: the left rows of one matrix, in the place of those that the strides describe; its columns are contiguous.
std::unique_ptr<Kernel> makePanelMatmul(const OpCall &call, const Product &product, DataType type, DataType produced,
                                        int biasIndex, const std::string &activation,
                                        std::shared_ptr<const LeftRows> rows = nullptr);

/// The product of integers of 8 or 16 bits, in any storage type, modulo 2^32; results have 32 bits. direct: creates the
/// kernel for any values, which is returned if it is the better one.
std::unique_ptr<Kernel> makeIntegerMatmul(const OpCall &call, const Product &product,
                                          const std::function<std::unique_ptr<Kernel>()> &direct);

} // namespace tt::ttnn
