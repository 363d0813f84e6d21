//===- invoke.cpp - one op at a time, with a cache of kernels ---------------===//

#include "tt/sim/clock.h"
#include "tt/sim/host.h"
#include "tt/ttnn/ops.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <type_traits>

namespace tt::ttnn {
namespace {

/// Kernels kept; the cache starts anew when it is full, which a program with fixed shapes never sees.
constexpr size_t cacheLimit = 4096;

struct Made {
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<MeshKernel> mesh;
  std::shared_ptr<std::byte> scratch;
  Cost cost;
  std::mutex running; // a kernel runs once at a time
};

std::mutex cacheMutex;
std::map<std::string, std::shared_ptr<Made>> &cache() {
  static std::map<std::string, std::shared_ptr<Made>> made;
  return made;
}

//===----------------------------------------------------------------------===//
// Keys: all that a kernel depends on
//===----------------------------------------------------------------------===//

class Key {
public:
  explicit Key(const OpCall &call) {
    add(call.name);
    add(call.ins.size());
    for (const auto &in : call.ins) {
      add(in.has_value());
      if (in)
        add(*in);
    }
    add(call.outs);
    add(call.meshShape);
    for (const NamedAttribute &attribute : call.attributes.all())
      add(attribute);
  }
  std::string text;

private:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>
  void add(T value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void add(const std::string &value) {
    add(value.size());
    text += value;
  }
  template <class T> void add(const std::vector<T> &values) {
    add(values.size());
    for (const T &value : values)
      add(value);
  }
  void add(const TensorSpec &spec) {
    add(spec.dtype);
    add(spec.shape);
    add(spec.layout);
    add(spec.memory.buffer);
    add(spec.memory.layout);
    add(spec.memory.grid);
    add(spec.memory.shardShape);
    add(spec.distributed);
  }
  void add(const ConstantAttribute &value) {
    add(value.bytes.data());
    add(value.bytes.size());
  }
  void add(const EnumAttribute &value) {
    add(value.symbol);
    add(value.value);
  }
  void add(const StructAttribute &value) {
    add(value.type);
    add(value.fields);
  }
  void add(const ListAttribute &value) { add(value.items); }
  void add(const NamedAttribute &attribute) {
    add(attribute.name);
    add(attribute.attribute);
  }
  void add(const Attribute &attribute) {
    add(attribute.value.index());
    std::visit([&](const auto &value) { add(value); }, attribute.value);
  }
};

std::shared_ptr<Made> madeFor(const OpInfo &info, const OpCall &call) {
  Key key(call);
  std::lock_guard lock(cacheMutex);
  if (auto it = cache().find(key.text); it != cache().end())
    return it->second;
  check(info, call);
  auto made = std::make_shared<Made>();
  if (info.make) {
    made->kernel = info.make(call);
    made->scratch = sim::allocateHost(made->kernel->scratchBytes(), "a kernel's scratch memory");
  } else {
    made->mesh = info.makeMesh(call);
  }
  made->cost = info.cost(call);
  if (cache().size() >= cacheLimit)
    cache().clear();
  cache().emplace(std::move(key.text), made);
  return made;
}

/// The device of the operands; they must not lie on different ones.
std::shared_ptr<sim::MeshDevice> deviceOf(std::string_view op, std::span<const Tensor> operands) {
  std::shared_ptr<sim::MeshDevice> device;
  for (const Tensor &operand : operands) {
    if (!operand)
      continue;
    operand.requireAllocated(std::string(op).c_str());
    if (!operand.isOnDevice())
      continue;
    if (device && operand.device() != device)
      throw DeviceError(std::string(op) + ": operands lie on devices " + std::to_string(device->id()) + " and " +
                        std::to_string(operand.device()->id()));
    device = operand.device();
  }
  return device;
}

} // namespace

Tensor invoke(std::string_view op, std::span<const Tensor> operands, std::vector<NamedAttribute> attributes,
              const Shape &shape, const Output &output, std::optional<bool> distributed) {
  const OpInfo *info = findOp(op);
  if (!info)
    throw OpError(std::string(op) + ": no such op");
  const auto device = deviceOf(op, operands);
  OpCall call{std::string(op), {}, {}, Attributes(std::string(op), std::move(attributes)), {1, 1}, {}};
  TensorSpec spec{DataType::Float32, {}, Layout::RowMajor, {}, false};
  std::vector<uint32_t> meshShape = device ? device->meshShape() : std::vector<uint32_t>();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor &tensor = operands[i];
    call.ins.push_back(tensor ? std::optional(tensor.spec()) : std::nullopt);
    if (tensor && tensor.shards() > 1) {
      spec.distributed = true;
      meshShape = tensor.meshShape().empty() ? meshShape : tensor.meshShape();
    }
    if (tensor && i == 0) {
      spec.dtype = tensor.dtype();
      spec.layout = tensor.spec().layout;
    }
    if (tensor && tensor.isOnDevice() && spec.memory.buffer == BufferType::SystemMemory) {
      // A sharded operand's memory would not fit another shape: results are interleaved unless asked for.
      spec.memory.buffer = tensor.spec().memory.buffer;
      spec.memory.layout = MemoryLayout::Interleaved;
    }
  }
  spec.shape = shape;
  spec.dtype = output.dtype.value_or(spec.dtype);
  spec.layout = output.layout.value_or(spec.layout);
  if (device && output.memory)
    spec.memory = *output.memory;
  spec.distributed = distributed.value_or(spec.distributed);
  if (meshShape.size() == 2)
    call.meshShape = meshShape;
  const bool single = call.meshShape[0] == 1 && call.meshShape[1] == 1;
  call.outs.push_back(spec);

  const std::shared_ptr<Made> made = madeFor(*info, call);
  spec.distributed = spec.distributed && !single;
  const bool onHost = !device || (output.memory && output.memory->buffer == BufferType::SystemMemory);
  if (onHost)
    spec.memory = {};
  Tensor result = onHost ? Tensor::onHost(spec, spec.distributed ? call.meshShape : std::vector<uint32_t>())
                         : Tensor::onDevice(spec, device, "result of " + call.name);
  for (const int written : info->writes)
    if (static_cast<size_t>(written) < operands.size() && operands[static_cast<size_t>(written)])
      Tensor(operands[static_cast<size_t>(written)]).unshare();

  std::vector<std::vector<const std::byte *>> ins(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t shard = 0; operands[i] && shard < operands[i].shards(); ++shard)
      ins[i].push_back(operands[i].data(shard));
  std::vector<std::byte *> outs;
  for (size_t shard = 0; shard < result.shards(); ++shard)
    outs.push_back(result.data(shard));

  std::lock_guard lock(made->running);
  if (made->mesh) {
    std::vector<std::span<const std::byte *const>> inSpans(ins.begin(), ins.end());
    const std::span<std::byte *const> outSpan(outs);
    made->mesh->run(inSpans, {&outSpan, 1});
  } else {
    std::vector<const std::byte *> at(operands.size());
    for (size_t shard = 0; shard < outs.size(); ++shard) {
      for (size_t i = 0; i < at.size(); ++i)
        at[i] = ins[i].empty() ? nullptr : ins[i][ins[i].size() == 1 ? 0 : shard];
      made->kernel->run({at, {&outs[shard], 1}, made->scratch.get()});
    }
  }
  if (device) {
    const DataType mathType = call.ins.empty() || !call.ins[0] ? spec.dtype : call.ins[0]->dtype;
    const sim::Duration duration = sim::estimate(device->chip(), made->cost, mathType);
    device->addRun({0, 1, duration.cycles, duration.ns});
  }
  return result;
}

size_t cachedKernels() {
  std::lock_guard lock(cacheMutex);
  return cache().size();
}

void clearKernelCache() {
  std::lock_guard lock(cacheMutex);
  cache().clear();
}

} // namespace tt::ttnn
