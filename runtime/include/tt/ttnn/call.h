//===- call.h - calls of library ops by name --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// How the C++ functions (ttnn/ttnn.hpp) and the Python package run an op: with
// its operands, its attributes and what its results shall be. The kernels that
// calls make are kept and used again for equal operands and attributes; those
// that hold constants (weights in the form they like) go with the constants.
// Safe for threads; calls of one kernel follow one another.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/kernel.h"
#include "tt/ttnn/tensor.h"
#include "ttmlir/Target/TTNN/Api.h"

namespace tt::ttnn {

/// The properties that a caller requests of a result; the function decides those that are not set, mostly as in operand
/// 0.
struct Output {
  std::optional<DataType> dtype;
  std::optional<MemoryConfig> memory;
  std::optional<Layout> layout;
};
using Device = std::shared_ptr<sim::MeshDevice>;

struct ShapeRule;
struct CallArguments;

/// A public function: its row among the functions, its row in the registry, and what follows from both.
struct Callable {
  const api::Function *function = nullptr;
  const OpInfo *info = nullptr;
  std::vector<const api::Parameter *> operands; // in ODS order; the last may be variadic
  std::vector<NamedAttribute> defaults;         // of attributes that a call leaves out
  std::optional<Attributes> unset;              // of a call that leaves out all; nothing when it must not
  const ShapeRule *shapes = nullptr;
  std::vector<Tensor> (*perform)(const CallArguments &) = nullptr; // ops that are no kernel's business (to_device)
  bool broadcasts = false; // an elementwise op with several operands: a number can stand for one of them
};

/// The function of an op ("ttnn.add"), or nullptr when this runtime cannot call it. For keeps: look it up once.
const Callable *findCallable(std::string_view op);
/// All functions, in the order of api::functions().
std::span<const Callable> callables();

/// Runs an op. operands: as Callable::operands, an empty tensor being absent; trailing absent ones may be left out.
/// attributes: by the names of the dialect. outputs: none, one for all results, or one per result. device: where the
/// results of ops without operands go; also what to_device and distribute_tensor take. An operand that the op writes is
/// changed in place. Throws OpError that names function and parameter, DeviceError, OutOfMemoryError.
std::vector<Tensor> call(const Callable &op, std::span<const Tensor> operands, std::vector<NamedAttribute> attributes,
                         std::span<const Output> outputs = {}, const Device &device = nullptr);

/// Returns the properties of a call's results: shapes (of each shard), data types, layouts and memories.
std::vector<TensorSpec> resultSpecs(const Callable &op, std::span<const std::optional<TensorSpec>> operands,
                                    const Attributes &attributes, std::span<const Output> outputs,
                                    std::vector<uint32_t> meshShape);

/// Kernels kept for later calls, without those of constants.
size_t cachedKernels();
void clearKernelCache();

} // namespace tt::ttnn
