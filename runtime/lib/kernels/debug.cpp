//===- debug.cpp - the ops of the debug dialect ----------------------------===//
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

OpInfo mark(std::string_view name, std::vector<AttributeSpec> attributes = {}) {
  return {name, 1, 1, 1, std::move(attributes), makePass<0>, nullptr, noCost};
}

OpInfo effect(std::string_view name, std::vector<AttributeSpec> attributes = {}) {
  return {name, 1, 1, 0, std::move(attributes), makeNothing, nullptr, noCost};
}

} // namespace

std::vector<OpInfo> debugOps() {
  using enum AttributeKind;
  return {
      mark("debug.annotate", {required("annotation", String)}),
      mark("debug.begin_trace", {required("trace_id", String)}),
      mark("debug.end_trace", {required("trace_id", String)}),
      mark("debug.hook"),
      mark("debug.profiler_end", {required("scope_id", String)}),
      mark("debug.profiler_start", {required("scope_id", String)}),
      mark("debug.region_end", {required("region_id", String)}),
      mark("debug.region_start", {required("region_id", String)}),
      mark("debug.snapshot"),
      mark("debug.timestamp"),
      effect("debug.breakpoint"),
      effect("debug.dump", {required("file_path", String)}),
      effect("debug.memory_snapshot", {required("file_path", String)}),
      effect("debug.print", {required("message", String)}),
      {"debug.overwrite", 2, 2, 1, {}, makePass<1>, nullptr, noCost},
  };
}

} // namespace tt::ttnn
