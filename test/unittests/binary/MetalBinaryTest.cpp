//===- MetalBinaryTest.cpp - TTMetal files, right and damaged -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "MetalBuilder.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tt;
using namespace tt::test;

namespace {

std::vector<std::byte> good() {
  return ElementwiseProgram({3, 40}, DataType::BFloat16, 2, "    add_binary_tile(0, 1, 0);\n", 0, 1, 2).bytes();
}

/// A program that writes its input to a device buffer that `change` has changed, and reads it.
std::string errorOf(const std::function<void(MetalBuffer &)> &change) {
  MetalBuilder builder;
  const auto input = builder.input({40, 40});
  auto buffer = builder.describe({40, 40}, DataType::Float32, false);
  change(buffer);
  builder.create(buffer);
  builder.write(input, buffer);
  const auto result = builder.alloc({40, 40});
  builder.read(buffer, result);
  return message<BinaryError>([&] { builder.load({result}); });
}

#define EXPECT_TEXT(found, text)                                                                                       \
  do {                                                                                                                 \
    const std::string value = found;                                                                                   \
    EXPECT_NE(value.find(text), std::string::npos) << value;                                                           \
  } while (false)

} // namespace

TEST(MetalBinary, TellsWhatItHolds) {
  const auto binary = runtime::Binary::load(good());
  EXPECT_EQ(binary.identifier(), "TTM0");
  EXPECT_EQ(binary.version(), "0.1.0");
  EXPECT_EQ(binary.schemaVersion(), target::metalSchemaVersion);
  EXPECT_EQ(binary.mlir(), "module {}");
  EXPECT_EQ(binary.systemDesc().arch, Arch::WormholeB0);
  const auto &program = binary.program(0);
  EXPECT_EQ(program.name, "main");
  ASSERT_EQ(program.inputs.size(), 2u);
  EXPECT_EQ(program.spec(program.inputs[1]), hostSpec({3, 40}, DataType::BFloat16));
  EXPECT_EQ(runtime::inputSpec(binary, 0, 0), hostSpec({3, 40}, DataType::BFloat16));
  EXPECT_TRUE(program.operations.empty());
  const auto sources = binary.kernelSources();
  // Both circular buffers are filled by the same source with other arguments, under two symbols.
  std::vector<std::string> symbols;
  for (const auto &[symbol, source] : sources) {
    symbols.push_back(symbol);
    EXPECT_NE(source.find("#include"), std::string::npos);
  }
  EXPECT_EQ(symbols, (std::vector<std::string>{"fill0", "tilize", "drain1", "fill1", "compute", "drain2", "untilize"}));
  EXPECT_TEXT(binary.asJson(), "\"name\": \"EnqueueProgramCommand\"");
  EXPECT_TEXT(binary.operationsAsJson(0), "\"symbol\": \"tilize\"");
  EXPECT_TEXT(binary.mlirAsJson(), "\"name\": \"ttmetal\"");
  EXPECT_TEXT(binary.inputsAsJson(0), "\"data_type\": \"bf16\"");
  EXPECT_TEXT(binary.systemDescAsJson(), "\"arch\": \"wormhole_b0\"");
}

TEST(MetalBinary, RefusesAnythingDamagedAtTheStart) {
  auto bytes = good();
  const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + 100);
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(cut), "the file is truncated or was appended to");
  auto other = bytes;
  std::memcpy(other.data() + 8, "TTM1", 4);
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(other),
                 "file identifier is \"TTM1\"; expected \"TTNN\" (is it a TTNN flatbuffer?), or \"TTM0\"");
  std::memset(bytes.data() + 4, 0xff, 4);
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(bytes), "is damaged");
  ElementwiseProgram program({3}, DataType::Float32, 1, "");
  program.builder.schemaVersion = 77;
  EXPECT_MESSAGE(BinaryError, program.load(), "has schema version 77 of TTMetal, but this runtime reads 2");
}

TEST(MetalBinary, ReadsMeshesOfTensorsOfAnyRank) {
  const auto isDistributed = [](std::vector<int32_t> mesh) {
    ElementwiseProgram program({3}, DataType::Float32, 1, "");
    program.builder.meshColumns = 2;
    program.builder.tensorMesh = std::move(mesh);
    const auto binary = program.load();
    return runtime::inputSpec(binary, 0, 0).distributed;
  };
  EXPECT_TRUE(isDistributed({1, 2}));
  EXPECT_TRUE(isDistributed({1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
  EXPECT_TRUE(isDistributed(std::vector<int32_t>(8, 1024))); // 2^80 in all
  EXPECT_FALSE(isDistributed({1, 1}));
}

TEST(MetalBinary, ChecksBuffers) {
  EXPECT_EQ(errorOf([](MetalBuffer &) {}), "no error");
  EXPECT_TEXT(
      errorOf([](MetalBuffer &b) { b.address = 1000; }),
      "flatbuffer: program \"main\": command 0 (CreateBufferCommand): ref.address is 1000; expected a multiple");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.address = 512; }),
              "is 512 for 16384 bytes; expected a place inside of L1");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.address = 1499136 - 8192; }), "expected a place inside of L1");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.address = ~uint64_t(15); }), "expected a place inside of L1");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.gridRows = 9; }), "has 9x1 cores from (0, 0) on; expected cores of the");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.shardRows = 33; }), "shard_shape is 33x64; expected multiples of 32x32");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.shardRows = b.shardColumns = 1 << 20; }), "expected no more than the L1");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.shardRows = 32; }), "expected shards that cover 40x40 elements");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.tiled = true; }), "element_shape is 32x32; expected 1x1");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.shape = {-1}; }), "shape[0] is -1; expected 0 or more");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.shape = {1 << 30, 1 << 30}; }), "expected at most 2^40 elements");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.dtype = DataType::BFP_BFloat8; }),
              "element_shape is 1x1 of bfp_bf8; expected 32x32");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.dtype = DataType::Int32; }),
              "src and dst are of f32 on the host and of si32 on the device; expected one type");
  EXPECT_EQ(errorOf([](MetalBuffer &b) { b.shape = {1, 1, 64, 64}; }), "no error"); // the grid and a shard
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.pageBytes = 100; }), "page_size is 100; expected a multiple of 16");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.pages = 1u << 31; }),
              "num_buffers is 2147483648; expected pages that fit");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.id = 0; }), "defines buffer 0 again");
  EXPECT_TEXT(errorOf([](MetalBuffer &b) { b.onHost = true; }), "ref lies on the host; expected a device buffer");
}

TEST(MetalBinary, ChecksBuffersInDram) {
  const auto error = [](uint64_t address, uint32_t pages, int64_t rows) {
    return errorOf([&](MetalBuffer &b) {
      b.inDram = true;
      b.address = address;
      b.pages = pages;
      b.shardRows = rows;
    });
  };
  EXPECT_TEXT(error(1024 + 16, 0, 64), "ref.address is 1040; expected a multiple of 32");
  EXPECT_TEXT(error(512, 0, 64), "is 512 for 16384 bytes per channel; expected a place inside of a channel of DRAM");
  EXPECT_TEXT(error(1073741824 - 8192, 0, 64), "expected a place inside of a channel of DRAM");
  EXPECT_TEXT(error(1024, 0, 1 << 25), "expected no more than a channel of DRAM");
  EXPECT_TEXT(error(1024, 1, 64),
              "circular_buffer_config is that of a buffer in DRAM; expected circular buffers in L1");
}

TEST(MetalBinary, ChecksLifetimes) {
  {
    MetalBuilder builder;
    const auto a = builder.device({40}, DataType::Float32, false);
    auto b = builder.describe({40}, DataType::Float32, false);
    b.address = a.address + 16;
    builder.create(b);
    EXPECT_MESSAGE(
        BinaryError, builder.load({}),
        "command 1 (CreateBufferCommand): ref puts buffer 1 at 103728 for 8192 bytes, where buffer 0 lies at "
        "103712 for 8192; expected buffers that do not overlap");
  }
  {
    MetalBuilder builder;
    const auto a = builder.device({40}, DataType::Float32, false);
    builder.deallocate(a);
    auto b = builder.describe({40}, DataType::Float32, false);
    b.address = a.address;
    builder.create(b);
    builder.deallocate(a);
    EXPECT_MESSAGE(BinaryError, builder.load({}),
                   "command 3 (DeallocateBufferCommand): ref is buffer 0, which was deallocated before");
  }
  {
    MetalBuilder builder;
    builder.write(builder.input({40}), builder.describe({40}, DataType::Float32, false));
    EXPECT_MESSAGE(BinaryError, builder.load({}), "dst is buffer 1, which nothing before has defined");
  }
  {
    MetalBuilder builder;
    const auto input = builder.input({40});
    builder.read(builder.device({40}, DataType::Float32, false), input);
    EXPECT_NO_THROW(builder.load({})); // a program may write its input
  }
  {
    MetalBuilder builder;
    EXPECT_MESSAGE(BinaryError, builder.load({builder.device({40}, DataType::Float32, false)}),
                   "results[0] is buffer 0 on the device; expected a host buffer");
  }
  {
    MetalBuilder builder;
    const std::vector<uint8_t> data(7);
    EXPECT_MESSAGE(BinaryError, builder.load({builder.alloc({2}, DataType::Float32, &data)}),
                   "data has 7 bytes; expected 8 for [2] of f32");
  }
}

TEST(MetalBinary, ChecksMeshShards) {
  const auto error = [](const Shape &from, const Shape &to, const std::vector<int64_t> &dims, DataType type,
                        bool joins = false) {
    MetalBuilder builder;
    builder.meshColumns = 4;
    const auto result = builder.host(to, type);
    builder.shard(builder.input(from), result, joins, dims);
    return message<BinaryError>([&] { builder.load({result}); });
  };
  EXPECT_EQ(error({8, 4}, {2, 4}, {-1, 0}, DataType::Float32), "no error");
  EXPECT_EQ(error({8, 4}, {2, 4}, {0}, DataType::Float32), "no error"); // one axis of all devices
  EXPECT_EQ(error({2, 4}, {8, 4}, {-1, 0}, DataType::Float32, true), "no error");
  EXPECT_TEXT(error({8, 4}, {4, 4}, {-1, 0}, DataType::Float32),
              "command 0 (MeshShardCommand): src has shape [8, 4]; expected [16, 4], the parts of the mesh together");
  EXPECT_TEXT(error({2, 4}, {4, 4}, {-1, 0}, DataType::Float32, true),
              "dst has shape [4, 4]; expected [8, 4], the parts of the mesh together");
  EXPECT_TEXT(error({8, 4}, {2, 4}, {-1, 2}, DataType::Float32), "shard_dims has 2; expected -1 to 1");
  EXPECT_TEXT(error({8, 4}, {2, 4}, {-1, 0, 0}, DataType::Float32), "shard_dims has 3 entries");
  EXPECT_TEXT(error({8, 4}, {2, 4}, {-1, 0}, DataType::BFloat16), "dst is of bf16; expected f32, as src is");
  MetalBuilder builder;
  const auto lost = builder.host({2});
  builder.shard(lost, builder.host({2}), false, {-1, -1});
  EXPECT_MESSAGE(BinaryError, builder.load({}), "src is buffer 0, which nothing before has defined");
}

TEST(MetalBinary, ChecksKernels) {
  const auto error = [](std::vector<MetalBuilder::Kernel> kernels, const std::function<void(MetalBuffer &)> &change,
                        uint32_t firstPort = 0, int32_t kernelColumns = 1) {
    MetalBuilder builder;
    builder.firstPort = firstPort;
    auto buffer = builder.device({40}, DataType::Float32, false);
    change(buffer);
    builder.gridColumns = kernelColumns;
    builder.program({buffer}, kernels);
    return message<BinaryError>([&] { builder.load({}); });
  };
  const auto nothing = [](MetalBuffer &) {};
  EXPECT_EQ(error({filled(0, 1)}, nothing), "no error");
  EXPECT_TEXT(error({filled(3, 1)}, nothing),
              "command 1 (EnqueueProgramCommand): kernel 0 (fill3): ct_args[0].operand_idx is 3; expected an index "
              "below 1 into the cbs");
  EXPECT_TEXT(error({{"k", "", true, true, false, {}, {}, {9}}}, nothing),
              "rt_args[0].operand_idx is 9; expected an index below 1 into the arg_refs");
  EXPECT_TEXT(error({{"k", "", true, true, false, {}, {}, {}, {1}}}, nothing),
              "ct_args[0].operand_idx is 1; expected an index below 1 into the arg_refs");
  EXPECT_TEXT(error({{"k", "", true, true, false, {}, {}, {}, {0}}}, nothing),
              "ct_args[0].operand_idx is a buffer in L1; expected one in DRAM, whose pages a TensorAccessor finds");
  EXPECT_TEXT(error({{"", ""}}, nothing), "symbol is empty");
  EXPECT_TEXT(error({filled(0, 1)}, nothing, 32), "cbs[0].port is 32; expected a number below 32");
  EXPECT_TEXT(error({filled(0, 1)}, nothing, 0, 9), "core_range_set has 1x9 cores from (0, 0) on");
  EXPECT_TEXT(error({filled(0, 1)}, [](MetalBuffer &b) { b.pages = 0; }), "has no circular_buffer_config");
  EXPECT_TEXT(error({filled(0, 1)}, [](MetalBuffer &b) { b.address += 16; }),
              "address is 103728; expected 103712, where the buffer was created");
  EXPECT_TEXT(error({filled(0, 1)}, [](MetalBuffer &b) { b.pages = 4; }),
              "has 16384 bytes per core; expected at most 8192, those of buffer 0");
}

TEST(MetalBinary, SharesLittleMoreThanItHolds) {
  const std::string source(1 << 20, '/'); // a comment of 1 MiB
  MetalBuilder large;
  large.gridRows = large.gridColumns = 8;
  const auto result = large.alloc({1, 1});
  for (int i = 0; i < 17; ++i)
    large.program({}, {{"k", source}});
  EXPECT_NO_THROW(large.load({result}));

  MetalBuilder small; // one source for all kernels
  auto &fbb = small.fbb;
  const auto shared = target::metal::CreateKernelSourceDirect(fbb, source.c_str());
  const std::vector<target::metal::Dim2dRange> range = {{target::metal::Dim2d(0, 0), target::metal::Dim2d(1, 1)}};
  const auto config = target::metal::CreateKernelConfigDirect(
      fbb, target::metal::Kernel::KernelSource, shared.Union(), &range, target::metal::CreateKernelArgsDirect(fbb),
      target::metal::KernelConfigType::NocConfig, target::metal::CreateNocConfig(fbb).Union(), "kernel", "k",
      "loc(unknown)");
  for (int i = 0; i < 17; ++i) {
    const std::vector configs = {config};
    small.command(target::metal::CommandType::EnqueueProgramCommand,
                  target::metal::CreateEnqueueProgramCommandDirect(
                      fbb, nullptr, nullptr, target::metal::CreateProgramDescDirect(fbb, &configs))
                      .Union());
  }
  EXPECT_TEXT(
      message<BinaryError>([&] { small.load({small.host({1, 1})}); }),
      "command 15 (EnqueueProgramCommand): kernel 0 (k): kernel brings the programs to more than 16777216 items; "
      "expected fewer");
}
