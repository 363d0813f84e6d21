//===- MetalTest.cpp - metal programs from file to result -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "MetalSamples.h"
#include "tt/parallel.h"
#include "tt/runtime/memory_map.h"

#include <cstdlib>
#include <unistd.h>

using namespace tt;
using namespace tt::test;

namespace {

/// Kernels are kept for the tests that follow, and nowhere in the user's files.
struct Cache : testing::Environment {
  void SetUp() override {
    const std::string folder = testing::TempDir() + "ttrt-tests-kernels-" + std::to_string(::getuid());
    ::setenv("TTMLIR_CACHE_DIR", folder.c_str(), 0);
  }
};
const auto *const cache = testing::AddGlobalTestEnvironment(new Cache);

struct TileRow {
  const char *kernel, *ttnn;
  uint32_t ins;
};
constexpr TileRow tileRows[] = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) {#kernel, "ttnn." #row, ins},
#include "ttmlir/Target/TTMetal/TileOps.def"
};

/// A call of a tile op on registers 0, 1, ... with the result in register 0.
std::string call(const TileRow &row) {
  std::string registers = "0";
  for (uint32_t i = 1; i < row.ins; ++i)
    registers += ", " + std::to_string(i);
  if (row.ins > 1)
    registers += ", 0";
  const std::string name = row.kernel;
  return "    " + name + "_init();\n    " + name + "(" + registers + ");\n";
}

bool takesFloats(const TileRow &row) {
  const std::string_view name = row.ttnn;
  return name.find("bitwise") == name.npos && name.find("shift") == name.npos;
}

} // namespace

/// 24 cores have two parts in each of the 12 channels.
TEST(Metal, KeepsPartsOfCoresInDram) {
  MetalBuilder builder;
  builder.gridRows = 3;
  builder.gridColumns = 8;
  const auto input = builder.input({90, 250});
  auto buffer = builder.describe({90, 250}, DataType::Float32, false);
  buffer.inDram = true;
  buffer.address = 4096;
  buffer.pages = 0;
  builder.create(buffer);
  builder.write(input, buffer);
  const auto result = builder.alloc({90, 250});
  builder.read(buffer, result);
  const runtime::Tensor x = sampled({90, 250}, DataType::Float32);
  const auto device = runtime::openMeshDevice();
  const auto binary = builder.load({result});
  for (int run = 0; run < 2; ++run)
    expectSameBits(runtime::submit(device, binary, 0, {x})[0], x);
}

TEST(Metal, SigmoidHasTheBitsOfTtnn) {
  const struct {
    Shape shape;
    int32_t rows, columns;
  } cases[] = {{{32, 32}, 1, 1}, {{33, 50}, 1, 1},     {{33, 50}, 2, 3}, {{}, 1, 1},
               {{7}, 1, 1},      {{3, 20, 100}, 2, 3}, {{0, 5}, 1, 2}};
  for (const auto &[shape, rows, columns] : cases)
    for (DataType dtype : {DataType::Float32, DataType::BFloat16}) {
      SCOPED_TRACE(toString(shape) + " " + std::string(toString(dtype)));
      ElementwiseProgram program(shape, dtype, 1, "    sigmoid_tile_init();\n    sigmoid_tile(0);\n", 0, rows, columns,
                                 dtype == DataType::Float32);
      const auto x = sampled(shape, dtype);
      expectSameBits(runMetal(program.load(), {x}), viaTtnn({"ttnn.sigmoid"}, {x}));
    }
}

/// Kernels that stay on their cores use the rows of host buffers in place of those of L1, but not while times are
/// recorded.
TEST(Metal, TransfersThatAreJoinedToKernelsKeepTheBits) {
  const struct {
    Shape shape;
    int32_t rows, columns;
  } cases[] = {{{256, 192}, 2, 3}, {{200, 150}, 2, 3}, {{128, 64}, 1, 1}, {{33, 1}, 1, 2},
               {{1, 70}, 3, 1},    {{}, 1, 1},         {{0, 40}, 1, 1},   {{3, 40, 65}, 2, 2}};
  const auto device = runtime::openMeshDevice();
  for (const auto &[shape, rows, columns] : cases)
    for (DataType dtype : {DataType::Float32, DataType::BFloat16, DataType::Int32, DataType::UInt16, DataType::UInt8}) {
      SCOPED_TRACE(toString(shape) + " " + std::string(toString(dtype)));
      ElementwiseProgram program(shape, dtype, 2, "    add_binary_tile(0, 1, 0);\n", 0, rows, columns,
                                 dtype != DataType::BFloat16);
      const auto binary = program.load();
      const std::vector<runtime::Tensor> inputs = {sampled(shape, dtype, 1), sampled(shape, dtype, 2)};
      const auto joined = runtime::submit(device, binary, 0, inputs)[0];
      runtime::setPerfRecording(true);
      const auto alone = runtime::submit(device, binary, 0, inputs)[0];
      runtime::setPerfRecording(false);
      expectSameBits(joined, alone);
      expectSameBits(joined, viaTtnn({"ttnn.add"}, inputs));
      setThreads(1);
      expectSameBits(runtime::submit(device, binary, 0, inputs)[0], joined);
      setThreads(0);
      for (size_t i = 0; i < inputs.size(); ++i)
        expectSameBits(inputs[i], sampled(shape, dtype, static_cast<uint32_t>(i) + 1));
    }
}

/// The same where kernels read and write rows as they are, page by page; `again`: they write each page twice.
TEST(Metal, KernelsComputeOnRowsOfTheHost) {
  const Shape shape = {100, 200};
  const auto x = sampled(shape, DataType::Float32);
  const auto device = runtime::openMeshDevice();
  for (const bool again : {false, true}) {
    MetalBuilder builder;
    builder.gridRows = builder.gridColumns = 2;
    const auto host = builder.input(shape);
    const auto from = builder.device(shape, DataType::Float32, false);
    builder.write(host, from);
    const auto to = builder.device(shape, DataType::Float32, false);
    std::string source = tilesSource(1, "    abs_tile(0);\n", 0);
    source.erase(0, source.find("#include \"")); // which could reach other cores
    if (again) {
      const std::string once = "pack_tile(0, get_compile_time_arg_val(1));";
      source.insert(source.find(once), "pack_tile<true>(0, get_compile_time_arg_val(1), 0);\n    ");
    }
    builder.program(
        {from, to},
        {filled(0, from.pages), {"compute", source, true, true, false, {0, 1}, {to.pages}, {}}, drained(1, to.pages)});
    builder.deallocate(from);
    const auto result = builder.alloc(shape);
    builder.read(to, result);
    builder.deallocate(to);
    expectSameBits(runtime::submit(device, builder.load({result}), 0, {x})[0], viaTtnn({"ttnn.abs"}, {x}));
  }
}

/// Reading a page that is not in L1 does not count as writing it.
TEST(Metal, PrintingPagesOfTheHostKeepsThem) {
  const Shape shape = {64, 96};
  const auto x = sampled(shape, DataType::Float32);
  const auto device = runtime::openMeshDevice();
  const std::string print = "DPRINT << TSLICE(out, 0, (SliceRange{0, 1, 1, 0, 1, 1}));\n    ";
  for (const std::string before : {"untilize_block(", "cb_push_back"}) {
    MetalBuilder builder;
    const auto reorder = [&](const std::string &function, const std::string &source, const MetalBuffer &from,
                             const MetalBuffer &to) {
      builder.program(
          {from, to},
          {filled(0, from.pages), {function, source, true, true, false, {0, 1}, {2, 3}, {}}, drained(1, to.pages)});
      builder.deallocate(from);
    };
    const auto host = builder.input(shape);
    const auto rows = builder.device(shape, DataType::Float32, false);
    builder.write(host, rows);
    const auto tiled = builder.device(shape, DataType::Float32, true);
    reorder("tilize", reorderSource("tilize"), rows, tiled);
    const auto to = builder.device(shape, DataType::Float32, false);
    std::string source = reorderSource("untilize");
    source.insert(source.find(before), print);
    reorder("untilize", source, tiled, to);
    const auto result = builder.alloc(shape);
    builder.read(to, result);
    builder.deallocate(to);
    const auto binary = builder.load({result});
    expectSameBits(runtime::submit(device, binary, 0, {x})[0], x);
    runtime::setPerfRecording(true);
    expectSameBits(runtime::submit(device, binary, 0, {x})[0], x);
    runtime::setPerfRecording(false);
  }
}

TEST(Metal, EveryTileOpHasTheBitsOfTtnn) {
  const Shape shape = {33, 40};
  for (const TileRow &row : tileRows)
    for (DataType dtype : {DataType::Float32, DataType::BFloat16, DataType::Int32}) {
      if (dtype != DataType::Int32 && !takesFloats(row))
        continue;
      if (dtype == DataType::BFloat16 && row.ins == 1 && row.kernel[0] > 'e') // both paths are the same for all
        continue;
      SCOPED_TRACE(std::string(row.kernel) + " " + std::string(toString(dtype)));
      std::vector<runtime::Tensor> inputs;
      for (uint32_t i = 0; i < row.ins; ++i)
        inputs.push_back(sampled(shape, dtype, i + 1));
      ElementwiseProgram program(shape, dtype, row.ins, call(row), 0, 1, 1, dtype != DataType::BFloat16);
      expectSameBits(runMetal(program.load(), inputs), viaTtnn({row.ttnn}, inputs));
    }
}

TEST(Metal, IntegersWrapAsTheirTypeDoes) {
  const Shape shape = {5, 40};
  for (DataType dtype : {DataType::Int32, DataType::UInt32, DataType::UInt16, DataType::UInt8})
    for (const char *op : {"add", "sub", "mul"}) {
      SCOPED_TRACE(std::string(op) + " " + std::string(toString(dtype)));
      std::vector<float> values(200);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 16777216.0);
      const auto large = runtime::castTensor(tensor(values, shape), DataType::UInt32);
      auto a = runtime::createHostTensor(large.data(), shape, DataType::UInt32), b = a.clone();
      if (dtype != DataType::UInt32) {
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<float>(i) + 60;
        a = runtime::castTensor(tensor(values, shape), dtype);
        b = a.clone();
      }
      ElementwiseProgram program(shape, dtype, 2, "    " + std::string(op) + "_binary_tile(0, 1, 0);\n");
      const std::string ttnn = std::string(op) == "sub" ? "subtract" : std::string(op) == "mul" ? "multiply" : op;
      expectSameBits(runMetal(program.load(), {a, b}), viaTtnn({"ttnn." + ttnn}, {a, b}));
    }
}

TEST(Metal, OpsFollowOneAnotherInRegisters) {
  for (DataType dtype : {DataType::Float32, DataType::BFloat16}) {
    const auto x = sampled({70, 33}, dtype);
    ElementwiseProgram program({70, 33}, dtype, 1,
                               "    exp_tile_init();\n    exp_tile(0);\n    log1p_tile_init();\n    log1p_tile(0);\n",
                               0, 2, 1, dtype == DataType::Float32);
    expectSameBits(runMetal(program.load(), {x}), viaTtnn({"ttnn.exp", "ttnn.log1p"}, {x}));
  }
}

TEST(Metal, ComparesIntoBooleans) {
  const auto a = sampled({32, 32}, DataType::Float32), b = sampled({32, 32}, DataType::Float32, 2);
  ElementwiseProgram program({32, 32}, DataType::Float32, 2, "    gt_binary_tile(0, 1, 0);\n", 0, 1, 1, true,
                             DataType::UInt8);
  expectSameBits(runMetal(program.load(), {a, b}), viaTtnn({"ttnn.gt"}, {a, b}, DataType::UInt8));
}

TEST(Metal, ClampsAndCastsAndFills) {
  const auto x = sampled({40, 40}, DataType::Float32);
  {
    ElementwiseProgram program({40, 40}, DataType::Float32, 1,
                               "    clamp_tile_init();\n    clamp_tile(0, 0xbf000000u, 0x3f800000u);\n");
    const auto found = floats(runMetal(program.load(), {x})), given = floats(x);
    for (size_t i = 0; i < given.size(); ++i)
      if (std::isnan(given[i]))
        EXPECT_TRUE(std::isnan(found[i]));
      else
        EXPECT_EQ(found[i], std::min(std::max(given[i], -0.5f), 1.0f)) << i;
  }
  for (DataType to : {DataType::Int32, DataType::UInt16, DataType::BFloat16}) {
    const std::string cast = "<0, " + std::to_string(static_cast<int>(to)) + ">";
    ElementwiseProgram program({40, 40}, DataType::Float32, 1,
                               "    typecast_tile_init" + cast + "();\n    typecast_tile" + cast + "(0);\n", 0, 1, 1,
                               true, to);
    expectSameBits(runMetal(program.load(), {x}), runtime::castTensor(x, to));
  }
  ElementwiseProgram program({40, 40}, DataType::Float32, 1,
                             "    fill_tile_init();\n    fill_tile(1, 2.5f);\n    add_binary_tile(0, 1, 2);\n", 2);
  const auto two = runtime::castTensor(tensor(std::vector<float>(1600, 2.5f), {40, 40}), DataType::Float32);
  expectSameBits(runMetal(program.load(), {x}), viaTtnn({"ttnn.add"}, {x, two}));
}

TEST(Metal, TheNumberOfThreadsChangesNothing) {
  ElementwiseProgram program({200, 300}, DataType::Float32, 1, "    gelu_tile_init();\n    gelu_tile(0);\n", 0, 4, 3);
  const auto x = sampled({200, 300}, DataType::Float32);
  const auto binary = program.load();
  setThreads(1);
  const auto one = runMetal(binary, {x});
  setThreads(2);
  const auto two = runMetal(binary, {x});
  setThreads(0);
  expectSameBits(one, two);
  expectSameBits(one, viaTtnn({"ttnn.gelu"}, {x}));
}

TEST(Metal, RunsOnOtherChips) {
  ElementwiseProgram program({100, 200}, DataType::BFloat16, 1, "    sqrt_tile(0);\n", 0, 10, 13, false, std::nullopt,
                             Arch::Blackhole);
  sim::MeshOptions options;
  options.arch = Arch::Blackhole;
  const auto x = sampled({100, 200}, DataType::BFloat16);
  expectSameBits(runtime::submit(runtime::openMeshDevice(options), program.load(), 0, {x})[0],
                 viaTtnn({"ttnn.sqrt"}, {x}));
}

TEST(Metal, RunsOnEveryDeviceOfAMesh) {
  ElementwiseProgram program({3, 4}, DataType::Float32, 2, "    add_binary_tile(0, 1, 0);\n");
  program.builder.meshColumns = 2;
  const auto binary = program.load();
  sim::MeshOptions options;
  options.columns = 2;
  const auto device = runtime::openMeshDevice(options);
  const auto a = sampled({3, 4}, DataType::Float32), b = sampled({3, 4}, DataType::Float32, 2);
  const auto both = runtime::createMultiDeviceHostTensor(std::vector{a, b}, {1, 2});
  const auto outputs = runtime::submit(device, binary, 0, {both, b});
  ASSERT_EQ(outputs[0].shards(), 2u);
  EXPECT_EQ(outputs[0].meshShape(), (std::vector<uint32_t>{1, 2}));
  const auto shards = runtime::toHost(outputs[0]);
  expectSameBits(shards[0], viaTtnn({"ttnn.add"}, {a, b}));
  expectSameBits(shards[1], viaTtnn({"ttnn.add"}, {b, b}));
  EXPECT_EQ(device->totals().programs, 1);
  EXPECT_MESSAGE(DeviceError, runtime::submit(runtime::openMeshDevice(), binary, 0, {a, b}), "a mesh of 1x2");
}

TEST(Metal, WritesConstantsAndReturnsInputs) {
  MetalBuilder builder;
  const std::vector<uint8_t> bytes = {0, 0, 128, 63, 0, 0, 0, 64}; // 1.0, 2.0
  const auto input = builder.input({3});
  const auto constant = builder.alloc({2}, DataType::Float32, &bytes);
  const auto binary = builder.load({constant, input, input});
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({5, 6, 7}, {3});
  auto outputs = runtime::submit(device, binary, 0, {x});
  EXPECT_EQ(floats(outputs[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats(outputs[1]), (std::vector<float>{5, 6, 7}));
  outputs[1].data()[0] = std::byte(1);
  EXPECT_EQ(floats(x), (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(floats(outputs[2]), (std::vector<float>{5, 6, 7}));
}

TEST(Metal, ChecksInputs) {
  ElementwiseProgram program({3, 4}, DataType::Float32, 1, "    abs_tile(0);\n");
  const auto binary = program.load();
  const auto device = runtime::openMeshDevice();
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {}), "takes 1 inputs and was given 0");
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {tensor({1, 2}, {2})}),
                 "program \"main\": input 0 has shape [2]; expected [3, 4]");
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {sampled({3, 4}, DataType::BFloat16)}),
                 "input 0 has data type bf16; expected f32");
  EXPECT_MESSAGE(Error, runtime::estimate(binary, 0, {}),
                 "what a TTMetal program takes is known when its kernels have");
  EXPECT_MESSAGE(Error, runtime::memoryMap(binary, 0, {}), "name the addresses of their buffers themselves");
  sim::MeshOptions other;
  other.arch = Arch::Blackhole;
  EXPECT_MESSAGE(DeviceError, runtime::submit(runtime::openMeshDevice(other), binary, 0, {tensor({}, {0})}),
                 "was compiled for wormhole_b0");
}

TEST(Metal, TellsWhatARunTook) {
  ElementwiseProgram program({64, 64}, DataType::Float32, 1, "    tanh_tile(0);\n", 0, 2, 2);
  const auto binary = program.load();
  const auto device = runtime::openMeshDevice();
  const auto x = sampled({64, 64}, DataType::Float32);
  runtime::setPerfRecording(true);
  runtime::submit(device, binary, 0, {x});
  const auto first = runtime::lastRun(device);
  runtime::submit(device, binary, 0, {x});
  runtime::setPerfRecording(false);
  const auto second = runtime::lastRun(device);
  EXPECT_EQ(first->cycles, second->cycles);
  EXPECT_EQ(first->deviceNs, second->deviceNs);
  EXPECT_EQ(device->totals().cycles, 2 * first->cycles);
  int64_t sfpuTiles = 0, resident = 0;
  for (const auto &op : first->ops) {
    sfpuTiles += op.cost.sfpuTiles;
    resident = std::max(resident, op.resident[static_cast<size_t>(sim::Memory::L1)]);
  }
  EXPECT_EQ(sfpuTiles, 4);
  // One tile each: the result tiled and row-major, and the operand.
  EXPECT_EQ(resident, 3 * 4096);
  EXPECT_EQ(first->memoryPeak[static_cast<size_t>(sim::Memory::L1)], 3 * 4096);
  // A tile through the vector unit, during which it is copied, in two more programs one tile each, three launches.
  EXPECT_EQ(first->cycles, 128 + 2 * 55 + 3 * 6000);
  EXPECT_EQ(device->memoryView(sim::Memory::L1).allocated, 0);
}

TEST(Metal, AccountsForL1) {
  ElementwiseProgram program({64, 64}, DataType::Float32, 1, "    tanh_tile(0);\n");
  const auto binary = program.load();
  const auto device = runtime::openMeshDevice();
  const auto x = sampled({64, 64}, DataType::Float32);
  {
    const Shape large{680 * 32, 1024}; // 340 tiles on each core, from the end of L1
    const auto resident = runtime::toLayout(runtime::Tensor::onHost(hostSpec(large)), device,
                                            deviceSpec(large, DataType::Float32, BufferType::L1));
    EXPECT_MESSAGE(OutOfMemoryError, runtime::submit(device, binary, 0, {x}),
                   "metal buffer 1 of program main needs 16384 bytes per core at address 103712, where tensor "
                   "[21760, 1024] moved by to_layout lies (1392640 bytes at 106496)");
    EXPECT_EQ(device->memoryView(sim::Memory::L1).allocated, 340 * 4096);
  }
  EXPECT_EQ(runtime::submit(device, binary, 0, {x}).size(), 1u);
}

TEST(Metal, CompilesOnceOnly) {
  ElementwiseProgram program({3, 4}, DataType::Float32, 1, "    sign_tile(0); // compiled once\n");
  const auto bytes = program.bytes();
  const auto binary = runtime::Binary::load(bytes);
  binary.allowNative();
  const auto x = sampled({3, 4}, DataType::Float32);
  const char *before = std::getenv("CXX");
  const std::string kept = before ? before : "";
  const auto first = runMetal(binary, {x});
  ::setenv("CXX", "no-such-compiler", 1);
  expectSameBits(runMetal(binary, {x}), first);
  const auto again = runtime::Binary::load(bytes);
  EXPECT_MESSAGE(Error, runMetal(again, {x}), "CXX is 'no-such-compiler', which cannot be run");
  ::unsetenv("CXX");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_MESSAGE(
      Error, runMetal(again, {x}),
      "no C++ compiler for the kernels: CXX is not set, and PATH has none of c++, g++, clang++; install one");
  ::setenv("PATH", path.c_str(), 1);
  if (before)
    ::setenv("CXX", kept.c_str(), 1);
  expectSameBits(runMetal(again, {x}), first);
}

TEST(Metal, KernelsRunOnlyWhereTheyAreAllowed) {
  ElementwiseProgram program({3, 5}, DataType::Float32, 1, "    sign_tile(0); // allowed or not\n");
  const auto bytes = program.bytes();
  const auto x = sampled({3, 5}, DataType::Float32);
  const auto binary = runtime::Binary::load(bytes);
  EXPECT_TRUE(binary.hasNative());
  EXPECT_MESSAGE(OpError, runMetal(binary, {x}), "its kernels are C++ code");
  const auto other = ElementwiseProgram({3, 5}, DataType::Float32, 1, "    sign_tile(0); // others\n").bytes();
  runtime::Binary::load(other).allowNative();
  EXPECT_MESSAGE(OpError, runMetal(binary, {x}), "load the file with allow_native");
  runtime::Binary::load(bytes).allowNative(); // a copy
  EXPECT_EQ(runMetal(binary, {x}).shape(), x.shape());
}
