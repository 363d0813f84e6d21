//===- executable.cpp - compile, run and describe programs ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "executable.h"
#include "extensions.h"
#include "functions.h"
#include "interpreter.h"
#include "profiler.h"
#include "tt/sim/host.h"

#include <cstring>

namespace tt::pjrt {
namespace {

/// Hashes bytes to the same value on every machine and in every process (FNV-1a, 64 bits, twice with different starts).
std::string hashText(std::string_view bytes, std::string_view more) {
  std::string text;
  for (uint64_t hash : {0xcbf29ce484222325ull, 0x9ae16a3b2f90404full}) {
    for (std::string_view part : {bytes, more})
      for (char c : part)
        hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    text += digits;
  }
  return text;
}

/// Writes the options on which a program depends; serialized maps would have an unstable order.
std::string textOf(const CompileOptions &options) {
  std::string text = std::to_string(options.replicas) + "x" + std::to_string(options.partitions);
  for (int64_t device : options.devices)
    text += "," + std::to_string(device);
  text += options.portable ? " portable" : "";
  for (const auto &[key, value] : options.overrides)
    text += " " + key + "=" + value;
  return text;
}

void requireOneReplica(const CompileOptions &options) {
  if (options.replicas != 1)
    unimplemented("a program is for " + std::to_string(options.replicas) + " replicas of " +
                  std::to_string(options.partitions) + " partitions; expected 1: JAX splits programs by partitions");
}

/// Returns the devices by partition; none for a program that runs on any.
std::vector<int64_t> devicesOf(const CompileOptions &options) {
  std::vector<int64_t> ids = options.devices;
  if (ids.empty() && options.partitions > 1)
    for (int64_t id = 0; id < options.partitions; ++id)
      ids.push_back(id);
  return ids;
}

/// Returns the processes that have the devices, in the order of their first devices.
std::vector<uint32_t> processesOf(std::span<const int64_t> ids, const PJRT_TopologyDescription &topology) {
  std::vector<uint32_t> found;
  for (int64_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= topology.pointers.size())
      continue; // refused when the program is loaded
    const auto process = static_cast<uint32_t>(topology.pointers[static_cast<size_t>(id)]->process);
    if (std::ranges::find(found, process) == found.end())
      found.push_back(process);
  }
  return found;
}

PJRT_LoadedExecutable *load(PJRT_Client &client, ProgramPtr program) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = &client;
  std::vector<int64_t> ids = devicesOf(program->options);
  const int64_t partitions = program->options.partitions;
  if (ids.empty() && !program->options.portable)
    ids = {client.addressable.front()->description->id};
  for (int64_t id : ids) {
    if (std::ranges::count(ids, id) != 1)
      invalid("the program " + program->compiled.name + " has device " + std::to_string(id) + " for " +
              std::to_string(std::ranges::count(ids, id)) + " partitions; expected each device once");
    PJRT_Device &device = deviceById(client, id);
    loaded->devices.push_back(&device);
    if (client.isAddressable(device))
      loaded->own.push_back(&device);
  }
  if (const auto members = processesOf(ids, *client.topology); members.size() > 1)
    loaded->members = members;
  if (!ids.empty())
    loaded->assignment = serializeAssignment(1, partitions, ids);
  loaded->program = std::move(program);
  return loaded.release();
}

/// Returns the bytes of the slots on the chip, or of those on the host.
int64_t bytesOf(const std::vector<Slot> &slots, bool onHost) {
  int64_t bytes = 0;
  for (const Slot &slot : slots)
    if ((slot.memory != MemoryKind::Device) == onHost)
      bytes += static_cast<int64_t>(elementCount(slot.dims) * slot.type->bytes);
  return bytes;
}

} // namespace

ProgramPtr finish(std::shared_ptr<Program> program) {
  Compiled &compiled = program->compiled;
  program->binary = runtime::Binary::load(std::as_bytes(std::span(compiled.flatbuffer)), nullptr, compiled.name);
  const auto &programs = program->binary.programs();
  const auto main = std::ranges::find_if(programs, [](const auto &found) { return found.name == "main"; });
  if (main == programs.end())
    invalid("the program of " + compiled.name + " has no function main");
  program->main = static_cast<size_t>(main - programs.begin());
  if (main->inputs.size() != compiled.arguments.size() || main->outputs.size() != compiled.results.size())
    throw PluginError(PJRT_Error_Code_INTERNAL, "the program of " + compiled.name + " takes " +
                                                    std::to_string(main->inputs.size()) + " arguments and gives " +
                                                    std::to_string(main->outputs.size()) + " results, expected " +
                                                    std::to_string(compiled.arguments.size()) + " and " +
                                                    std::to_string(compiled.results.size()));
  for (const Slot &slot : compiled.results) {
    program->types.push_back(slot.type->type);
    program->dims.insert(program->dims.end(), slot.dims.begin(), slot.dims.end());
    program->ranks.push_back(slot.dims.size());
    program->memoryKinds.push_back(nameOf(slot.memory).data());
    program->memoryKindSizes.push_back(nameOf(slot.memory).size());
  }
  const auto list = [](const std::vector<Slot> &slots, Program::Shardings &shardings,
                       std::vector<const void *> &layouts) {
    for (const Slot &slot : slots) {
      layouts.push_back(layoutOf(slot.order, slot.dims.size()));
      if (!slot.sharding.empty())
        shardings.bytes.push_back(slot.sharding.data()), shardings.sizes.push_back(slot.sharding.size());
    }
  };
  list(compiled.arguments, program->argumentShardings, program->argumentLayouts);
  list(compiled.results, program->resultShardings, program->resultLayouts);
  program->fingerprint = hashText(compiled.flatbuffer, textOf(program->options));
  return program;
}

ProgramPtr makeProgram(const PJRT_Program &program, std::string_view options,
                       const PJRT_TopologyDescription &topology) {
  const Arch arch = topology.mesh.arch;
  auto made = std::make_shared<Program>();
  made->options = CompileOptions::parse(options);
  made->optionBytes = options;
  made->arch = arch;
  requireOneReplica(made->options);
  made->compiled = compile({program.code, program.code_size}, {program.format, program.format_size}, arch,
                           made->options.partitions, made->options.overrides,
                           /*places=*/processesOf(devicesOf(made->options), topology).size() < 2);
  ProgramPtr finished = finish(std::move(made));
  // Compiled here; a serialized program may come from elsewhere.
  finished->binary.allowNative();
  return finished;
}

sim::MeshOptions Program::mesh() const {
  sim::MeshOptions options;
  options.arch = arch;
  if (this->options.partitions > 1) {
    const runtime::Program &program = binary.program(main);
    options.rows = program.meshShape[0], options.columns = program.meshShape[1];
  }
  return options;
}

const runtime::RunReport &Program::cost() const {
  std::call_once(estimated, [&] { report = runtime::estimate(binary, main, mesh()); });
  return report;
}

const std::string &Program::text() const {
  // JAX reads StableHLO, not TTNN: for a program for one device, this is its source.
  if (options.partitions <= 1)
    return compiled.source;
  std::call_once(written, [&] { ofDevice = deviceProgram(compiled); });
  return ofDevice;
}

const std::vector<PJRT_NamedValue> &Program::properties() const {
  std::call_once(listed, [&] {
    const runtime::RunReport &run = cost();
    sim::Cost sum;
    for (const runtime::OpPerf &op : run.ops) {
      sum.matmulTiles += op.cost.matmulTiles, sum.fpuTiles += op.cost.fpuTiles, sum.sfpuTiles += op.cost.sfpuTiles;
      sum.dramBytes += op.cost.dramBytes, sum.l1Bytes += op.cost.l1Bytes;
    }
    const double tile = double(sim::tileHeight) * double(sim::tileWidth);
    const auto add = [&](std::string_view name, double value) {
      PJRT_NamedValue row{};
      row.struct_size = PJRT_NamedValue_STRUCT_SIZE;
      row.name = name.data(), row.name_size = name.size();
      row.type = PJRT_NamedValue_kFloat, row.float_value = static_cast<float>(value), row.value_size = 1;
      values.push_back(row);
    };
    // Multiplications and additions of padded tiles: the work of the chip, not that of the shapes.
    add("flops",
        2 * double(sum.matmulTiles) * tile * double(sim::tileWidth) + double(sum.fpuTiles + sum.sfpuTiles) * tile);
    add("bytes accessed", double(sum.dramBytes + sum.l1Bytes));
    add("optimal_seconds", run.deviceNs * 1e-9);
    add("cycles", double(run.cycles));
    add("dram bytes accessed", double(sum.dramBytes));
  });
  return values;
}

//===- Compiling ----------------------------------------------------------===//

void clientCompile(PJRT_Client_Compile_Args &args) {
  ProgramPtr program =
      makeProgram(*args.program, {args.compile_options, args.compile_options_size}, *args.client->topology);
  args.executable = load(*args.client, std::move(program));
}

void compileForTopology(PJRT_Compile_Args &args) {
  args.executable = new PJRT_Executable{
      makeProgram(*args.program, {args.compile_options, args.compile_options_size}, *args.topology)};
}

void executableSerialize(PJRT_Executable_Serialize_Args &args) {
  auto *bytes = new std::string(serialize(*args.executable->program));
  give(*bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable = reinterpret_cast<PJRT_SerializedExecutable *>(bytes);
  args.serialized_executable_deleter = [](PJRT_SerializedExecutable *owned) {
    delete reinterpret_cast<std::string *>(owned);
  };
}

void executableDeserialize(PJRT_Executable_DeserializeAndLoad_Args &args) {
  const std::string_view options = args.overridden_serialized_compile_options
                                       ? std::string_view(args.overridden_serialized_compile_options,
                                                          args.overridden_serialized_compile_options_size)
                                       : std::string_view();
  ProgramPtr program = deserialize({args.serialized_executable, args.serialized_executable_size}, options);
  if (const Arch arch = args.client->topology->mesh.arch; program->arch != arch)
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the program " + program->compiled.name + " was compiled for " +
                          std::string(toString(program->arch)) + ", and the mesh is of " + std::string(toString(arch)));
  args.loaded_executable = load(*args.client, std::move(program));
}

//===- What a program is --------------------------------------------------===//

void executableDestroy(PJRT_Executable_Destroy_Args &args) { delete args.executable; }
void executableName(PJRT_Executable_Name_Args &args) {
  give(args.executable->program->compiled.name, args.executable_name, args.executable_name_size);
}
void executableReplicas(PJRT_Executable_NumReplicas_Args &args) { args.num_replicas = 1; }
void executablePartitions(PJRT_Executable_NumPartitions_Args &args) {
  args.num_partitions = static_cast<size_t>(args.executable->program->options.partitions);
}
void executableOutputs(PJRT_Executable_NumOutputs_Args &args) {
  args.num_outputs = args.executable->program->types.size();
}
void executableCodeSize(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args &args) {
  args.size_in_bytes = static_cast<int64_t>(args.executable->program->compiled.flatbuffer.size());
}
void executableFingerprint(PJRT_Executable_Fingerprint_Args &args) {
  give(args.executable->program->fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
}
void executableCost(PJRT_Executable_GetCostAnalysis_Args &args) {
  const auto &properties = args.executable->program->properties();
  args.properties = properties.data(), args.num_properties = properties.size();
}
void executableMemory(PJRT_Executable_GetCompiledMemoryStats_Args &args) {
  const Program &program = *args.executable->program;
  const runtime::RunReport &run = program.cost();
  const sim::ChipDesc &chip = sim::chip(program.arch);
  const sim::Memories memories(chip, program.mesh(), 0);
  int64_t peak = 0;
  for (sim::Memory memory : {sim::Memory::DRAM, sim::Memory::L1})
    peak += run.memoryPeak[static_cast<size_t>(memory)] * memories.bankCount(memory);
  args.generated_code_size_in_bytes = static_cast<int64_t>(program.compiled.flatbuffer.size());
  args.argument_size_in_bytes = bytesOf(program.compiled.arguments, false);
  args.output_size_in_bytes = bytesOf(program.compiled.results, false);
  args.alias_size_in_bytes = 0;
  args.peak_memory_in_bytes = args.total_size_in_bytes = peak;
  args.temp_size_in_bytes = std::max<int64_t>(0, peak - args.argument_size_in_bytes - args.output_size_in_bytes);
  args.host_argument_size_in_bytes = bytesOf(program.compiled.arguments, true);
  args.host_output_size_in_bytes = bytesOf(program.compiled.results, true);
  args.host_generated_code_size_in_bytes = args.host_alias_size_in_bytes = args.host_temp_size_in_bytes = 0;
}
void executableOutputTypes(PJRT_Executable_OutputElementTypes_Args &args) {
  auto &types = const_cast<std::vector<PJRT_Buffer_Type> &>(args.executable->program->types);
  args.output_types = types.data(), args.num_output_types = types.size();
}
void executableOutputDimensions(PJRT_Executable_OutputDimensions_Args &args) {
  const Program &program = *args.executable->program;
  args.num_outputs = program.ranks.size();
  args.dims = program.dims.data(), args.dim_sizes = program.ranks.data();
}
void executableOutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args &args) {
  const Program &program = *args.executable->program;
  args.num_outputs = program.memoryKinds.size();
  args.memory_kinds = program.memoryKinds.data(), args.memory_kind_sizes = program.memoryKindSizes.data();
}
void executableOptimizedProgram(PJRT_Executable_OptimizedProgram_Args &args) {
  const std::string &source = args.executable->program->text();
  args.program->format = "mlir", args.program->format_size = 4;
  if (!args.program->code) {
    args.program->code_size = source.size();
    return;
  }
  if (args.program->code_size < source.size())
    invalid("the program has " + std::to_string(source.size()) + " bytes, and there is room for " +
            std::to_string(args.program->code_size));
  std::memcpy(args.program->code, source.data(), source.size());
}
void executableCompileOptions(PJRT_Executable_GetCompileOptions_Args &args) {
  auto *bytes = new std::string(args.executable->program->optionBytes);
  give(*bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_compile_options = reinterpret_cast<PJRT_SerializedCompileOptions *>(bytes);
  args.serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions *owned) {
    delete reinterpret_cast<std::string *>(owned);
  };
}

//===- Running ------------------------------------------------------------===//

void loadedDestroy(PJRT_LoadedExecutable_Destroy_Args &args) { delete args.executable; }
void loadedGetExecutable(PJRT_LoadedExecutable_GetExecutable_Args &args) {
  args.executable = new PJRT_Executable{args.loaded_executable->program};
}
void loadedDevices(PJRT_LoadedExecutable_AddressableDevices_Args &args) {
  args.addressable_devices = args.executable->own.data();
  args.num_addressable_devices = args.executable->own.size();
}
void loadedDelete(PJRT_LoadedExecutable_Delete_Args &args) { args.executable->deleted = true; }
void loadedIsDeleted(PJRT_LoadedExecutable_IsDeleted_Args &args) { args.is_deleted = args.executable->deleted; }
void loadedFingerprint(PJRT_LoadedExecutable_Fingerprint_Args &args) {
  give(args.executable->program->fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
}
void loadedDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args &args) {
  auto *bytes = new std::string(args.executable->assignment);
  give(*bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_device_assignment = reinterpret_cast<PJRT_DeviceAssignmentSerialized *>(bytes);
  args.serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized *owned) {
    delete reinterpret_cast<std::string *>(owned);
  };
}

namespace {

/// The devices on which a run is started in this process, and the partition of each.
struct Own {
  std::vector<PJRT_Device *> devices;
  std::vector<size_t> partitions;
};

Own ownDevices(const PJRT_LoadedExecutable &loaded, PJRT_Device *requested) {
  Own own;
  if (loaded.program->options.partitions == 1) {
    own.devices = {requested                ? requested
                   : loaded.devices.empty() ? loaded.client->addressable.front()
                                            : loaded.devices.front()};
    own.partitions = {0};
    return own;
  }
  own.devices = loaded.own;
  for (size_t d = 0; d < loaded.devices.size(); ++d)
    if (loaded.client->isAddressable(*loaded.devices[d]))
      own.partitions.push_back(d);
  return own;
}

/// The arguments of a run, as this process has them.
struct Given {
  TensorSpec spec;
  ttnn::Tensor::Shards shards; // by partition, or one
  runtime::Tensor whole;       // of a program for one device
};

std::vector<Given> givenArguments(const PJRT_LoadedExecutable_Execute_Args &args, const Program &program,
                                  const Own &own) {
  const auto partitions = static_cast<size_t>(program.options.partitions);
  const std::vector<Slot> &expected = program.compiled.arguments;
  std::vector<Given> given(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string what = "argument " + std::to_string(i) + " of " + program.compiled.name;
    const TensorSpec spec = given[i].spec = runtime::inputSpec(program.binary, program.main, i);
    TensorSpec ofDevice = spec;
    ofDevice.distributed = false;
    given[i].shards.resize(spec.distributed ? partitions : 1);
    for (size_t d = 0; d < (spec.distributed ? own.devices.size() : 1); ++d) {
      PJRT_Buffer &buffer = *args.argument_lists[d][i];
      if (buffer.type != expected[i].type || buffer.dims != expected[i].dims)
        invalid(what + " is " + buffer.text() +
                (partitions > 1 ? " on device " + std::to_string(own.partitions[d]) : "") + ", expected " +
                shapeText(*expected[i].type, expected[i].dims));
      runtime::Tensor part = argumentTensor(buffer, *own.devices[d], ofDevice, what);
      given[i].shards[spec.distributed ? own.partitions[d] : 0] = part.share();
      given[i].whole = std::move(part);
    }
  }
  return given;
}

/// Moves shards from the processes whose chips have them to those that simulate their part of the program, or `back`.
/// They are the same if the devices of each process follow one another in the program.
void moveShards(const PJRT_LoadedExecutable &loaded, const runtime::Device &mesh, ttnn::Tensor::Shards &shards,
                size_t bytes, bool back, const std::string &what) {
  const std::shared_ptr<const sim::Partition> &partition = mesh->partition();
  if (!partition || shards.size() == 1)
    return;
  std::vector<sim::Ranks::Send> sends;
  std::vector<sim::Ranks::Receive> receives;
  const uint32_t self = partition->ranks().rank();
  bool moves = false;
  for (uint32_t d = 0; d < shards.size(); ++d) {
    const auto process = static_cast<uint32_t>(loaded.devices[d]->description->process);
    auto from = static_cast<uint32_t>(std::ranges::find(loaded.members, process) - loaded.members.begin());
    uint32_t to = partition->owner(d);
    if (back)
      std::swap(from, to);
    if (from == to)
      continue;
    moves = true;
    if (from == self)
      sends.push_back({to, {shards[d].get(), bytes}});
    if (to == self) {
      shards[d] = sim::allocateHost(bytes, "a shard of another process");
      receives.push_back({from, {shards[d].get(), bytes}});
    }
  }
  if (moves)
    partition->ranks().exchange(sends, receives, what);
}

/// The results of a run that are on devices of this process: by result, then device.
struct Results {
  std::vector<std::vector<runtime::Tensor>> values;
  bool ended = false; // by Python, which raises
};

Results runOn(const PJRT_LoadedExecutable &loaded, const runtime::Device &mesh, std::vector<Given> given,
              const Own &own) {
  const Program &program = *loaded.program;
  const bool isWhole = program.options.partitions == 1;
  Results found;
  std::vector<runtime::Tensor> inputs;
  runtime::Tensors results;
  const bool profiled = profiling();
  const int64_t start = profiled ? wallClock() : 0;
  try {
    const SignalScope signals;
    const SharedCalls calls(mesh->partition() ? &mesh->partition()->ranks() : nullptr);
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string what = "argument " + std::to_string(i) + " of " + program.compiled.name;
      if (!isWhole)
        moveShards(loaded, mesh, given[i].shards, given[i].spec.bytes(), /*back=*/false, what);
      inputs.push_back(isWhole ? std::move(given[i].whole)
                               : joined(std::move(given[i].shards), mesh, given[i].spec, what));
    }
    given.clear();
    results = runtime::submit(mesh, program.binary, program.main, inputs);
    inputs.clear();
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<runtime::Tensor> &parts = found.values.emplace_back();
      if (isWhole) {
        parts.push_back(std::move(results[i]));
        continue;
      }
      ttnn::Tensor::Shards shards;
      for (size_t d = 0; d < results[i].shards(); ++d)
        shards.push_back(results[i].share(d));
      moveShards(loaded, mesh, shards, results[i].bytes(), /*back=*/true, "result " + std::to_string(i));
      for (size_t d = 0; d < own.devices.size(); ++d)
        parts.push_back(partOf(results[i], shards[shards.size() == 1 ? 0 : own.partitions[d]], *own.devices[d]));
    }
  } catch (const Interrupted &) {
    found.ended = takeRaising();
    if (!found.ended)
      throw;
  }
  if (profiled && !found.ended)
    for (PJRT_Device *device : own.devices)
      recordRun(*device, program.compiled.name, start, runtime::lastRun(mesh));
  return found;
}

/// Runs it together with the other processes, which fail if it fails here.
Results runSpanning(const PJRT_LoadedExecutable &loaded, std::vector<Given> given, const Own &own) {
  const Program &program = *loaded.program;
  Processes &processes = *loaded.client->processes;
  Processes::Run run(processes, {program.compiled.name, program.fingerprint});
  const auto failed = [&](const std::string &why) {
    run.failed("process " + std::to_string(processes.index()) + " failed in " + program.compiled.name + ": " + why);
  };
  try {
    const sim::MeshOptions shape = program.mesh();
    Results found =
        runOn(loaded, loaded.client->mesh(shape.rows, shape.columns, loaded.members), std::move(given), own);
    if (found.ended)
      failed("a function of the host has raised, or the program was interrupted");
    return found;
  } catch (...) {
    const std::unique_ptr<PJRT_Error> error(currentError());
    failed(error->message);
    throw;
  }
}

} // namespace

void loadedExecute(PJRT_LoadedExecutable_Execute_Args &args) {
  PJRT_LoadedExecutable &loaded = *args.executable;
  const Program &program = *loaded.program;
  const std::string &name = program.compiled.name;
  if (loaded.deleted)
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION, "the program " + name + " has been deleted");
  const Own own = ownDevices(loaded, args.execute_device);
  const size_t devices = own.devices.size();
  if (args.num_devices != devices)
    invalid("the program " + name + " is to run on " + std::to_string(args.num_devices) + " devices; expected " +
            std::to_string(devices));
  if (args.num_args != program.compiled.arguments.size())
    invalid("the program " + name + " takes " + std::to_string(program.compiled.arguments.size()) +
            " arguments, and was given " + std::to_string(args.num_args));
  if (args.options && (args.options->num_send_ops || args.options->num_recv_ops))
    unimplemented("the program " + name + " sends to the host or receives from it while it runs");
  for (PJRT_Device *device : own.devices)
    requireAddressable(*device, "the program " + name);
  std::vector<Given> given = givenArguments(args, program, own);
  const sim::MeshOptions shape = program.mesh();
  Results found = !loaded.members.empty() ? runSpanning(loaded, std::move(given), own)
                  : program.options.partitions == 1
                      ? runOn(loaded, own.devices.front()->chip(), std::move(given), own)
                      : runOn(loaded, loaded.client->mesh(shape.rows, shape.columns), std::move(given), own);
  const std::vector<Slot> &slots = program.compiled.results;
  std::vector<std::unique_ptr<PJRT_Buffer>> buffers; // by device, then result
  for (size_t d = 0; d < devices; ++d)
    for (size_t i = 0; i < slots.size(); ++i)
      if (found.ended) // nobody sees them: Python raises what ended the run
        buffers.emplace_back(deletedBuffer(*own.devices[d], slots[i]));
      else
        buffers.emplace_back(resultBuffer(*own.devices[d], slots[i], std::move(found.values[i][d])));
  std::span<const int64_t> kept;
  if (args.options)
    kept = {args.options->non_donatable_input_indices, args.options->num_non_donatable_input_indices};
  for (uint32_t donated : program.compiled.donated)
    if (!found.ended && std::ranges::find(kept, int64_t(donated)) == kept.end())
      for (size_t d = 0; d < devices; ++d)
        deleteBuffer(*args.argument_lists[d][donated]);
  for (size_t d = 0; d < devices; ++d) {
    for (size_t i = 0; i < slots.size(); ++i)
      args.output_lists[d][i] = buffers[d * slots.size() + i].release();
    if (args.device_complete_events)
      args.device_complete_events[d] = readyEvent();
  }
}

void contextCreate(PJRT_ExecuteContext_Create_Args &args) {
  args.context = reinterpret_cast<PJRT_ExecuteContext *>(new char);
}
void contextDestroy(PJRT_ExecuteContext_Destroy_Args &args) { delete reinterpret_cast<char *>(args.context); }

} // namespace tt::pjrt
