//===- read.cpp - from a verified TTMetal flatbuffer to checked programs --===//
// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffers' Verifier has shown that every offset, vector and string is inside the file. Here its meaning is checked:
// running it relies on nothing unchecked, except the source of kernels, which is code.
//
//===----------------------------------------------------------------------===//

#include "binary/metal/checker.h"
#include "binary/metal/image.h"
#include "tt/sim/device.h"
#include "tt/sim/host.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace tt::metal {
namespace {

class Reader {
public:
  explicit Reader(runtime::BinaryImage &binary) : binary(binary), image(*binary.metal) {
    place.file = binary.name;
    place.budget = std::max(files::maxItems, binary.bytes.size());
  }

  void read(const fb::TTMetalBinary &root) {
    binary.system = root.system_desc();
    runtime::readSystem(binary);
    if (binary.systemDesc.arch == Arch::None)
      place.fail("system_desc.chips", "is empty", "the chips that it was compiled for");
    try {
      image.chip = &sim::chip(binary.systemDesc.arch);
    } catch (const Error &error) {
      throw BinaryError(binary.name + ": " + error.what());
    }
    const auto *programs = root.programs();
    if (!count(programs))
      place.fail("programs", "is empty", "at least one program");
    std::vector<runtime::Program> all(programs->size());
    image.programs.resize(programs->size());
    for (uint32_t i = 0; i < programs->size(); ++i)
      readProgram(*programs->Get(i), all[i], image.programs[i]);
    binary.programs = runtime::SharedList(std::move(all));
    std::vector<Kernel *> kernels;
    for (Program &program : image.programs)
      for (Command &command : program.commands)
        if (auto *enqueue = std::get_if<EnqueueProgram>(&command.what))
          for (Kernel &kernel : enqueue->kernels)
            kernels.push_back(&kernel);
    numberKernels(kernels, image.entries);
  }

private:
  enum class State : uint8_t { Undefined, Live, Gone };
  struct Known {
    uint32_t index;
    State state;
  };

  void readProgram(const fb::Program &from, runtime::Program &to, Program &metal) {
    place.program = from.name()->str();
    known.clear();
    live = {};
    program = &metal;
    to.name = text(from.name());
    to.isPrivate = from.private_();
    to.meshShape = {1, 1};
    if (const auto *mesh = from.mesh_shape()) {
      if (mesh->y() < 1 || mesh->x() < 1 || int64_t(mesh->y()) * mesh->x() > int64_t(sim::maxChips))
        place.fail("mesh_shape", "is " + std::to_string(mesh->y()) + "x" + std::to_string(mesh->x()),
                   "1 to " + std::to_string(sim::maxChips) + " devices");
      to.meshShape = {static_cast<uint32_t>(mesh->y()), static_cast<uint32_t>(mesh->x())};
    }
    if (count(from.device_programs()) != 1)
      place.fail("device_programs", "has " + std::to_string(count(from.device_programs())) + " entries", "one");
    const fb::DeviceProgram &device = *from.device_programs()->Get(0);
    if (count(device.command_queues()) != 1)
      place.fail("command_queues", "has " + std::to_string(count(device.command_queues())) + " entries", "one");
    const fb::CommandQueue &queue = *device.command_queues()->Get(0);
    metal.queueName = text(queue.name());
    meshShape = to.meshShape;
    for (uint32_t i = 0; i < count(device.inputs()); ++i) {
      const std::string field = "inputs[" + std::to_string(i) + "]";
      metal.inputs.push_back(define(checker().buffer(*device.inputs()->Get(i), field), field, true));
    }
    readCommands(queue);
    readOutputs(device);
    readTensors(from.inputs(), metal.inputs, "inputs", to, to.inputs);
    readTensors(from.outputs(), metal.outputs, "outputs", to, to.outputs);
    place.program.clear();
  }

  /// The tensors that callers see, and the host buffers that hold them.
  void readTensors(const flatbuffers::Vector<flatbuffers::Offset<fb::TensorRef>> *tensors,
                   const std::vector<uint32_t> &buffers, const std::string &which, runtime::Program &to,
                   std::vector<uint32_t> &values) {
    if (count(tensors) != buffers.size())
      place.fail(which, "has " + std::to_string(count(tensors)) + " tensors",
                 std::to_string(buffers.size()) + ", as the device program has");
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      const std::string field = which + "[" + std::to_string(i) + "]";
      const fb::TensorRef &ref = *tensors->Get(i);
      const fb::TensorDesc &desc = place.need(ref.desc(), field + ".desc");
      const auto &layout = place.need(desc.layout(), field + ".desc.layout");
      const auto &memory = place.need(layout.memory_desc(), field + ".desc.layout.memory_desc");
      TensorSpec spec;
      spec.shape = checker().shape(desc.shape(), field + ".desc.shape");
      spec.dtype = checker().dataType(memory.data_type(), field + ".desc.layout.memory_desc.data_type");
      bool isSpread = false;
      for (uint32_t k = 0; k < count(desc.mesh_shape()); ++k)
        isSpread = isSpread || desc.mesh_shape()->Get(k) > 1;
      spec.distributed = isSpread && to.devices() > 1;
      const Buffer &buffer = program->buffers[buffers[i]];
      if (!buffer.onHost || buffer.shape != spec.shape || buffer.dtype != spec.dtype)
        place.fail(field,
                   "is " + toString(spec.shape) + " of " + std::string(toString(spec.dtype)) + ", but its buffer is " +
                       toString(buffer.shape) + " of " + std::string(toString(buffer.dtype)) +
                       (buffer.onHost ? "" : " on the device"),
                   "a host buffer of the same shape and type");
      if (ref.size() != spec.bytes())
        place.fail(field + ".size", "is " + std::to_string(ref.size()), std::to_string(spec.bytes()));
      values.push_back(static_cast<uint32_t>(to.values.size()));
      binary.specs->push_back(std::move(spec));
      to.values.push_back({&binary.specs->back(), {}});
    }
  }

  void readOutputs(const fb::DeviceProgram &device) {
    if (program->commands.empty() || !std::holds_alternative<Return>(program->commands.back().what))
      place.fail("commands", "do not end in a ReturnCommand", "one");
    program->outputs = std::get<Return>(program->commands.back().what).results;
    if (count(device.outputs()) != program->outputs.size())
      place.fail("outputs", "has " + std::to_string(count(device.outputs())) + " buffers",
                 std::to_string(program->outputs.size()) + ", as the ReturnCommand has");
    for (uint32_t i = 0; i < program->outputs.size(); ++i)
      if (device.outputs()->Get(i)->global_id() != program->buffers[program->outputs[i]].id)
        place.fail("outputs[" + std::to_string(i) + "]",
                   "is buffer " + std::to_string(device.outputs()->Get(i)->global_id()),
                   std::to_string(program->buffers[program->outputs[i]].id) + ", as the ReturnCommand has");
  }

  //===- Buffers ----------------------------------------------------------===//

  BufferChecker checker() const { return {place, *image.chip}; }
  static std::string nameOf(const Buffer &buffer) { return "buffer " + std::to_string(buffer.id); }

  uint32_t define(Buffer buffer, const std::string &field, bool onHost) {
    if (buffer.onHost != onHost)
      place.fail(field, std::string("lies on the ") + (buffer.onHost ? "host" : "device"),
                 onHost ? "a host buffer" : "a device buffer");
    if (known.contains(buffer.id))
      place.fail(field, "defines " + nameOf(buffer) + " again", "one definition of each buffer");
    place.spend(1, field);
    const auto index = static_cast<uint32_t>(program->buffers.size());
    if (!onHost) {
      // Existing ones do not overlap: only the last one that begins before the end of this one can.
      auto &memory = live[buffer.inDram];
      const auto after = memory.lower_bound(buffer.address + buffer.bytesPerBank);
      if (after != memory.begin()) {
        const Buffer &resident = program->buffers[std::prev(after)->second];
        if (buffer.address < resident.address + resident.bytesPerBank)
          place.fail(field,
                     "puts " + nameOf(buffer) + " at " + std::to_string(buffer.address) + " for " +
                         std::to_string(buffer.bytesPerBank) + " bytes, where " + nameOf(resident) + " lies at " +
                         std::to_string(resident.address) + " for " + std::to_string(resident.bytesPerBank),
                     "buffers that do not overlap");
      }
      memory.emplace(buffer.address, index);
    }
    known[buffer.id] = {index, State::Live};
    program->buffers.push_back(std::move(buffer));
    return index;
  }

  /// A buffer that was defined before, with the same description.
  uint32_t use(const fb::BufferRef *ref, const std::string &field, bool onHost) {
    place.need(ref, field);
    const auto found = known.find(ref->global_id());
    const std::string name = "is buffer " + std::to_string(ref->global_id());
    if (found == known.end())
      place.fail(field, name + ", which nothing before has defined", "a buffer that was created");
    if (found->second.state == State::Gone)
      place.fail(field, name + ", which was deallocated before", "a buffer that is alive");
    const Buffer &buffer = program->buffers[found->second.index];
    if (buffer.onHost != onHost)
      place.fail(field, name + " on the " + (buffer.onHost ? "host" : "device"),
                 onHost ? "a host buffer" : "a device buffer");
    if (!onHost && ref->address() != buffer.address)
      place.fail(field + ".address", "is " + std::to_string(ref->address()),
                 std::to_string(buffer.address) + ", where the buffer was created");
    return found->second.index;
  }

  //===- Commands ---------------------------------------------------------===//

  void readCommands(const fb::CommandQueue &queue) {
    const auto *commands = queue.commands();
    if (count(commands) > maxCommands)
      place.fail("commands", "has " + std::to_string(commands->size()) + " entries",
                 "at most " + std::to_string(maxCommands));
    for (uint32_t i = 0; i < count(commands); ++i) {
      const fb::Command &from = *commands->Get(i);
      place.step = "command " + std::to_string(i) + " (" + fb::EnumNameCommandType(from.type_type()) + ")";
      if (!from.type())
        place.fail("type", "has no value", "a command");
      if (!program->commands.empty() && std::holds_alternative<Return>(program->commands.back().what))
        place.fail("type", "comes after the ReturnCommand", "nothing");
      Command &to = program->commands.emplace_back();
      to.loc = text(from.loc());
      to.debug = text(from.debug_info());
      readCommand(from, to);
      place.step.clear();
    }
  }

  void readCommand(const fb::Command &from, Command &to) {
    switch (from.type_type()) {
    case fb::CommandType::HostAllocCommand:
      to.what = readHostAlloc(*from.type_as_HostAllocCommand());
      return;
    case fb::CommandType::ReturnCommand: {
      Return result;
      const auto *results = from.type_as_ReturnCommand()->results();
      for (uint32_t i = 0; i < count(results); ++i)
        result.results.push_back(use(results->Get(i), "results[" + std::to_string(i) + "]", true));
      to.what = std::move(result);
      return;
    }
    case fb::CommandType::EnqueueProgramCommand:
      to.what = readEnqueueProgram(*from.type_as_EnqueueProgramCommand());
      return;
    case fb::CommandType::EnqueueWriteBufferCommand: {
      const auto &command = *from.type_as_EnqueueWriteBufferCommand();
      const WriteBuffer write{use(command.src(), "src", true), use(command.dst(), "dst", false)};
      checkTransfer(write.from, write.to);
      to.what = write;
      return;
    }
    case fb::CommandType::EnqueueReadBufferCommand: {
      const auto &command = *from.type_as_EnqueueReadBufferCommand();
      const ReadBuffer read{use(command.src(), "src", false), use(command.dst(), "dst", true)};
      checkTransfer(read.to, read.from);
      if (!program->buffers[read.to].constant.empty())
        place.fail("dst", "is a constant", "a host buffer to be written");
      to.what = read;
      return;
    }
    case fb::CommandType::CreateBufferCommand:
      to.what = CreateBuffer{
          define(checker().buffer(place.need(from.type_as_CreateBufferCommand()->ref(), "ref"), "ref"), "ref", false)};
      return;
    case fb::CommandType::DeallocateBufferCommand: {
      const auto *ref = from.type_as_DeallocateBufferCommand()->ref();
      to.what = DeallocateBuffer{use(ref, "ref", false)};
      Known &gone = known[ref->global_id()];
      gone.state = State::Gone;
      live[program->buffers[gone.index].inDram].erase(program->buffers[gone.index].address);
      return;
    }
    case fb::CommandType::FinishCommand:
      to.what = Finish{};
      return;
    case fb::CommandType::MeshShardCommand:
      to.what = readMeshShard(*from.type_as_MeshShardCommand());
      return;
    case fb::CommandType::NONE:
      break;
    }
    place.fail("type", "is " + std::to_string(static_cast<unsigned>(from.type_type())), "a command of the schema");
  }

  MeshShard readMeshShard(const fb::MeshShardCommand &from) {
    if (from.shard_type() > fb::MeshShardType::Devices)
      place.fail("shard_type", "is " + std::to_string(static_cast<unsigned>(from.shard_type())),
                 "a type of the schema");
    if (from.shard_direction() > fb::MeshShardDirection::ShardToFullShape)
      place.fail("shard_direction", "is " + std::to_string(static_cast<unsigned>(from.shard_direction())),
                 "a direction of the schema");
    MeshShard to;
    to.joins = from.shard_direction() == fb::MeshShardDirection::ShardToFullShape;
    to.from = use(from.src(), "src", true);
    to.to = define(checker().buffer(place.need(from.dst(), "dst"), "dst"), "dst", true);
    to.mesh = {meshShape[0], meshShape[1]};
    const auto *dims = from.shard_dims();
    if (count(dims) == 1)
      to.mesh = {int64_t(meshShape[0]) * meshShape[1]};
    else if (count(dims) > 2)
      place.fail("shard_dims", "has " + std::to_string(count(dims)) + " entries",
                 "one for each axis of the mesh, or one");
    const Buffer &a = program->buffers[to.from], &b = program->buffers[to.to];
    if (a.dtype != b.dtype)
      place.fail("dst", "is of " + std::string(toString(b.dtype)), std::string(toString(a.dtype)) + ", as src is");
    Shape whole = (to.joins ? a : b).shape;
    const auto rank = static_cast<int64_t>(whole.size());
    to.dims.assign(to.mesh.size(), -1);
    const bool cuts = from.shard_type() == fb::MeshShardType::Devices;
    for (uint32_t axis = 0; cuts && axis < count(dims); ++axis) {
      const int64_t dim = dims->Get(axis);
      if (dim < -1 || dim >= rank)
        place.fail("shard_dims", "has " + std::to_string(dim), "-1 to " + std::to_string(rank - 1));
      to.dims[axis] = dim;
      if (dim >= 0)
        whole[static_cast<size_t>(dim)] *= to.mesh[axis];
    }
    if (whole != (to.joins ? b : a).shape)
      place.fail(to.joins ? "dst" : "src", "has shape " + toString((to.joins ? b : a).shape),
                 toString(whole) + ", the parts of the mesh together");
    return to;
  }

  HostAlloc readHostAlloc(const fb::HostAllocCommand &from) {
    Buffer buffer = checker().buffer(place.need(from.dst(), "dst"), "dst");
    if (const auto *data = from.data()) {
      if (data->size() != buffer.hostBytes())
        place.fail("data", "has " + std::to_string(data->size()) + " bytes",
                   std::to_string(buffer.hostBytes()) + " for " + toString(buffer.shape) + " of " +
                       std::string(toString(buffer.dtype)));
      buffer.constant = {reinterpret_cast<const std::byte *>(data->data()), data->size()};
      if (reinterpret_cast<uintptr_t>(data->data()) % sim::hostAlignment != 0 && data->size()) {
        auto &copy = binary.alignedConstants.emplace_back(sim::allocateHost(data->size(), "a constant"));
        std::memcpy(copy.get(), data->data(), data->size());
        buffer.constant = {copy.get(), data->size()};
      }
      binary.constants.push_back(buffer.constant);
    }
    return {define(std::move(buffer), "dst", true)};
  }

  void checkTransfer(uint32_t host, uint32_t device) const {
    const Buffer &a = program->buffers[host], &b = program->buffers[device];
    if (b.tiled)
      place.fail("element_shape", "is 32x32", "1x1: values are tiled by kernels");
    if (a.dtype != b.dtype)
      place.fail("src",
                 "and dst are of " + std::string(toString(a.dtype)) + " on the host and of " +
                     std::string(toString(b.dtype)) + " on the device",
                 "one type");
    // The host's shape applies; that of the device may have the grid's dimensions before the shard's.
    if (a.rows() > b.gridRows * b.shardRows || a.columns() > b.gridColumns * b.shardColumns)
      place.fail("shard_shape",
                 "is " + std::to_string(b.shardRows) + "x" + std::to_string(b.shardColumns) + " on " +
                     std::to_string(b.gridRows) + "x" + std::to_string(b.gridColumns) + " cores",
                 "shards that cover " + std::to_string(a.rows()) + "x" + std::to_string(a.columns()) + " elements");
  }

  //===- Kernels ----------------------------------------------------------===//

  EnqueueProgram readEnqueueProgram(const fb::EnqueueProgramCommand &from) {
    EnqueueProgram to;
    place.spend(count(from.arg_refs()), "arg_refs");
    for (uint32_t i = 0; i < count(from.arg_refs()); ++i)
      to.buffers.push_back(use(from.arg_refs()->Get(i), "arg_refs[" + std::to_string(i) + "]", false));
    for (uint32_t i = 0; i < count(from.cbs()); ++i)
      to.rings.push_back(readRing(*from.cbs()->Get(i), "cbs[" + std::to_string(i) + "]"));
    std::vector<std::pair<CoreIndex, uint32_t>> taken;
    for (const CircularBuffer &ring : to.rings)
      for (CoreIndex core : ring.ring.cores)
        taken.emplace_back(core, ring.port);
    std::ranges::sort(taken);
    if (const auto twice = std::ranges::adjacent_find(taken); twice != taken.end())
      place.fail("cbs",
                 "has port " + std::to_string(twice->second) + " twice on core " + coreText(*image.chip, twice->first),
                 "one circular buffer per port and core");
    const auto &program = place.need(from.program(), "program");
    const std::string command = place.step;
    for (uint32_t i = 0; i < count(program.kernels()); ++i) {
      const fb::KernelConfig &kernel = *program.kernels()->Get(i);
      place.step = command + ": kernel " + std::to_string(i) + " (" + std::string(text(kernel.symbol())) + ")";
      to.kernels.push_back(KernelChecker(place, *image.chip, this->program->buffers).kernel(kernel, to));
    }
    place.step = command;
    return to;
  }

  CircularBuffer readRing(const fb::CBRef &from, const std::string &field) {
    CircularBuffer ring;
    ring.port = from.port();
    if (ring.port >= maxPorts)
      place.fail(field + ".port", "is " + std::to_string(ring.port), "a number below " + std::to_string(maxPorts));
    const uint32_t index = use(from.buffer_ref(), field + ".buffer_ref", false);
    // The reference's description applies: a buffer may have several views.
    const Buffer seen = checker().buffer(*from.buffer_ref(), field + ".buffer_ref");
    const Buffer &created = program->buffers[index];
    if (created.inDram)
      place.fail(field + ".buffer_ref", "is " + nameOf(created) + " in DRAM", "a buffer in L1");
    if (!seen.ring)
      place.fail(field + ".buffer_ref", "has no circular_buffer_config", "one");
    if (uint64_t(seen.ring->pageBytes) * seen.ring->pages > created.bytesPerCore)
      place.fail(field + ".buffer_ref",
                 "has " + std::to_string(uint64_t(seen.ring->pageBytes) * seen.ring->pages) + " bytes per core",
                 "at most " + std::to_string(created.bytesPerCore) + ", those of " + nameOf(created));
    ring.dtype = seen.dtype;
    ring.address = created.address;
    ring.ring = *seen.ring;
    return ring;
  }

  runtime::BinaryImage &binary;
  Image &image;
  Place place;
  Program *program = nullptr;
  std::vector<uint32_t> meshShape;                  // of the program
  std::map<uint32_t, Known> known;                  // by id
  std::array<std::map<uint64_t, uint32_t>, 2> live; // buffers in L1 and in DRAM, by address
};

} // namespace

std::string_view Command::name() const {
  constexpr std::string_view names[] = {
      "HostAllocCommand",         "CreateBufferCommand",   "DeallocateBufferCommand", "EnqueueWriteBufferCommand",
      "EnqueueReadBufferCommand", "EnqueueProgramCommand", "ReturnCommand",           "FinishCommand",
      "MeshShardCommand"};
  return names[what.index()];
}

bool isMetal(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && flatbuffers::BufferHasIdentifier(bytes.data(), fb::TTMetalBinaryIdentifier(), true);
}

void readImage(runtime::BinaryImage &image) {
  const auto &root =
      files::verifiedRoot<fb::TTMetalBinary>(image.name, image.bytes, target::metalSchemaVersion, " of TTMetal");
  image.schemaVersion = root.schema_version();
  image.version = root.version();
  image.mlir = text(root.mlir());
  image.metal = std::make_shared<Image>();
  Reader(image).read(root);
}

} // namespace tt::metal
