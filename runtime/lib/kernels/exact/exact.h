//===- exact.h - kernels with the arithmetic of the chip ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of ops whose arithmetic is published: the effect of unpacker, matrix unit, vector unit and packer on each
// value (docs/numerics.md). Values are f32, as the destination registers hold them, until they are packed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/storage.h"
#include "tt/sim/arithmetic.h"

#include <bit>

namespace tt::ttnn::exact {

using sim::exact::Destination;

/// The settings of a compute_config.
struct Compute {
  int phases = 4; // of the matrix unit, LoFi to HiFi4
  Destination width = Destination::Bits16;
  bool approximate = false; // functions of the vector unit
  bool accumulatesInL1 = false;
  bool wide() const { return width == Destination::Bits32; }
};

/// The op's compute_config; what it leaves out is `unset`.
Compute computeOf(const OpCall &call, Compute unset);
/// Returns the settings of an op that has a compute_config: programs are compiled for four phases and f32 sums, the
/// library has its own configs (lib/costs/plans), and f32 sums for f32 results if they are not known.
Compute reducing(const OpCall &call);
/// Returns the settings of an elementwise op: a destination of 32 bits for results of 32 bits.
Compute elementwise(const OpCall &call);

/// f32, bf16 and the block formats with an 8-bit exponent: the formats that the rules here cover.
bool isKnown(DataType type);
/// All present operands, and results.
bool areKnown(const OpCall &call);

/// Returns an f32 after the unpacker, in a source register: TF32, or bf16 with 16-bit destinations. Other formats
/// arrive unchanged.
inline float unpacked(float value, DataType type, Destination width) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (type != DataType::Float32)
    return value;
  return std::bit_cast<float>(width == Destination::Bits32 ? sim::exact::unpackToTf32(bits)
                                                           : sim::exact::unpackToBf16(bits));
}

/// Stores destination values as the packer does. `precise`: block formats are rounded once (bfp8_pack_precise).
Store<float> packer(DataType type, Destination width, bool precise = false);
/// Runs `inner`, which writes the results of `call` as f32, and packs them.
std::unique_ptr<Kernel> packedResult(const TensorSpec &result, Destination width, std::unique_ptr<Kernel> inner,
                                     bool precise = false);

/// A function of the vector unit on destination values; nullptr if it is not published. "exp", "gelu".
using Function = void (*)(float *values, size_t n);
Function vectorFunction(std::string_view name, const Compute &compute);

/// A function of two operands of the vector unit, on destination values; nullptr where it is not published. "add",
/// "subtract", "multiply", "divide", "maximum", "minimum".
Run<float> vectorBinary(std::string_view name, Destination width);
/// The vector unit's conversion of a destination value to an integer type; nullptr where it is not published.
using ToInteger = int64_t (*)(float);
ToInteger integerConversion(DataType to);
/// f32 to bf16 in the vector unit: to nearest, ties to even, also the bits of a NaN.
inline float roundedToEven(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

/// A row: the kernel of an op, or nullptr if the rules do not cover the call.
struct Row {
  std::string_view name;
  std::unique_ptr<Kernel> (*make)(const OpCall &);
};
std::span<const Row> elementwiseRows();
std::span<const Row> matmulRows();
std::span<const Row> reductionRows();
std::span<const Row> normalizationRows();
std::span<const Row> convolutionRows();
std::span<const Row> poolingRows();

} // namespace tt::ttnn::exact
