//===- debug.cpp - the ops of the debug dialect ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Points for inspection by hooks (see tt/runtime/runtime.h). They change nothing themselves and take no time on the
// chip: results are aliases of the operand, and ops without results do nothing.
//
//===----------------------------------------------------------------------===//

#include "core/native_code.h"
#include "core/op.h"
#include "tt/ttnn/host_call.h"

#include <cstring>
#include <memory>
#include <mutex>

namespace tt::ttnn {
namespace {

std::mutex hostCallerMutex;
std::shared_ptr<const HostCaller> hostCaller;

class HostCallKernel final : public Kernel {
public:
  explicit HostCallKernel(const OpCall &call)
      : function(call.attributes.get<std::string>("function")), outs(call.outs) {
    for (size_t i = 0; i < call.ins.size(); ++i)
      ins.push_back(operand(call, i));
  }
  void run(const Buffers &buffers) const override {
    std::shared_ptr<const HostCaller> caller;
    {
      std::lock_guard lock(hostCallerMutex);
      caller = hostCaller;
    }
    if (!caller || !*caller)
      throw OpError("debug.host_call: this process knows no function of the host, and the program calls \"" + function +
                    "\"; it runs in the process that created it");
    std::vector<HostArray> given, expected;
    for (size_t i = 0; i < ins.size(); ++i)
      given.push_back({&ins[i], const_cast<std::byte *>(buffers.ins[i])});
    for (size_t i = 0; i < outs.size(); ++i)
      expected.push_back({&outs[i], buffers.outs[i]});
    (*caller)(function, given, expected);
  }

private:
  std::string function;
  std::vector<TensorSpec> ins, outs;
};

/// A function of the file's own machine code.
class NativeCallKernel final : public Kernel {
public:
  explicit NativeCallKernel(const OpCall &call)
      : function(call.attributes.get<std::string>("function")), ins(call.ins.size()), outs(call.outs.size()) {
    for (size_t i = 0; i < ins; ++i)
      bytes.push_back(operand(call, i).bytes());
    for (const TensorSpec &out : call.outs)
      bytes.push_back(out.bytes());
  }
  void run(const Buffers &buffers) const override {
    // Looked up at run time: a program may be prepared, and its costs estimated, without permission.
    const NativeFunction called = nativeFunction(function, bytes);
    std::vector<void *> tensors;
    for (size_t i = 0; i < ins; ++i)
      tensors.push_back(const_cast<std::byte *>(buffers.ins[i]));
    for (size_t i = 0; i < outs; ++i)
      tensors.push_back(buffers.outs[i]);
    called(tensors.data());
  }

private:
  std::string function;
  size_t ins, outs;
  std::vector<uint64_t> bytes;
};

std::unique_ptr<Kernel> makeHostCall(const OpCall &call) {
  if (isNative(call.attributes.get<std::string>("function")))
    return std::make_unique<NativeCallKernel>(call);
  return std::make_unique<HostCallKernel>(call);
}

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

void setHostCaller(HostCaller caller) {
  auto created = std::make_shared<const HostCaller>(std::move(caller));
  std::lock_guard lock(hostCallerMutex);
  hostCaller.swap(created);
}

std::vector<OpInfo> debugOps() {
  return {
      {"debug.annotate", makePass<0>},        {"debug.begin_trace", makePass<0>},
      {"debug.end_trace", makePass<0>},       {"debug.hook", makePass<0>},
      {"debug.profiler_end", makePass<0>},    {"debug.profiler_start", makePass<0>},
      {"debug.region_end", makePass<0>},      {"debug.region_start", makePass<0>},
      {"debug.snapshot", makePass<0>},        {"debug.timestamp", makePass<0>},
      {"debug.breakpoint", makeNothing},      {"debug.dump", makeNothing},
      {"debug.memory_snapshot", makeNothing}, {"debug.print", makeNothing},
      {"debug.overwrite", makePass<1>},       {"debug.host_call", makeHostCall},
  };
}

} // namespace tt::ttnn
