//===- conversion.cpp - layouts, memories, types ---------------------------===//
//
// The simulator holds logical row-major values, so a change of layout or memory
// moves nothing on the host: the result is the operand's bytes, and what the
// move costs on the chip is in the cost. Only a change of type computes.
//
//===----------------------------------------------------------------------===//

#include "op.h"

namespace tt::ttnn {
namespace {

std::unique_ptr<Kernel> makeMove(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  expectResultShape(call, in.shape);
  if (in.dtype == out.dtype)
    return aliasKernel(out.bytes());
  return conversionKernel(in, out);
}

std::unique_ptr<Kernel> makeNothing(const OpCall &) {
  return kernelOf([](const Buffers &) {});
}

} // namespace

std::vector<OpInfo> conversionOps() {
  using enum AttributeKind;
  return {
      {"ttnn.to_layout", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.to_memory_config", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.to_tensor_spec", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.to_device", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.from_device", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.to_dtype", 1, 1, 1, {}, makeMove, nullptr, traffic},
      {"ttnn.deallocate", 1, 1, 0, {optional("force", Bool)}, makeNothing, nullptr, noCost},
  };
}

} // namespace tt::ttnn
