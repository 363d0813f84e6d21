//===- debug.cpp - the ops of the debug dialect ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Places at which somebody looks, with hooks (see tt/runtime/runtime.h). They
// change nothing themselves and take no time on the chip: results are the
// operand under another name, and ops without results do nothing.
//
//===----------------------------------------------------------------------===//

#include "core/op.h"

#include <cstring>

namespace tt::ttnn {
namespace {

/// The result is operand `index`.
class PassKernel final : public Kernel {
public:
  PassKernel(size_t index, size_t bytes) : index(index), bytes(bytes) {}
  void run(const Buffers &buffers) const override {
    if (bytes)
      std::memcpy(buffers.outs[0], buffers.ins[index], bytes);
  }
  int alias() const override { return static_cast<int>(index); }

private:
  size_t index, bytes;
};

template <size_t Index> std::unique_ptr<Kernel> makePass(const OpCall &call) {
  const TensorSpec &in = operand(call, Index), &out = result(call);
  expectResultShape(call, in.shape);
  if (in.dtype != out.dtype)
    fail(call, "the operand is " + std::string(toString(in.dtype)) + " and the result " +
                   std::string(toString(out.dtype)) + "; expected the same type");
  return std::make_unique<PassKernel>(Index, out.bytes());
}

std::unique_ptr<Kernel> makeNothing(const OpCall &) {
  return kernelOf([](const Buffers &) {});
}

} // namespace

std::vector<OpInfo> debugOps() {
  return {
      {"debug.annotate", makePass<0>, nullptr, noCost},        {"debug.begin_trace", makePass<0>, nullptr, noCost},
      {"debug.end_trace", makePass<0>, nullptr, noCost},       {"debug.hook", makePass<0>, nullptr, noCost},
      {"debug.profiler_end", makePass<0>, nullptr, noCost},    {"debug.profiler_start", makePass<0>, nullptr, noCost},
      {"debug.region_end", makePass<0>, nullptr, noCost},      {"debug.region_start", makePass<0>, nullptr, noCost},
      {"debug.snapshot", makePass<0>, nullptr, noCost},        {"debug.timestamp", makePass<0>, nullptr, noCost},
      {"debug.breakpoint", makeNothing, nullptr, noCost},      {"debug.dump", makeNothing, nullptr, noCost},
      {"debug.memory_snapshot", makeNothing, nullptr, noCost}, {"debug.print", makeNothing, nullptr, noCost},
      {"debug.overwrite", makePass<1>, nullptr, noCost},
  };
}

} // namespace tt::ttnn
