//===- MeshTest.cpp - execution of programs on several chips ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"
#include "tt/ttnn/call.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

TEST(Mesh, RunsOnEveryShard) {
  ProgramBuilder builder;
  builder.mesh = {2, 2};
  TensorSpec spec = deviceSpec({3});
  spec.distributed = true;
  const auto a = builder.input(spec);
  const auto b = builder.input(spec);
  const auto binary = builder.load({builder.op("ttnn.add", {a, b}, spec)});
  sim::MeshOptions options;
  options.rows = options.columns = 2;
  const auto device = runtime::openMeshDevice(options);
  std::vector<runtime::Tensor> shards;
  for (int d = 0; d < 4; ++d)
    shards.push_back(tensor(Floats(3, static_cast<float>(d)), {3}));
  const auto distributed = runtime::createMultiDeviceHostTensor(shards, {2, 2});
  // The second operand is the same on all devices.
  const auto outputs = runtime::submit(device, binary, 0, {distributed, tensor({1, 2, 3}, {3})});
  ASSERT_EQ(outputs[0].shards(), 4u);
  for (size_t d = 0; d < 4; ++d) {
    const auto x = static_cast<float>(d);
    EXPECT_EQ(floats(outputs[0], d), (Floats{x + 1, x + 2, x + 3}));
  }
  const auto again = runtime::submit(device, binary, 0, {outputs[0], outputs[0]});
  EXPECT_EQ(floats(again[0], 3), (Floats{8, 10, 12}));
  EXPECT_MESSAGE(Error, runtime::createMultiDeviceHostTensor(shards, {1, 2}), "was given 4 shards");
  runtime::Hooks hooks;
  std::vector<size_t> counts;
  hooks.afterOp = [&](const runtime::ProgramContextPtr &program, const runtime::OpContext &op) {
    counts.push_back(program->read(op.operation().outs[0])->shards());
  };
  const ScopedHooks hooked(std::move(hooks));
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {distributed, distributed})[0], 2), Floats(3, 4));
  EXPECT_EQ(counts, std::vector<size_t>{4});
}

TEST(Mesh, ProgramForOneChipRunsOnAnyMesh) {
  ProgramBuilder builder;
  const auto binary = builder.load({builder.op("ttnn.relu", {builder.input(deviceSpec({2}))}, deviceSpec({2}))});
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {tensor({-1, 2}, {2})})[0]), (Floats{0, 2}));
}

/// all_reduce over the rows of a 2x4 mesh, of an input that all chips have.
uint32_t addReduction(ProgramBuilder &builder, const TensorSpec &result) {
  builder.mesh = {2, 4};
  const auto x = builder.input(deviceSpec({2}));
  return builder.op(
      "ttnn.all_reduce", {x}, result,
      {builder.enumerator("reduce_type", "ttcore.reduce_type", "sum", 0), builder.integer("cluster_axis", 1)});
}

TEST(Mesh, ACollectiveTakesWhatAllChipsHave) {
  ProgramBuilder builder;
  TensorSpec spec = deviceSpec({2});
  spec.distributed = true;
  const auto binary = builder.load({addReduction(builder, spec)});
  sim::MeshOptions options;
  options.rows = 2, options.columns = 4;
  const auto device = runtime::openMeshDevice(options);
  std::vector<runtime::Tensor> shards(8, tensor({1, 2}, {2}));
  for (const auto &input : {shards[0], runtime::createMultiDeviceHostTensor(shards, {2, 4})}) {
    const auto output = runtime::submit(device, binary, 0, {input})[0];
    ASSERT_EQ(output.shards(), 8u);
    for (size_t d = 0; d < 8; ++d)
      EXPECT_EQ(floats(output, d), (Floats{4, 8}));
    Floats one(2);
    runtime::copyData(one.data(), output);
    EXPECT_EQ(one, (Floats{4, 8}));
  }
  shards[3] = shards[6] = tensor({1, 3}, {2});
  const auto different = runtime::createMultiDeviceHostTensor(shards, {2, 4});
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {different}),
                 "program \"main\": input 0: expected the same values on all 8 chips, but chips 3 and 6 differ from "
                 "chip 0");
  Floats one(2);
  EXPECT_MESSAGE(Error, (runtime::copyData(one.data(), different), 0),
                 "memcpy: expected the same values on all 8 chips, but chips 3 and 6 differ from chip 0");
  shards.resize(4);
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {runtime::createMultiDeviceHostTensor(shards, {2, 2})}),
                 "input 0 (%0) has 4 shards; expected 8, or 1 for all devices");
  // A hook may give such a value a tensor for each chip, as long as they agree.
  runtime::Hooks hooks;
  std::string problem;
  hooks.beforeProgram = [&](const runtime::ProgramContextPtr &program) {
    program->write(0, runtime::createMultiDeviceHostTensor(std::vector(8, tensor({2, 2}, {2})), {2, 4}));
    problem = message<Error>([&] { program->write(0, different); });
  };
  const ScopedHooks hooked(std::move(hooks));
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {tensor({1, 2}, {2})})[0], 7), (Floats{8, 8}));
  EXPECT_EQ(problem,
            "update_tensor_in_pool: expected the same values on all 8 chips, but chips 3 and 6 differ from chip 0");
}

TEST(Mesh, DumpsTheShardsOfAllChipsOnce) {
  const std::string path = (std::filesystem::temp_directory_path() / "mesh-dump.tensorbin").string();
  ProgramBuilder builder;
  builder.mesh = {1, 2};
  TensorSpec spec = deviceSpec({2});
  spec.distributed = true;
  const auto x = builder.input(spec);
  builder.rawOp("ttnn.dump_tensor", {x}, {},
                {builder.attribute("file_path", target::AttributeValue::StringValue,
                                   target::CreateStringValueDirect(builder.fbb, path.c_str()).Union())});
  const auto binary = builder.load({x});
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  const std::vector<runtime::Tensor> shards = {tensor({1, 2}, {2}), tensor({3, 4}, {2})};
  runtime::submit(device, binary, 0, {runtime::createMultiDeviceHostTensor(shards, {1, 2})});
  const auto found = ttnn::call(*ttnn::findCallable("ttnn.load_tensor"), {}, {{"file_path", {path}}})[0];
  ASSERT_EQ(found.shards(), 2u);
  EXPECT_EQ(found.meshShape(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(floats(found, 1), (Floats{3, 4}));
  std::filesystem::remove(path);
}

TEST(Mesh, RefusesACollectiveIntoOneTensor) {
  ProgramBuilder builder;
  const auto result = addReduction(builder, deviceSpec({2}));
  EXPECT_MESSAGE(BinaryError, builder.load({result}),
                 "ttnn.all_reduce: result 0 is one tensor; expected a shard for each of the 8 chips of the mesh");
}

TEST(Mesh, RefusesAnOpThatWouldMixShards) {
  ProgramBuilder builder;
  builder.mesh = {1, 2};
  TensorSpec spec = deviceSpec({3});
  spec.distributed = true;
  const auto binary = builder.load({builder.op("ttnn.relu", {builder.input(spec)}, deviceSpec({3}))});
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  EXPECT_MESSAGE(OpError, runtime::submit(device, binary, 0, {tensor({1, 2, 3}, {3})}),
                 "operands have 2 shards and results 1");
}
