//===- MetalBuilder.h - TTMetal flatbuffers for tests ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Builds TTMetal flatbuffers by hand, right ones and wrong ones.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ProgramBuilder.h"

#include <metal_generated.h>

namespace tt::test {

namespace metal = target::metal;

/// A buffer of a program. On the device: one shard on each core of a grid that begins at (0, 0).
struct MetalBuffer {
  uint32_t id = 0;
  Shape shape;
  DataType dtype = DataType::Float32;
  bool onHost = true;
  bool tiled = false;
  bool inDram = false;
  int64_t gridRows = 1, gridColumns = 1, shardRows = 32, shardColumns = 32;
  uint64_t address = 0;
  uint32_t pageBytes = 0, pages = 0; // of the circular buffer that kernels see, or 0

  uint64_t shardBytes() const { return static_cast<uint64_t>(shardRows * shardColumns) * storageBytes(dtype); }
};

/// One flatbuffer of one program; commands in the order of the calls.
class MetalBuilder {
public:
  flatbuffers::FlatBufferBuilder fbb;
  uint32_t schemaVersion = target::metalSchemaVersion;
  target::Arch arch = target::Arch::WormholeB0;
  int32_t gridRows = 1, gridColumns = 1; // of the cores that run kernels
  uint64_t nextAddress = 103712;
  int32_t meshColumns = 1;              // devices; inputs and outputs have a value on each
  std::vector<int32_t> tensorMesh = {}; // of the descriptions of inputs and outputs; empty: {1, meshColumns}

  MetalBuffer host(Shape shape, DataType dtype = DataType::Float32) {
    MetalBuffer buffer;
    buffer.id = nextId++;
    buffer.shape = std::move(shape);
    buffer.dtype = dtype;
    return buffer;
  }
  MetalBuffer input(Shape shape, DataType dtype = DataType::Float32) {
    inputs.push_back(host(std::move(shape), dtype));
    return inputs.back();
  }
  /// A host buffer to read into, or of values.
  MetalBuffer alloc(Shape shape, DataType dtype = DataType::Float32, const std::vector<uint8_t> *data = nullptr) {
    const MetalBuffer buffer = host(std::move(shape), dtype);
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> values;
    if (data) {
      fbb.ForceVectorAlignment(data->size(), 1, 64);
      values = fbb.CreateVector(*data);
    }
    command(metal::CommandType::HostAllocCommand, metal::CreateHostAllocCommand(fbb, ref(buffer), values).Union());
    return buffer;
  }

  /// A device buffer over the program's grid that covers the matrix of `shape`, with a ring of all its tiles; created.
  MetalBuffer device(Shape shape, DataType dtype, bool tiled) {
    MetalBuffer buffer = describe(std::move(shape), dtype, tiled);
    create(buffer);
    return buffer;
  }
  MetalBuffer describe(Shape shape, DataType dtype, bool tiled) {
    MetalBuffer buffer = host(shape, dtype);
    buffer.onHost = false;
    buffer.tiled = tiled;
    buffer.gridRows = gridRows;
    buffer.gridColumns = gridColumns;
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      rows *= shape[i];
    const int64_t columns = shape.empty() ? 1 : shape.back();
    const auto part = [](int64_t n, int64_t cores) {
      return std::max<int64_t>(1, (n + 32 * cores - 1) / (32 * cores)) * 32;
    };
    buffer.shardRows = part(rows, gridRows);
    buffer.shardColumns = part(columns, gridColumns);
    buffer.pageBytes = static_cast<uint32_t>(1024 * storageBytes(dtype));
    buffer.pages = static_cast<uint32_t>(buffer.shardBytes() / buffer.pageBytes);
    buffer.address = nextAddress;
    nextAddress += buffer.shardBytes();
    return buffer;
  }
  void create(const MetalBuffer &buffer) {
    command(metal::CommandType::CreateBufferCommand, metal::CreateCreateBufferCommand(fbb, ref(buffer)).Union());
  }
  void deallocate(const MetalBuffer &buffer) {
    command(metal::CommandType::DeallocateBufferCommand,
            metal::CreateDeallocateBufferCommand(fbb, ref(buffer)).Union());
  }
  void write(const MetalBuffer &from, const MetalBuffer &to) {
    command(metal::CommandType::EnqueueWriteBufferCommand,
            metal::CreateEnqueueWriteBufferCommand(fbb, ref(from), ref(to)).Union());
  }
  void read(const MetalBuffer &from, const MetalBuffer &to) {
    command(metal::CommandType::EnqueueReadBufferCommand,
            metal::CreateEnqueueReadBufferCommand(fbb, ref(from), ref(to)).Union());
  }
  /// Divides host values over the mesh, or joins them.
  void shard(const MetalBuffer &from, const MetalBuffer &to, bool joins, const std::vector<int64_t> &dims,
             metal::MeshShardType type = metal::MeshShardType::Devices) {
    const std::vector<int64_t> shape(from.shape.size(), 1);
    command(metal::CommandType::MeshShardCommand,
            metal::CreateMeshShardCommandDirect(fbb, ref(from), ref(to), type,
                                                joins ? metal::MeshShardDirection::ShardToFullShape
                                                      : metal::MeshShardDirection::FullToShardShape,
                                                &shape, &dims)
                .Union());
  }

  struct Kernel {
    std::string symbol, source;
    bool compute = true;
    bool f32Dst = true, fullDst = false;
    std::vector<uint32_t> ports = {};     // compile-time arguments: indices into the command's circular buffers
    std::vector<uint32_t> constants = {}; // further ones
    std::vector<uint32_t> addresses = {}; // runtime arguments: indices into the command's buffers
    std::vector<uint32_t> accessors = {}; // compile-time arguments of TensorAccessorArgs: the same indices
  };
  /// Kernels on all cores of the grid; circular buffer i is `rings[i]` at port i.
  void program(const std::vector<MetalBuffer> &rings, const std::vector<Kernel> &kernels) {
    std::vector<flatbuffers::Offset<metal::BufferRef>> args;
    std::vector<flatbuffers::Offset<metal::CBRef>> cbs;
    for (const MetalBuffer &ring : rings) {
      args.push_back(ref(ring));
      cbs.push_back(metal::CreateCBRef(fbb, firstPort + static_cast<uint32_t>(cbs.size()), ref(ring)));
    }
    std::vector<flatbuffers::Offset<metal::KernelConfig>> configs;
    for (const Kernel &kernel : kernels)
      configs.push_back(config(kernel));
    const auto desc = metal::CreateProgramDescDirect(fbb, &configs);
    command(metal::CommandType::EnqueueProgramCommand,
            metal::CreateEnqueueProgramCommandDirect(fbb, &args, &cbs, desc).Union());
  }
  uint32_t firstPort = 0;

  void command(metal::CommandType type, flatbuffers::Offset<void> value) {
    const std::string loc = "loc(\"command" + std::to_string(commands.size()) + "\")";
    commands.push_back(metal::CreateCommandDirect(fbb, type, value, loc.c_str(), "command"));
  }

  std::vector<std::byte> finish(const std::vector<MetalBuffer> &outputs) {
    std::vector<flatbuffers::Offset<metal::BufferRef>> results, ins;
    for (const MetalBuffer &output : outputs)
      results.push_back(ref(output));
    for (const MetalBuffer &input : inputs)
      ins.push_back(ref(input));
    command(metal::CommandType::ReturnCommand, metal::CreateReturnCommandDirect(fbb, &results).Union());
    std::vector<flatbuffers::Offset<metal::CommandQueue>> queues = {
        metal::CreateCommandQueueDirect(fbb, "queue0", 0, &commands)};
    std::vector<flatbuffers::Offset<metal::DeviceProgram>> devices = {
        metal::CreateDeviceProgramDirect(fbb, &ins, &results, &queues)};
    auto inRefs = tensors(inputs), outRefs = tensors(outputs);
    const metal::Dim2d mesh(1, meshColumns);
    std::vector<flatbuffers::Offset<metal::Program>> programs = {
        metal::CreateProgramDirect(fbb, "main", &inRefs, &outRefs, &devices, false, &mesh)};
    const std::vector<uint32_t> grid = {8, 8}, meshShape = {1, static_cast<uint32_t>(meshColumns)};
    const std::vector<flatbuffers::Offset<target::ChipDesc>> chips(
        static_cast<size_t>(meshColumns),
        target::CreateChipDescDirect(fbb, arch, &grid, 1499136, 12, 1073741824, 16, 32, 103712, 1024, 1073741824));
    const auto system = target::CreateSystemDescDirect(fbb, &chips, &meshShape);
    const auto root = metal::CreateTTMetalBinaryDirect(fbb, target::CreateVersion(fbb, 0, 1, 0), schemaVersion, system,
                                                       "module {}", &programs);
    metal::FinishSizePrefixedTTMetalBinaryBuffer(fbb, root);
    const auto *data = reinterpret_cast<const std::byte *>(fbb.GetBufferPointer());
    return {data, data + fbb.GetSize()};
  }
  /// Its kernels may run: they are those of the test.
  runtime::Binary load(const std::vector<MetalBuffer> &outputs) {
    const auto binary = runtime::Binary::load(finish(outputs));
    binary.allowNative();
    return binary;
  }

  flatbuffers::Offset<metal::BufferRef> ref(const MetalBuffer &buffer) {
    const std::vector<int32_t> shape(buffer.shape.begin(), buffer.shape.end());
    const int32_t side = buffer.tiled ? 32 : 1;
    const metal::Dim2d element(side, side);
    flatbuffers::Offset<void> detail = buffer.onHost ? metal::CreateSystemBuffer(fbb).Union() : deviceDetail(buffer);
    const auto desc = metal::CreateBufferDescDirect(
        fbb, &shape, static_cast<target::DataType>(buffer.dtype), &element,
        buffer.onHost ? metal::BufferDetail::SystemBuffer : metal::BufferDetail::MetalBuffer, detail);
    return metal::CreateBufferRef(fbb, buffer.id, buffer.address, desc);
  }

private:
  flatbuffers::Offset<void> deviceDetail(const MetalBuffer &buffer) {
    const auto dim = [](int64_t y, int64_t x) {
      return metal::Dim2d(static_cast<int32_t>(y), static_cast<int32_t>(x));
    };
    const std::vector<metal::Dim2dRange> range = {{dim(0, 0), dim(buffer.gridRows, buffer.gridColumns)}};
    const auto shard = dim(buffer.shardRows, buffer.shardColumns), page = dim(32, 32);
    const auto pages = dim(buffer.gridRows * buffer.shardRows / 32, buffer.gridColumns * buffer.shardColumns / 32);
    const auto spec = metal::CreateShardSpecDirect(fbb, &range, &shard);
    const auto specBuffer = metal::CreateShardSpecBuffer(fbb, spec, &page, &pages);
    const auto config = metal::CreateShardedBufferConfig(
        fbb, buffer.shardBytes() * static_cast<uint64_t>(buffer.gridRows * buffer.gridColumns), 1024, specBuffer);
    flatbuffers::Offset<metal::CircularBufferConfig> ring;
    if (buffer.pages)
      ring = metal::CreateCircularBufferConfigDirect(fbb, &range, uint64_t(buffer.pageBytes) * buffer.pages,
                                                     buffer.pageBytes, buffer.pages);
    return metal::CreateMetalBuffer(fbb, buffer.inDram ? target::BufferType::DRAM : target::BufferType::L1, config,
                                    ring)
        .Union();
  }

  flatbuffers::Offset<metal::KernelConfig> config(const Kernel &kernel) {
    std::vector<flatbuffers::Offset<metal::KernelArg>> compileTime, runTime;
    for (uint32_t port : kernel.ports)
      compileTime.push_back(metal::CreateKernelArg(fbb, metal::KernelArgType::KernelArgCBPort,
                                                   metal::CreateKernelArgCBPort(fbb, port).Union()));
    for (uint32_t value : kernel.constants)
      compileTime.push_back(
          metal::CreateKernelArg(fbb, metal::KernelArgType::KernelArgNamedArgument,
                                 metal::CreateKernelArgNamedArgumentDirect(fbb, "value", value).Union()));
    for (uint32_t buffer : kernel.accessors)
      compileTime.push_back(metal::CreateKernelArg(fbb, metal::KernelArgType::KernelArgTensorAccessorArgs,
                                                   metal::CreateKernelArgTensorAccessorArgs(fbb, buffer).Union()));
    for (uint32_t address : kernel.addresses)
      runTime.push_back(metal::CreateKernelArg(fbb, metal::KernelArgType::KernelArgBufferAddress,
                                               metal::CreateKernelArgBufferAddress(fbb, address).Union()));
    const auto args = metal::CreateKernelArgsDirect(fbb, &runTime, &compileTime);
    const std::vector<metal::Dim2dRange> range = {{metal::Dim2d(0, 0), metal::Dim2d(gridRows, gridColumns)}};
    const auto source = metal::CreateKernelSourceDirect(fbb, kernel.source.c_str());
    const auto type = kernel.compute ? metal::KernelConfigType::ComputeConfig : metal::KernelConfigType::NocConfig;
    const auto typed =
        kernel.compute
            ? metal::CreateComputeConfig(fbb, metal::MathFidelity::HiFi4, kernel.f32Dst, kernel.fullDst).Union()
            : metal::CreateNocConfig(fbb).Union();
    return metal::CreateKernelConfigDirect(fbb, metal::Kernel::KernelSource, source.Union(), &range, args, type, typed,
                                           "kernel", kernel.symbol.c_str(), "loc(unknown)");
  }

  std::vector<flatbuffers::Offset<metal::TensorRef>> tensors(const std::vector<MetalBuffer> &buffers) {
    std::vector<flatbuffers::Offset<metal::TensorRef>> refs;
    const auto mesh = tensorMesh.empty() ? std::vector<int32_t>{1, meshColumns} : tensorMesh;
    for (const MetalBuffer &buffer : buffers) {
      const std::vector<int32_t> shape(buffer.shape.begin(), buffer.shape.end());
      const auto layout =
          metal::CreateLayoutDesc(fbb, metal::CreateMemoryDesc(fbb, static_cast<target::DataType>(buffer.dtype)));
      const auto desc = metal::CreateTensorDescDirect(fbb, &shape, &mesh, layout);
      refs.push_back(
          metal::CreateTensorRef(fbb, static_cast<uint64_t>(volume(buffer.shape)) * storageBytes(buffer.dtype), desc));
    }
    return refs;
  }

  uint32_t nextId = 0;
  std::vector<MetalBuffer> inputs;
  std::vector<flatbuffers::Offset<metal::Command>> commands;
};

//===- Kernels ------------------------------------------------------------===//

/// Says that the shard that lies at port 0 is there.
inline MetalBuilder::Kernel filled(uint32_t cb, uint32_t pages) {
  return {"fill" + std::to_string(cb),
          R"(#include "dataflow_api.h"
void kernel_main() {
  cb_reserve_back(get_compile_time_arg_val(0), get_compile_time_arg_val(1));
  cb_push_back(get_compile_time_arg_val(0), get_compile_time_arg_val(1));
}
)", false, false, false, {cb}, {pages}, {}};
}

/// Waits until all pages of a port are there.
inline MetalBuilder::Kernel drained(uint32_t cb, uint32_t pages) {
  return {"drain" + std::to_string(cb),
          R"(#include "dataflow_api.h"
void kernel_main() {
  cb_wait_front(get_compile_time_arg_val(0), get_compile_time_arg_val(1));
  cb_pop_front(get_compile_time_arg_val(0), get_compile_time_arg_val(1));
}
)", false, false, false, {cb}, {pages}, {}};
}

/// Rows of tiles of port 0 into port 1 by `function` (tilize, untilize).
inline std::string reorderSource(const std::string &function) {
  return R"(#include "compute_kernel_api/common.h"
#include "compute_kernel_api/)" +
         function + R"(.h"
namespace NAMESPACE {
void MAIN {
  constexpr uint32_t in = get_compile_time_arg_val(0), out = get_compile_time_arg_val(1);
  constexpr uint32_t rows = get_compile_time_arg_val(2), columns = get_compile_time_arg_val(3);
  )" + (function == "tilize" ? "tilize_init(in, columns, out)" : "untilize_init(in, out)") +
         R"(;
  for (uint32_t row = 0; row < rows; ++row) {
    cb_wait_front(in, columns);
    cb_reserve_back(out, columns);
    )" + function +
         R"(_block(in, columns, out);
    cb_push_back(out, columns);
    cb_pop_front(in, columns);
  }
  )" + function +
         R"(_uninit(in, out);
}
}
)";
}

/// Tiles of ports 0 to ins - 1 through registers 0 to ins - 1, `body`, and from register `result` into the last port.
inline std::string tilesSource(uint32_t ins, const std::string &body, uint32_t result) {
  std::string wait, copy, pop;
  const std::string out = "get_compile_time_arg_val(" + std::to_string(ins) + ")";
  for (uint32_t i = 0; i < ins; ++i) {
    const std::string cb = "get_compile_time_arg_val(" + std::to_string(i) + ")", number = std::to_string(i);
    wait += "    cb_wait_front(" + cb + ", 1);\n";
    copy += "    copy_tile_to_dst_init_short(" + cb + ");\n    copy_tile(" + cb + ", 0, " + number + ");\n";
    pop += "    cb_pop_front(" + cb + ", 1);\n";
  }
  return R"(#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/sfpu_split_includes.h"
#include "compute_kernel_api/eltwise_binary_sfpu.h"
namespace NAMESPACE {
void MAIN {
  init_sfpu(get_compile_time_arg_val(0), )" +
         out + R"();
  for (uint32_t tile = 0; tile < get_compile_time_arg_val()" +
         std::to_string(ins + 1) + R"(); ++tile) {
)" + wait +
         "    cb_reserve_back(" + out + ", 1);\n    tile_regs_acquire();\n" + copy + body +
         "    tile_regs_commit();\n    tile_regs_wait();\n" + "    pack_tile(" + std::to_string(result) + ", " + out +
         ");\n    tile_regs_release();\n    cb_push_back(" + out + ", 1);\n" + pop + "  }\n}\n}\n";
}

/// A program of one elementwise kernel: inputs are written, tiled, computed, untiled and read.
struct ElementwiseProgram {
  MetalBuilder builder;
  MetalBuffer result;

  ElementwiseProgram(Shape shape, DataType dtype, uint32_t ins, const std::string &body, uint32_t resultTile = 0,
                     int32_t gridRows = 1, int32_t gridColumns = 1, bool f32Dst = true,
                     std::optional<DataType> outType = std::nullopt, Arch arch = Arch::WormholeB0) {
    builder.arch = static_cast<target::Arch>(arch);
    builder.nextAddress = static_cast<uint64_t>(sim::chip(arch).l1UnreservedBase);
    builder.gridRows = gridRows;
    builder.gridColumns = gridColumns;
    const DataType outDtype = outType.value_or(dtype);
    std::vector<MetalBuffer> tiled, hosts;
    for (uint32_t i = 0; i < ins; ++i)
      hosts.push_back(builder.input(shape, dtype));
    for (uint32_t i = 0; i < ins; ++i) {
      const MetalBuffer rows = builder.device(shape, dtype, false);
      builder.write(hosts[i], rows);
      tiled.push_back(builder.device(shape, dtype, true));
      reorder("tilize", rows, tiled.back(), f32Dst);
      builder.deallocate(rows);
    }
    const MetalBuffer out = builder.device(shape, outDtype, true);
    std::vector<MetalBuilder::Kernel> kernels;
    std::vector<uint32_t> ports;
    for (uint32_t i = 0; i < ins; ++i) {
      kernels.push_back(filled(i, tiled[i].pages));
      ports.push_back(i);
    }
    ports.push_back(ins);
    kernels.push_back({"compute", tilesSource(ins, body, resultTile), true, f32Dst, false, ports, {out.pages}, {}});
    kernels.push_back(drained(ins, out.pages));
    std::vector<MetalBuffer> rings = tiled;
    rings.push_back(out);
    builder.program(rings, kernels);
    const MetalBuffer rows = builder.device(shape, outDtype, false);
    reorder("untilize", out, rows, f32Dst);
    result = builder.alloc(shape, outDtype);
    builder.read(rows, result);
    builder.deallocate(rows);
    builder.command(target::metal::CommandType::FinishCommand, target::metal::CreateFinishCommand(builder.fbb).Union());
  }

  std::vector<std::byte> bytes() { return builder.finish({result}); }
  runtime::Binary load() { return builder.load({result}); }

private:
  void reorder(const std::string &function, const MetalBuffer &from, const MetalBuffer &to, bool f32Dst) {
    const auto rows = static_cast<uint32_t>(from.shardRows / 32),
               columns = static_cast<uint32_t>(from.shardColumns / 32);
    builder.program({from, to}, {filled(0, from.pages),
                                 {function, reorderSource(function), true, f32Dst, false, {0, 1}, {rows, columns}, {}},
                                 drained(1, to.pages)});
  }
};

} // namespace tt::test
