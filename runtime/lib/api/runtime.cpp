//===- runtime.cpp - open a mesh, run a program ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/runtime/runtime.h"
#include "api/trace.h"
#include "api/unchanged.h"
#include "kernels/creation/tensor_file.h"
#include "metal/execute.h"
#include "program/executable.h"
#include "program/loop_limit.h"
#include "program/pipeline.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

#include <cstring>
#include <utility>

namespace tt::runtime {
namespace {

/// Hooks are replaced as a whole: a run keeps those with which it began.
struct HookTable {
  ForkMutex mutex{3};
  std::shared_ptr<const Hooks> current;
};
HookTable &hookTable() {
  static HookTable *table = new HookTable; // outlives threads that still run at exit
  return *table;
}

/// The reports of the last run on each device. The previous report is reused if no caller holds it.
class Reports {
public:
  std::shared_ptr<RunReport> begin(const Device &device) {
    std::lock_guard lock(mutex);
    if (!device->kept) {
      auto created = std::make_shared<OfDevice>();
      created->spare = create(); // for the second run
      device->kept = std::move(created);
    } else if (std::shared_ptr<RunReport> spare = std::move(of(device)->spare))
      return spare;
    return create();
  }
  void end(const Device &device, std::shared_ptr<RunReport> report) {
    // Without names of its ops, it need not keep the binary, and with it the prepared weights.
    if (report->ops.empty() && report->stages.empty())
      report->binary = {};
    std::shared_ptr<RunReport> old; // freed behind the lock: with it may go a binary
    std::lock_guard lock(mutex);
    OfDevice *const found = of(device);
    if (!found)
      return; // closed meanwhile
    old = std::exchange(found->last, std::move(report));
    if (old && old.use_count() == 1) {
      *old = RunReport();
      found->spare = std::move(old);
    }
  }
  std::shared_ptr<const RunReport> last(const Device &device) {
    std::lock_guard lock(mutex);
    const OfDevice *const found = of(device);
    return found ? found->last : nullptr;
  }
  void forget(const Device &device) {
    std::shared_ptr<void> old;
    std::lock_guard lock(mutex);
    old = std::move(device->kept);
  }

private:
  /// Kept with the device, and with it the binary of a run that was recorded.
  struct OfDevice {
    std::shared_ptr<RunReport> last, spare;
  };
  static OfDevice *of(const Device &device) { return static_cast<OfDevice *>(device->kept.get()); }
  static std::shared_ptr<RunReport> create() { return std::make_shared<RunReport>(); }
  ForkMutex mutex{3};
};
Reports &reports() {
  static Reports *table = new Reports;
  return *table;
}

std::shared_ptr<const Hooks> currentHooks() {
  std::lock_guard lock(hookTable().mutex);
  return hookTable().current;
}

std::string meshText(std::span<const uint32_t> mesh) { return std::to_string(mesh[0]) + "x" + std::to_string(mesh[1]); }

void requireMatch(const Binary &binary, const Program &program, const Device &device) {
  const Arch arch = binary.systemDesc().arch;
  if (arch != Arch::None && arch != device->chip().arch)
    throw DeviceError(binary.fileName() + " was compiled for " + std::string(toString(arch)) + ", but device " +
                      std::to_string(device->id()) + " is " + std::string(toString(device->chip().arch)));
  // A program for one chip runs on every chip of a mesh in the same way.
  if (program.devices() != 1 && (program.meshShape[0] != device->rows() || program.meshShape[1] != device->columns()))
    throw DeviceError("program \"" + std::string(program.name) + "\" was compiled for a mesh of " +
                      meshText(program.meshShape) + ", but device " + std::to_string(device->id()) + " is " +
                      meshText(device->meshShape()) + "; open it with mesh_shape [" +
                      std::to_string(program.meshShape[0]) + ", " + std::to_string(program.meshShape[1]) + "]");
}

TensorSpec hostSpec(Shape shape, DataType dtype) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  (void)spec.bytes();
  return spec;
}

} // namespace

//===- Devices ------------------------------------------------------------===//

Device openMeshDevice(const sim::MeshOptions &options) {
  (void)ttnn::mostPackedBytes(); // reports a wrong setting with the first use
  Device device = sim::MeshDevice::open(options, sim::worldRanks());
  sim::publish(*device);
  return device;
}

void closeMeshDevice(const Device &device) {
  if (!device)
    throw DeviceError("close: no device");
  const auto parts = device->subMeshes();
  device->close();
  for (const Device &closed : parts)
    reports().forget(closed);
  reports().forget(device);
}

Device createSubMeshDevice(const Device &parent, const sim::Rectangle &rectangle) {
  if (!parent)
    throw DeviceError("create a sub-mesh: no device");
  return parent->createSubMesh(rectangle);
}

std::vector<Device> subMeshDevices(const Device &parent) {
  if (!parent)
    throw DeviceError("sub-meshes: no device");
  return parent->subMeshes(sim::MeshDevice::Holder::User);
}

void releaseSubMeshDevice(const Device &subMesh) {
  if (!subMesh)
    throw DeviceError("release: no device");
  if (!subMesh->parent())
    throw DeviceError("release: device " + std::to_string(subMesh->id()) + " is no sub-mesh; close it instead");
  closeMeshDevice(subMesh);
}

//===- Tensors ------------------------------------------------------------===//

Tensor createHostTensor(const void *data, Shape shape, DataType dtype) {
  Tensor tensor = Tensor::onHost(hostSpec(std::move(shape), dtype));
  if (tensor.bytes()) {
    if (!data)
      throw Error("a host tensor of shape " + toString(tensor.shape()) + " was given no data");
    std::memcpy(tensor.data(), data, tensor.bytes());
  }
  return tensor;
}

Tensor createHostTensor(const void *data, Shape shape, const std::vector<int64_t> &stride, DataType dtype) {
  if (stride.size() != shape.size())
    throw Error("shape " + toString(shape) + " has " + std::to_string(shape.size()) + " dimensions, but stride has " +
                std::to_string(stride.size()));
  Tensor tensor = Tensor::onHost(hostSpec(std::move(shape), dtype));
  const size_t size = storageBytes(dtype);
  const int64_t elements = volume(tensor.shape());
  if (!elements)
    return tensor;
  if (!data)
    throw Error("a host tensor of shape " + toString(tensor.shape()) + " was given no data");
  const size_t rank = tensor.shape().size();
  int64_t contiguous = 1;
  bool plain = true;
  for (size_t i = rank; i-- > 0;) {
    plain = plain && (tensor.shape()[i] == 1 || stride[i] == contiguous);
    contiguous *= tensor.shape()[i];
  }
  if (plain) {
    std::memcpy(tensor.data(), data, tensor.bytes());
    return tensor;
  }
  const auto *from = static_cast<const std::byte *>(data);
  std::byte *to = tensor.data();
  std::vector<int64_t> index(rank, 0);
  int64_t offset = 0;
  for (int64_t element = 0; element < elements; ++element, to += size) {
    std::memcpy(to, from + offset * static_cast<int64_t>(size), size);
    for (size_t i = rank; i-- > 0;) {
      offset += stride[i];
      if (++index[i] < tensor.shape()[i])
        break;
      offset -= stride[i] * index[i];
      index[i] = 0;
    }
  }
  return tensor;
}

Tensor createBorrowedHostTensor(void *data, Shape shape, DataType dtype) {
  if (reinterpret_cast<uintptr_t>(data) % storageBytes(dtype) != 0)
    throw Error("borrowed data for a tensor of " + std::string(toString(dtype)) + " is not aligned to " +
                std::to_string(storageBytes(dtype)) + " bytes; create an owned tensor instead");
  std::byte *const shard = static_cast<std::byte *>(data);
  return Tensor::borrow(hostSpec(std::move(shape), dtype), {&shard, 1});
}

Tensor createMultiDeviceHostTensor(std::span<const Tensor> shards, std::vector<uint32_t> meshShape) {
  if (shards.empty())
    throw Error("a multi-device tensor needs at least one shard");
  Tensor::Shards data;
  for (size_t i = 0; i < shards.size(); ++i) {
    shards[i].requireAllocated("create_multi_device_host_tensor");
    if (shards[i].shape() != shards[0].shape() || shards[i].dtype() != shards[0].dtype() || shards[i].shards() != 1)
      throw Error("shard " + std::to_string(i) + " is " + toString(shards[i].shape()) + " of " +
                  std::string(toString(shards[i].dtype())) + ", but shard 0 is " + toString(shards[0].shape()) +
                  " of " + std::string(toString(shards[0].dtype())));
    data.push_back(shards[i].share());
  }
  if (meshShape.empty())
    meshShape = {1, static_cast<uint32_t>(shards.size())};
  return Tensor::fromShards(shards[0].spec(), std::move(data), std::move(meshShape));
}

Tensor createEmptyTensor(const Device &device, TensorSpec spec) {
  if (spec.memory.buffer == BufferType::SystemMemory)
    return Tensor::onHost(std::move(spec));
  if (!device)
    throw DeviceError("create_empty_tensor: no device");
  return Tensor::onDevice(std::move(spec), device, "an empty tensor");
}

TensorSpec inputSpec(const Binary &binary, size_t program, size_t input) {
  const Program &found = binary.program(program);
  if (input >= found.inputs.size())
    throw Error("program \"" + std::string(found.name) + "\" has " + std::to_string(found.inputs.size()) +
                " inputs; there is no input " + std::to_string(input));
  return found.spec(found.inputs[input]);
}

void dumpTensor(const Tensor &tensor, const std::string &path) {
  tensor.requireAllocated("dump_tensor");
  ttnn::writeTensorFile(path, tensor);
}

Tensor loadTensor(const std::string &path, const Device &device) {
  Tensor tensor = ttnn::readTensorFile(path);
  if (!device)
    return tensor;
  TensorSpec spec = tensor.spec();
  spec.memory.buffer = BufferType::DRAM;
  spec.memory.layout = MemoryLayout::Interleaved;
  return toLayout(tensor, device, spec);
}

Tensor toLayout(const Tensor &given, const Device &device, const TensorSpec &spec) {
  given.requireAllocated("to_layout");
  const bool isToHost = spec.memory.buffer == BufferType::SystemMemory;
  const Tensor tensor = isToHost ? given.gathered("to_layout") : given;
  const Tensor rounded = castTensor(tensor, spec.dtype);
  TensorSpec requested = spec;
  requested.shape = tensor.shape();
  requested.distributed = tensor.shards() > 1;
  Tensor::Shards shards;
  for (size_t i = 0; i < rounded.shards(); ++i)
    shards.push_back(rounded.share(i));
  if (isToHost) {
    // A copy, because the owner of a host tensor may write to it.
    Tensor copy = Tensor::onHost(requested, tensor.meshShape());
    for (size_t i = 0; i < shards.size() && copy.bytes(); ++i)
      std::memcpy(copy.data(i), shards[i].get(), copy.bytes());
    return copy;
  }
  if (!device)
    throw DeviceError("to_layout: no device");
  sim::endIfReset(*device);
  device->requireOpen("to_layout");
  if (requested.distributed && tensor.meshShape() != device->meshShape())
    throw DeviceError("to_layout: the tensor is distributed over a mesh of " + meshText(tensor.meshShape()) +
                      ", but device " + std::to_string(device->id()) + " is " + meshText(device->meshShape()));
  Tensor moved = Tensor::onDevice(requested, device, "tensor " + toString(requested.shape) + " moved by to_layout");
  for (size_t i = 0; i < shards.size() && moved.bytes(); ++i)
    if (moved.has(i))
      std::memcpy(moved.data(i), shards[i].get(), moved.bytes());
  return moved;
}

std::vector<Tensor> toHost(const Tensor &given, bool untilize) {
  const Tensor tensor = given.gathered("to_host");
  std::vector<Tensor> result;
  for (size_t i = 0; i < tensor.shards(); ++i) {
    TensorSpec spec = tensor.spec();
    if (untilize) {
      spec.layout = Layout::RowMajor;
      // The stored values of a block format are bf16.
      if (sim::isBlockFormat(spec.dtype))
        spec.dtype = DataType::BFloat16;
    }
    result.push_back(tensor.shard(i).withSpec(std::move(spec)));
  }
  return result;
}

void copyData(void *to, const Tensor &from, std::optional<DataType> dtype) {
  const Tensor one = from.single("memcpy");
  const Tensor rounded = dtype ? castTensor(one, *dtype) : one;
  if (rounded.bytes()) {
    if (!to)
      throw Error("memcpy: the destination is null");
    std::memcpy(to, rounded.data(), rounded.bytes());
  }
}

void copyData(const Tensor &to, const Tensor &from) {
  to.requireAllocated("memcpy");
  from.requireAllocated("memcpy");
  if (to.shape() != from.shape() || (to.shards() != from.shards() && to.shards() != 1 && from.shards() != 1))
    throw Error("memcpy: the destination is " + toString(to.shape()) + " in " + std::to_string(to.shards()) +
                " shards, the source " + toString(from.shape()) + " in " + std::to_string(from.shards()));
  // Either all ranks have the shards of the destination, or all lack some.
  const bool isElsewhere = to.shards() > 1 && !to.description()->partition;
  const Tensor rounded = castTensor(to.shards() == 1 ? from.single("memcpy")
                                    : isElsewhere    ? from.gathered("memcpy")
                                                     : from,
                                    to.dtype());
  for (size_t i = 0; i < to.shards() && to.bytes(); ++i)
    if (to.has(i))
      std::memmove(to.data(i), rounded.data(rounded.shards() == 1 ? 0 : i), to.bytes());
  to.markWritten();
}

//===- Running ------------------------------------------------------------===//

namespace {

/// Runs of the calling thread that are in progress: hooks may submit.
struct UnderWay {
  static thread_local int count;
  UnderWay() { ++count; }
  ~UnderWay() { --count; }
};
thread_local int UnderWay::count = 0;

/// The binary for the sizes of these inputs.
Binary boundTo(const Binary &binary, size_t program, std::span<const Tensor> inputs) {
  if (binary.openSizes().empty())
    return binary;
  std::vector<Shape> shapes;
  for (const Tensor &input : inputs)
    shapes.push_back(input ? input.spec().shape : Shape());
  return binary.bound(program, shapes);
}

Tensors submitted(const Device &device, const Binary &given, size_t program, std::span<const Tensor> inputs) {
  const Binary binary = boundTo(given, program, inputs);
  const Program &found = binary.program(program);
  std::lock_guard running(device->runMutex());
  device->requireOpen("submit");
  const sim::Busy busy(*device);
  requireMatch(binary, found, device);
  if (binary.impl().metal) {
    auto report = reports().begin(device);
    auto outputs = metal::run(device, binary, program, inputs, *report);
    reports().end(device, std::move(report));
    return outputs;
  }
  const auto hooks = currentHooks();
  if (found.pipeline) {
    auto report = reports().begin(device);
    auto outputs = runPipeline(binary, program, device, inputs, hooks.get(), *report);
    reports().end(device, std::move(report));
    return outputs;
  }
  const auto executable = prepare(binary, program, device, hooks ? Mode::Observed : Mode::Fast, inputs);
  auto report = reports().begin(device);
  auto outputs = executable->run(binary, inputs, hooks.get(), *report);
  reports().end(device, std::move(report));
  return outputs;
}

/// A trace keeps tensors, and not the memory of callers that tensors only show.
void requireOwned(const Device &device, std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t shard = 0; inputs[i] && shard < inputs[i].shards(); ++shard)
      if (inputs[i].data(shard) && inputs[i].share(shard).use_count() == 0)
        throw DeviceError("submit: input " + std::to_string(i) + " shows memory of the caller, and device " +
                          std::to_string(device->id()) +
                          " records a trace, which runs again later; expected a tensor that owns its values");
}

} // namespace

Tensors submit(const Device &device, const Binary &binary, size_t program, std::span<const Tensor> inputs,
               const RunOptions &options) {
  if (!device)
    throw DeviceError("submit: no device");
  // Of runs in hooks, the outer run is recorded, which calls hooks again.
  const bool recorded = UnderWay::count == 0 && ttnn::Recorder::records(device);
  if (recorded)
    requireOwned(device, inputs);
  const LoopLimit limit(options.maxLoopIterations);
  if (UnderWay::count == 0)
    sim::endIfReset(*device);
  const UnderWay here;
  try {
    Tensors outputs = submitted(device, binary, program, inputs);
    if (recorded)
      ttnn::Trace::record(device, [=, inputs = Tensors(inputs.begin(), inputs.end())] {
        const Tensors again = submit(device, binary, program, inputs, options);
        for (size_t i = 0; i < again.size(); ++i)
          ttnn::copyValues(again[i], outputs[i], "submit");
      });
    return outputs;
  } catch (const sim::ResetError &) { // between two ops of the run
    if (UnderWay::count == 1)
      sim::endIfReset(*device);
    throw;
  }
}

std::shared_ptr<const RunReport> lastRun(const Device &device) {
  if (!device)
    throw DeviceError("last_run: no device");
  return reports().last(device);
}

RunReport estimate(const Binary &binary, size_t program, const sim::MeshOptions &options) {
  if (binary.impl().metal)
    throw Error(binary.fileName() +
                ": what a TTMetal program takes is known when its kernels have run: submit it and " +
                "look at the report of the run");
  const Device device = sim::MeshDevice::open(options); // by one rank for itself
  requireMatch(binary, binary.program(program), device);
  if (binary.program(program).pipeline)
    return estimatePipeline(binary, program, device);
  const auto executable =
      std::make_unique<Executable>(makePlan(binary.impl(), program, device, Mode::Estimated), device);
  RunReport report = executable->report();
  report.binary = binary;
  executable->memoryPeaks(*device, report.memoryPeak);
  return report;
}

std::vector<BufferLife> memoryMap(const Binary &binary, size_t program, const sim::MeshOptions &options) {
  if (binary.impl().metal)
    throw Error(binary.fileName() + ": memory_map: programs of TTMetal name the addresses of their buffers themselves");
  const Device device = sim::MeshDevice::open(options); // by one rank for itself
  requireMatch(binary, binary.program(program), device);
  if (binary.program(program).pipeline)
    throw Error(binary.fileName() + ": memory_map: program " + std::to_string(program) +
                " has stages; ask for the program of a stage");
  const auto plan = makePlan(binary.impl(), program, device, Mode::Estimated);
  return device->withMemories([&](sim::Memories &memories) { return plan->memory.lives(memories, plan->groupOf); });
}

//===- Hooks --------------------------------------------------------------===//

void setHooks(Hooks hooks) {
  auto table = std::make_shared<const Hooks>(std::move(hooks));
  std::lock_guard lock(hookTable().mutex);
  hookTable().current.swap(table);
}

void clearHooks() {
  std::shared_ptr<const Hooks> old;
  std::lock_guard lock(hookTable().mutex);
  hookTable().current.swap(old);
}

bool hasHooks() { return currentHooks() != nullptr; }

std::vector<TensorRef> opOutputs(const OpContext &op) {
  std::vector<TensorRef> refs;
  for (uint32_t out : op.operation().outs)
    refs.push_back({op.binary, op.program, out});
  return refs;
}

std::vector<TensorRef> opInputs(const OpContext &op) {
  std::vector<TensorRef> refs;
  for (uint32_t in : op.operation().ins)
    if (in != absentOperand)
      refs.push_back({op.binary, op.program, in});
  return refs;
}

} // namespace tt::runtime
