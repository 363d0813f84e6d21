//===- conversion.cpp - layouts, memories, types ---------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The simulator holds logical row-major values, so a change of layout or memory moves nothing on the host: the result
// is the operand's bytes, and the cost on the chip is counted. Only a change of type computes.
//
//===----------------------------------------------------------------------===//

#include "core/op.h"
#include "tensor/storage.h"

namespace tt::ttnn {
namespace {

std::unique_ptr<Kernel> makeMove(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  expectResultShape(call, in.shape);
  if (in.dtype == out.dtype)
    return aliasKernel(out.bytes());
  return conversionKernel(in, out);
}

/// bf16 as the host packs it: NaN without digits and sign. Cores keep them.
void packOnHost(const float *from, std::byte *to, size_t n) {
  static const Store<float> store = storer<float>(DataType::BFloat16);
  store(from, to, n);
  auto *const bits = reinterpret_cast<uint16_t *>(to);
  for (size_t i = 0; i < n; ++i)
    bits[i] = (bits[i] & 0x7fff) > 0x7f80 ? uint16_t(0x7fc0) : bits[i];
}

/// The conversion of the host, for the op and for values that come from there.
std::unique_ptr<Kernel> makeToDtype(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  if (in.dtype == out.dtype || out.dtype != DataType::BFloat16)
    return makeMove(call);
  expectResultShape(call, in.shape);
  return conversionKernel(in, out, packOnHost);
}

std::unique_ptr<Kernel> makeNothing(const OpCall &) {
  return kernelOf([](const Buffers &) {});
}

/// Writes operand 0 to operand 1, in its type.
std::unique_ptr<Kernel> makeCopy(const OpCall &call) {
  const TensorSpec &from = operand(call, 0), &to = operand(call, 1);
  expectOperandShape(call, 1, from.shape);
  auto copy = std::shared_ptr<Kernel>(conversionKernel(from, to));
  return kernelOf(
      [copy](const Buffers &buffers) {
        std::byte *target = const_cast<std::byte *>(buffers.ins[1]); // writable: OpInfo::writes
        copy->run({buffers.ins.first(1), {&target, 1}, buffers.scratch});
      },
      copy->scratchBytes());
}

} // namespace

std::vector<OpInfo> conversionOps() {
  return {
      {"ttnn.to_layout", makeMove},          {"ttnn.to_memory_config", makeMove},
      {"ttnn.to_tensor_spec", makeMove},     {"ttnn.to_device", makeMove},
      {"ttnn.from_device", makeMove},        {"ttnn.to_dtype", makeToDtype},
      {"ttnn.copy", makeCopy, nullptr, {1}}, {"ttnn.write_tensor", makeCopy, nullptr, {1}},
      {"ttnn.deallocate", makeNothing},
  };
}

} // namespace tt::ttnn
