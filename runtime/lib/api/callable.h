//===- callable.h - callable ops --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/call.h"

namespace tt::ttnn {

/// The arguments of an op that runs without a kernel.
struct CallArguments {
  const Callable &callable;
  std::span<const Tensor> operands;
  const Attributes &attributes;
  std::span<const Output> outputs;
  const Device &device;
};
/// Returns the function that performs such an op, or nullptr for ops that have kernels.
std::vector<Tensor> (*performerOf(std::string_view op))(const CallArguments &);
/// Implements ttnn.deallocate.
void release(const Tensor &tensor, bool force);

/// Throws OpError that names the public function.
[[noreturn]] void failCall(const Callable &callable, const std::string &message);
/// Whether a call need not give the attribute.
bool mayBeLeftOut(const Callable &callable, const AttributeSpec &spec);
/// The value of an enum by its symbol or public name. Throws OpError.
Attribute enumAttribute(std::string_view type, std::string_view symbol);
/// Converts an attribute to the form that kernels take: an integer in place of a list is a list of one, floats have 32
/// bits. Throws OpError that names the parameter.
void normalise(const Callable &callable, NamedAttribute &attribute);
/// Whether numbers of the type are integers, which includes BOOL.
inline bool isInteger(DataType type) {
  return type == DataType::Int32 || type == DataType::UInt32 || type == DataType::UInt16 || type == DataType::UInt8 ||
         type == DataType::Bool;
}
/// Throws OpError for a call that Tenstorrent's library refuses: one that violates the row's requirements. `device` is
/// strict.
void requireStrict(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
                   std::span<const Output> outputs, const sim::MeshDevice &device);
/// See tt/ttnn/call.h; `values`: the operands themselves.
std::vector<TensorSpec> resultSpecs(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
                                    const Attributes &attributes, std::span<const Output> outputs,
                                    std::vector<uint32_t> meshShape, const Device &device,
                                    std::span<const Tensor> values);

} // namespace tt::ttnn
