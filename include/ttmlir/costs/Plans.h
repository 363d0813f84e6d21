//===- Plans.h - how the library runs ops on a chip -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The decisions of the ttnn library on the host if a call has no configs, or if the configs leave something open: the
// programs of an op, and the compute config, blocks and circular buffers of each. The rules were derived from what the
// library (0.81) shows without a card. The exact arithmetic takes its rounding points from them, the clock its
// fidelity, and L1 accounting its buffers. Standard C++.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_COSTS_PLANS_H
#define TTMLIR_COSTS_PLANS_H

#include "ttmlir/costs/Costs.h"

#include <string>
#include <vector>

namespace ttmlir::plan {

/// The compute config of a program.
struct Compute {
  int phases = 4; // of the matrix unit, LoFi 1 to HiFi4 4
  bool approximate = false;
  bool f32Destination = false;
  bool addsInL1 = false; // packer_l1_acc
  bool operator==(const Compute &) const = default;
};

/// Data formats, by the numbers of the chip.
enum class Format : uint8_t {
  Float32 = 0,
  TF32 = 4,
  Float16B = 5,
  BFP8B = 6,
  BFP4B = 7,
  Int32 = 8,
  UInt16 = 9,
  BFP2B = 15
};
std::string_view formatName(Format format);

/// A circular buffer of each core, in the order of the program.
struct Buffer {
  int64_t bytes = 0;
  Format format = Format::Float16B;   // in L1
  Format unpacked = Format::Float16B; // in a source register, or in the destination
  bool isTensor = false;              // what a tensor occupies already
  bool sharesPrevious = false;        // it has the bytes of the buffer before it
};

/// The blocks of a product. Sizes are in tiles.
struct Blocks {
  int64_t batches = 1;
  int64_t perCoreM = 1, perCoreN = 1;         // of the result, on a core
  int64_t outBlockH = 1, outBlockW = 1;       // of these, at a time
  int64_t outSubblockH = 1, outSubblockW = 1; // in the destination at a time
  int64_t in0BlockW = 1;                      // of K, between two rounding points
  int64_t count = 1;                          // blocks of K
  /// A convolution's block of K: these channels, with padding, of each pixel in a row of the window. Blocks with the
  /// other channels of a row follow, then those of the next row. 0: the K of a product.
  int64_t channels = 0;
  /// The format of partial sums in L1, which the same kernel reads back.
  Format partials = Format::Float16B;
};

/// A compile-time argument of a compute kernel.
struct Argument {
  std::string_view name;
  int64_t value;
};

/// A program of kernels.
struct Step {
  std::string_view operation;    // "MatmulDeviceOperation"
  std::string_view factory = {}; // "MatmulMultiCoreReuseMcast2DProgramFactory"
  std::optional<Compute> compute = {};
  std::vector<Buffer> buffers = {};
  std::optional<Blocks> blocks = {};
  std::vector<Argument> arguments = {};

  /// Returns the size of the circular buffers on each core, without tensors.
  int64_t bytes() const;
};

using cost::Chip;

/// Returns the programs of an op in order; none if no rule covers the op.
std::vector<Step> planOf(const cost::Op &op, const Chip &chip);
/// Returns the compute config of an op's main program: that of the op, completed by the library's defaults.
std::optional<Compute> computeOf(const cost::Op &op);
/// Returns the blocks of ttnn.matmul and ttnn.linear, or nothing if operands are sharded and no program config states
/// them.
std::optional<Blocks> blocksOf(const cost::Op &op, const Compute &compute, const Chip &chip);

} // namespace ttmlir::plan

#endif // TTMLIR_COSTS_PLANS_H
