//===- stage.h - an elementwise op as a stage of a kernel ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/storage.h"

#include <algorithm>

namespace tt::ttnn {

/// The way an operand is read at result position `p`: dims and strides after merging dimensions with equal strides in
/// all operands, or the result of an earlier stage of the chain.
enum class Access : uint8_t { Same, Scalar, Broadcast, Stage };

struct Operand {
  Access access;
  uint32_t index;               // of the kernel's operand, or of the stage
  std::vector<int64_t> strides; // elements, per merged dimension; the last is 1 or 0
  size_t bytes;                 // of one stored value
  bool direct;                  // stored as it is computed: no conversion
};

/// An op, computed in f32 or in int64.
struct Stage {
  // The first slots are for operands that have to be converted, and for a result before it is stored.
  static constexpr uint32_t work = maxElementwiseIns;

  Run<float> f = nullptr;
  Run<float> fRounded = nullptr; // used instead of f if all results are bf16 that it rounds itself
  Run<int64_t> i = nullptr;
  std::array<Load<float>, maxElementwiseIns> loadsF{};
  std::array<Load<int64_t>, maxElementwiseIns> loadsI{};
  Store<float> storeF = nullptr;
  Store<int64_t> storeI = nullptr;
  Scalars scalars;
  TensorSpec spec; // of the result
  size_t unit, outBytes;
  std::vector<int64_t> dims;
  std::vector<Operand> operands;
  bool rowAligned = false;
  bool direct; // f32 computed as f32
  // In a chain:
  int out = 0;          // result of the kernel, or -1: used inside of the chain only
  bool kept = false;    // a later stage uses it
  uint32_t slot = 0;    // where its values are kept for later stages, unless these are f32 that lies in the result
  bool rounded = false; // they are kept as f32 that bf16 holds: rounded once, and no stage converts them
  std::array<uint32_t, maxElementwiseIns> scalarSlots{}; // of operands that are one value

  Stage(const OpCall &call, const ElementwiseRow &row, bool integer, const Scalars &scalars);
  template <class T> Run<T> function() const;
  /// Whether a bf16 operand is taken as f32 with the same value.
  bool takesBf16AsF32(size_t k) const { return f && loadsF[k] == loader<float>(DataType::BFloat16); }
  template <class T> Load<T> load(size_t k) const;
  template <class T> Store<T> store() const;
};
template <> inline Run<float> Stage::function() const { return fRounded ? fRounded : f; }
template <> inline Run<int64_t> Stage::function() const { return i; }
template <> inline Load<float> Stage::load(size_t k) const { return loadsF[k]; }
template <> inline Load<int64_t> Stage::load(size_t k) const { return loadsI[k]; }
template <> inline Store<float> Stage::store() const { return storeF; }
template <> inline Store<int64_t> Stage::store() const { return storeI; }

} // namespace tt::ttnn
