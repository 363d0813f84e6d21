//===- BinaryTest.cpp - rejected flatbuffers and their errors -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace tt;
using namespace tt::test;

namespace {

std::vector<std::byte> good() {
  ProgramBuilder builder;
  const auto a = builder.input(hostSpec({2, 3}));
  return builder.finish({builder.op("ttnn.relu", {a}, hostSpec({2, 3}))});
}

} // namespace

TEST(Binary, TellsWhatItHolds) {
  const auto bytes = good();
  const auto binary = runtime::Binary::load(bytes);
  EXPECT_EQ(binary.version(), "0.1.0");
  ASSERT_EQ(binary.programs().size(), 1u);
  const auto &program = binary.program(0);
  EXPECT_EQ(program.name, "main");
  EXPECT_EQ(program.operations[0].loc, "loc(\"op0\")");
  EXPECT_EQ(program.operations[0].source, "0");
  EXPECT_NE(binary.inputsAsJson(0).find("\"shape\": [2, 3]"), std::string::npos) << binary.inputsAsJson(0);
  EXPECT_NE(binary.asJson().find("\"ttnn.relu\""), std::string::npos);
  EXPECT_EQ(binary.mlir(), "module {}");
  EXPECT_MESSAGE(Error, binary.program(1), "there is no program 1; it has 1");
}

TEST(Binary, StoresAndMapsFiles) {
  const auto bytes = good();
  const std::string path = testing::TempDir() + "stored.ttnn";
  runtime::Binary::load(bytes).store(path);
  const auto mapped = runtime::Binary::load(path);
  ASSERT_EQ(mapped.bytes().size(), bytes.size());
  EXPECT_EQ(std::memcmp(mapped.bytes().data(), bytes.data(), bytes.size()), 0);
  std::remove(path.c_str());
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(path), "cannot open " + path);
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(testing::TempDir()), "not a regular file");
  EXPECT_MESSAGE(Error, mapped.store("/nowhere/file.ttnn"),
                 "cannot write /nowhere/file.ttnn: No such file or directory");
}

TEST(Binary, RefusesOtherFiles) {
  auto bytes = good();
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(std::span<const std::byte>()), "has 0 bytes");
  auto identifier = bytes;
  identifier[8] = std::byte('X');
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(identifier), "file identifier is \"XTNN\"");
  auto truncated = bytes;
  truncated.resize(bytes.size() - 16);
  EXPECT_MESSAGE(BinaryError, runtime::Binary::load(truncated), "truncated");
  ProgramBuilder other;
  other.schemaVersion = 77;
  other.input(hostSpec({1}));
  EXPECT_MESSAGE(BinaryError, other.load({0}),
                 "has schema version 77, but this runtime reads " + std::to_string(target::schemaVersion));
}

TEST(Binary, ChecksIndices) {
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    const auto r = builder.value(hostSpec({2}));
    builder.rawOp("ttnn.add", {a, 9}, {r});
    EXPECT_MESSAGE(BinaryError, builder.load({r}),
                   "program \"main\": op 0 (ttnn.add): ins[1] is 9; expected an index below 2 into the values");
  }
  {
    ProgramBuilder builder;
    builder.input(hostSpec({2}));
    EXPECT_MESSAGE(BinaryError, builder.load({5}), "outputs[0] is 5; expected an index below 1 into the values");
  }
  {
    ProgramBuilder builder;
    const auto r = builder.value(hostSpec({2}));
    builder.rawOp("ttnn.constant", {}, {r},
                  {builder.attribute("value", target::AttributeValue::ConstantValue,
                                     target::CreateConstantValue(builder.fbb, 3).Union())});
    EXPECT_MESSAGE(BinaryError, builder.load({r}),
                   "attribute value is 3; expected an index below 0 into the constants");
  }
}

TEST(Binary, ChecksDefinitions) {
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    const auto late = builder.value(hostSpec({2}));
    const auto r = builder.value(hostSpec({2}));
    builder.rawOp("ttnn.add", {a, late}, {r});
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "ins[1] is value 1, which nothing before has defined");
  }
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    builder.rawOp("ttnn.relu", {a}, {a});
    EXPECT_MESSAGE(BinaryError, builder.load({a}), "outs[0] defines value 0 again");
  }
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    builder.deallocate(a);
    const auto r = builder.op("ttnn.relu", {a}, hostSpec({2}));
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "op 1 (ttnn.relu): ins[0] is value 0, which was deallocated before");
  }
}

TEST(Binary, ChecksDescriptors) {
  const auto refused = [](TensorSpec spec, const char *text) {
    ProgramBuilder builder;
    builder.input(spec);
    EXPECT_MESSAGE(BinaryError, builder.load({0}), text);
  };
  refused(hostSpec({2, -3}), "tensor_descs[0].shape[1] is -3; expected 0 or more");
  refused(hostSpec({int64_t(1) << 40, int64_t(1) << 40}), "expected at most 2^44 elements");
  refused(hostSpec({0, int64_t(1) << 40, int64_t(1) << 40}), "expected at most 2^44 elements");
  refused(hostSpec(Shape(17, 1)), "has 17 dimensions; expected at most 16");
  refused(hostSpec({1}, static_cast<DataType>(77)), "tensor_descs[0].data_type is 77; expected a value below 14");
  TensorSpec spec = deviceSpec({1});
  spec.layout = static_cast<Layout>(4);
  refused(spec, "tensor_descs[0].layout is 4");
  spec = deviceSpec({1});
  spec.memory.layout = static_cast<MemoryLayout>(1);
  refused(spec, "tensor_descs[0].memory_layout is 1");
  spec.memory.layout = MemoryLayout::BlockSharded;
  refused(spec, "block_sharded without grid or shard_shape");
  ProgramBuilder builder;
  builder.mesh = {64, 64};
  builder.input(hostSpec({1}));
  EXPECT_MESSAGE(BinaryError, builder.load({0}), "mesh_shape is 64x64; expected 1 to 1024 devices");
}

/// The compiler's shape rules hold of a file's ops, too.
TEST(Binary, ChecksShapes) {
  const auto message = [](const char *name, std::vector<Shape> ins, const Shape &out, auto attributes,
                          const std::string &text) {
    ProgramBuilder builder;
    std::vector<uint32_t> operands;
    for (const Shape &shape : ins)
      operands.push_back(builder.input(hostSpec(shape)));
    const auto r = builder.op(name, operands, hostSpec(out), attributes(builder));
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "op 0 (" + std::string(name) + "): " + name + ": " + text);
  };
  using Builder = ProgramBuilder;
  const auto none = [](Builder &) { return Builder::Attributes(); };
  message("ttnn.add", {{2, 3}, {3}}, {3, 2}, none, "result 0 has shape [3, 2]; expected [2, 3]");
  message("ttnn.matmul", {{2, 3}, {4, 5}}, {2, 5}, none, "inner dimensions 3 and 4 differ");
  message(
      "ttnn.permute", {{2, 3}}, {3, 2},
      [](Builder &b) { return Builder::Attributes{b.integers("permutation", {1, -2})}; },
      "attribute 'permutation' has -2; expected 0 to 1");
  message(
      "ttnn.all_reduce", {{2, 3}}, {2, 3},
      [](Builder &b) {
        return Builder::Attributes{b.enumerator("reduce_type", "ttcore.reduce_type", "sum", 0),
                                   b.integer("cluster_axis", 2)};
      },
      "attribute 'cluster_axis' is 2, but the mesh is [1, 1]");
  message(
      "ttnn.quantize", {{2, 3}, {2}, {3}}, {2, 3}, [](Builder &b) { return Builder::Attributes{b.integer("axis", 1)}; },
      "operand 'scale' has shape [2]; expected 1 value, or 3 for the indices of dimension 1");
  message(
      "ttnn.paged_scaled_dot_product_attention_decode", {{1, 2, 4, 8}, {6, 2, 32, 8}, {7, 2, 32, 8}, {2, 3}},
      {1, 2, 4, 8}, none,
      "operands 'key' and 'value' have shapes [6, 2, 32, 8] and [7, 2, 32, 8]; they may differ only in the last size");
}

TEST(Binary, ChecksOps) {
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    const auto r = builder.op("ttnn.frobnicate", {a}, hostSpec({2}));
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "op 0 (ttnn.frobnicate): name is not known to this runtime");
  }
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    const auto r = builder.op("ttnn.add", {a}, hostSpec({2}));
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "op 0 (ttnn.add)");
  }
  {
    ProgramBuilder builder;
    const auto a = builder.input(hostSpec({2}));
    const auto r = builder.op("ttnn.relu", {a}, hostSpec({2}), {builder.integer("color", 1)});
    EXPECT_MESSAGE(BinaryError, builder.load({r}), "color");
  }
  {
    ProgramBuilder builder;
    const auto r = builder.constant(hostSpec({3}), std::vector<float>{1, 2});
    EXPECT_MESSAGE(BinaryError, builder.load({r}),
                   "attribute value has 8 bytes; expected 12 for a result of shape [3]");
  }
}
