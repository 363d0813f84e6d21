//===- op.h - helpers of all kernels ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/kernel.h"

#include <functional>
#include <initializer_list>

namespace tt::ttnn {

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

using KernelFactory = std::unique_ptr<Kernel> (*)(const OpCall &);
using MeshKernelFactory = std::unique_ptr<MeshKernel> (*)(const OpCall &);

// The rows of each family, in any order.
std::vector<OpInfo> elementwiseOps();
std::vector<OpInfo> dataMovementOps();
std::vector<OpInfo> creationOps();
std::vector<OpInfo> conversionOps();
std::vector<OpInfo> reductionOps();
std::vector<OpInfo> matmulOps();
std::vector<OpInfo> convolutionOps();
std::vector<OpInfo> poolingOps();
std::vector<OpInfo> normalizationOps();
std::vector<OpInfo> collectiveOps();
std::vector<OpInfo> attentionOps();
std::vector<OpInfo> cacheOps();
std::vector<OpInfo> headOps();
std::vector<OpInfo> lookupOps();
std::vector<OpInfo> resamplingOps();
std::vector<OpInfo> scanOps();
std::vector<OpInfo> quantizationOps();
std::vector<OpInfo> pagedAttentionOps();
std::vector<OpInfo> convolutionWeightOps();
std::vector<OpInfo> distributedNormalizationOps();
std::vector<OpInfo> latentAttentionOps();
std::vector<OpInfo> optimizerOps();
std::vector<OpInfo> attentionTrainingOps();
std::vector<OpInfo> routingOps();
std::vector<OpInfo> expertOps();
std::vector<OpInfo> mixtureOps();
std::vector<OpInfo> debugOps();
std::vector<OpInfo> callOps();
std::vector<OpInfo> tensorFileOps();
std::vector<OpInfo> genericOps();

//===----------------------------------------------------------------------===//
// Calls: operands, attributes, errors. All throw OpError naming the op.
//===----------------------------------------------------------------------===//

[[noreturn]] void fail(const OpCall &call, const std::string &message);
/// A required operand.
const TensorSpec &operand(const OpCall &call, size_t index);
/// An operand or nullptr.
const TensorSpec *optionalOperand(const OpCall &call, size_t index);
const TensorSpec &result(const OpCall &call, size_t index = 0);
void expectResultShape(const OpCall &call, const Shape &expected, size_t index = 0);
void expectOperandShape(const OpCall &call, size_t index, const Shape &expected);
/// An Int or Float attribute as a double.
double number(const OpCall &call, std::string_view name);
/// A dimension attribute, negative ones counted from the end.
int64_t dimension(const OpCall &call, std::string_view name, size_t rank);
int64_t wrapDimension(const OpCall &call, std::string_view name, int64_t value, size_t rank);
/// An IntArray attribute of `size` entries, none below `least`.
std::vector<int64_t> integers(const OpCall &call, std::string_view name, size_t size, int64_t least);
/// The field of a struct attribute, or nullptr if either is absent.
const Attribute *field(const OpCall &call, std::string_view structName, std::string_view fieldName);
const Attribute *field(const StructAttribute &value, std::string_view fieldName);
std::string quoted(const std::vector<int64_t> &values);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A kernel made of functions, for ops that need no class of their own.
std::unique_ptr<Kernel> kernelOf(std::function<void(const Buffers &)> run, size_t scratchBytes = 0);
/// The result is operand 0 as it is.
std::unique_ptr<Kernel> aliasKernel(size_t bytes);
/// Rounds to the result's type what `inner` produces as `produced`: in place if only the quantization to a block format
/// is left, otherwise through scratch memory. Returns `inner` if there is nothing to do.
std::unique_ptr<Kernel> roundedTo(const TensorSpec &result, DataType produced, std::unique_ptr<Kernel> inner);
/// Converts whole tensors of the same shape, with all threads; floats by `store` where it is given.
std::unique_ptr<Kernel> conversionKernel(const TensorSpec &from, const TensorSpec &to,
                                         void (*store)(const float *, std::byte *, size_t) = nullptr);

/// Scratch laid out at plan time: `take` returns offsets, each aligned to 64.
class ScratchLayout {
public:
  size_t take(size_t bytes) {
    const size_t at = size;
    size = (size + bytes + 63) / 64 * 64;
    return at;
  }
  size_t bytes() const { return size; }

private:
  size_t size = 0;
};

} // namespace tt::ttnn
