//===- executable.cpp - compile, run and describe programs ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "executable.h"
#include "extensions.h"
#include "functions.h"
#include "interpreter.h"
#include "profiler.h"

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

PJRT_LoadedExecutable *load(PJRT_Client &client, ProgramPtr program) {
  auto loaded = std::make_unique<PJRT_LoadedExecutable>();
  loaded->client = &client;
  const std::vector<int64_t> &expected = program->options.devices;
  for (int64_t id : expected) {
    if (std::ranges::count(expected, id) != 1)
      invalid("the program " + program->compiled.name + " has device " + std::to_string(id) + " for " +
              std::to_string(std::ranges::count(expected, id)) + " partitions; expected each device once");
    loaded->devices.push_back(&deviceById(client, id));
  }
  const int64_t partitions = program->options.partitions;
  if (loaded->devices.empty() && (!program->options.portable || partitions > 1))
    for (int64_t id = 0; id < partitions; ++id)
      loaded->devices.push_back(&deviceById(client, id));
  std::vector<int64_t> ids;
  for (PJRT_Device *device : loaded->devices)
    ids.push_back(device->description->id);
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

ProgramPtr makeProgram(const PJRT_Program &program, std::string_view options, Arch arch) {
  auto made = std::make_shared<Program>();
  made->options = CompileOptions::parse(options);
  made->optionBytes = options;
  made->arch = arch;
  requireOneReplica(made->options);
  made->compiled = compile({program.code, program.code_size}, {program.format, program.format_size}, arch,
                           made->options.partitions, made->options.overrides);
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
      makeProgram(*args.program, {args.compile_options, args.compile_options_size}, args.client->topology->mesh.arch);
  args.executable = load(*args.client, std::move(program));
}

void compileForTopology(PJRT_Compile_Args &args) {
  args.executable = new PJRT_Executable{
      makeProgram(*args.program, {args.compile_options, args.compile_options_size}, args.topology->mesh.arch)};
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
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
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

void loadedExecute(PJRT_LoadedExecutable_Execute_Args &args) {
  PJRT_LoadedExecutable &loaded = *args.executable;
  const Program &program = *loaded.program;
  const std::string &name = program.compiled.name;
  if (loaded.deleted)
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION, "the program " + name + " has been deleted");
  const size_t devices = static_cast<size_t>(program.options.partitions);
  if (args.num_devices != devices)
    invalid("the program " + name + " is to run on " + std::to_string(args.num_devices) + " devices; expected " +
            std::to_string(devices));
  const std::vector<Slot> &expected = program.compiled.arguments;
  if (args.num_args != expected.size())
    invalid("the program " + name + " takes " + std::to_string(expected.size()) + " arguments, and was given " +
            std::to_string(args.num_args));
  if (args.options && (args.options->num_send_ops || args.options->num_recv_ops))
    unimplemented("the program " + name + " sends to the host or receives from it while it runs");
  std::vector<PJRT_Device *> on = loaded.devices;
  if (devices == 1 && args.execute_device)
    on = {args.execute_device};
  if (on.empty())
    on = {&deviceById(*loaded.client, 0)};
  const sim::MeshOptions shape = program.mesh();
  const runtime::Device &mesh = devices == 1 ? on.front()->chip() : loaded.client->mesh(shape.rows, shape.columns);
  std::vector<runtime::Tensor> inputs, parts;
  inputs.reserve(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string what = "argument " + std::to_string(i) + " of " + name;
    const TensorSpec spec = runtime::inputSpec(program.binary, program.main, i);
    TensorSpec own = spec;
    own.distributed = false;
    parts.clear();
    for (size_t d = 0; d < (spec.distributed ? devices : 1); ++d) {
      PJRT_Buffer &buffer = *args.argument_lists[d][i];
      if (buffer.type != expected[i].type || buffer.dims != expected[i].dims)
        invalid(what + " is " + buffer.text() + (devices > 1 ? " on device " + std::to_string(d) : "") + ", expected " +
                shapeText(*expected[i].type, expected[i].dims));
      parts.push_back(argumentTensor(buffer, *on[d], own, what));
    }
    inputs.push_back(devices == 1 ? parts.front() : joined(parts, mesh, spec, what));
  }
  const bool profiled = profiling();
  const int64_t start = profiled ? wallClock() : 0;
  runtime::Tensors results(program.compiled.results.size());
  bool ended = false;
  try {
    const SignalScope signals;
    results = runtime::submit(mesh, program.binary, program.main, inputs);
  } catch (const Interrupted &) {
    ended = takeRaising();
    if (!ended)
      throw;
  }
  if (profiled && !ended)
    for (PJRT_Device *device : on)
      recordRun(*device, name, start, runtime::lastRun(mesh));
  inputs.clear();
  parts.clear();
  std::vector<std::unique_ptr<PJRT_Buffer>> buffers; // by device, then result
  for (size_t d = 0; d < devices; ++d)
    for (size_t i = 0; i < results.size(); ++i) {
      const Slot &slot = program.compiled.results[i];
      if (ended) // nobody sees them: Python raises what ended the run
        buffers.emplace_back(deletedBuffer(*on[d], slot));
      else
        buffers.emplace_back(
            resultBuffer(*on[d], slot, devices == 1 ? std::move(results[i]) : partOf(results[i], d, *on[d])));
    }
  std::span<const int64_t> kept;
  if (args.options)
    kept = {args.options->non_donatable_input_indices, args.options->num_non_donatable_input_indices};
  for (uint32_t donated : program.compiled.donated)
    if (!ended && std::ranges::find(kept, int64_t(donated)) == kept.end())
      for (size_t d = 0; d < devices; ++d)
        deleteBuffer(*args.argument_lists[d][donated]);
  for (size_t d = 0; d < devices; ++d) {
    for (size_t i = 0; i < results.size(); ++i)
      args.output_lists[d][i] = buffers[d * results.size() + i].release();
    if (args.device_complete_events)
      args.device_complete_events[d] = readyEvent();
  }
}

void contextCreate(PJRT_ExecuteContext_Create_Args &args) {
  args.context = reinterpret_cast<PJRT_ExecuteContext *>(new char);
}
void contextDestroy(PJRT_ExecuteContext_Destroy_Args &args) { delete reinterpret_cast<char *>(args.context); }

} // namespace tt::pjrt
