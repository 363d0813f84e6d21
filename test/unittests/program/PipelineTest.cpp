//===- PipelineTest.cpp - programs that run as stages ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include "tt/runtime/fabric.h"
#include "tt/runtime/memory_map.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tt;
using namespace tt::test;
using runtime::Stage;
using runtime::StageValue;
using Floats = std::vector<float>;

namespace {

constexpr int64_t width = 96;
constexpr uint32_t ofInput = StageValue::ofPipeline;

TensorSpec rows(int64_t count) { return deviceSpec({count, width}); }
const TensorSpec square = deviceSpec({width, width});

Floats ramp(int64_t count, float step) {
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = step * static_cast<float>(static_cast<int64_t>(i * 7 % 31) - 15);
  return values;
}

uint32_t layer(ProgramBuilder &builder, uint32_t x, uint32_t w, int64_t count) {
  return builder.op("ttnn.relu", {builder.op("ttnn.matmul", {x, w}, rows(count))}, rows(count));
}

/// Three stages on a row of chips: a = layer(x, v), b = layer(a, w) twice, c = a + b. Program 3 is all of it on one
/// chip, program 4 ("main") the pipeline.
struct Network {
  int64_t batch = 64;
  uint32_t microBatches = 2;
  std::vector<uint32_t> columns = {0, 1, 2}; // of the stages
  uint32_t chips = 3;

  runtime::Binary load() const {
    ProgramBuilder builder;
    const int64_t part = batch / microBatches;
    builder.mesh = {1, 1};
    auto x = builder.input(rows(part)), v = builder.input(square);
    builder.endProgram("first", {layer(builder, x, v, part)}, true);
    x = builder.input(rows(part)), v = builder.input(square);
    builder.endProgram("second", {layer(builder, layer(builder, x, v, part), v, part)}, true);
    x = builder.input(rows(part));
    builder.endProgram("third", {builder.op("ttnn.add", {x, builder.input(rows(part))}, rows(part))}, true);
    x = builder.input(rows(batch)), v = builder.input(square);
    const auto w = builder.input(square), a = layer(builder, x, v, batch),
               b = layer(builder, layer(builder, a, w, batch), w, batch);
    builder.endProgram("whole", {builder.op("ttnn.add", {b, a}, rows(batch)), a}, false);
    builder.mesh = {1, chips};
    for (const TensorSpec &spec : {rows(batch), square, square})
      builder.input(spec);
    builder.stages({{0, {1, 1, 0, columns[0]}, {{ofInput, 0}, {ofInput, 1}}},
                    {1, {1, 1, 0, columns[1]}, {{0, 0}, {ofInput, 2}}},
                    {2, {1, 1, 0, columns[2]}, {{1, 0}, {0, 0}}}},
                   {{2, 0}, {0, 0}}, microBatches);
    return builder.load({builder.value(rows(batch)), builder.value(rows(batch))});
  }
  std::vector<runtime::Tensor> inputs() const {
    return {tensor(ramp(batch * width, 0.1F), {batch, width}), tensor(ramp(width * width, 0.03F), {width, width}),
            tensor(ramp(width * width, -0.02F), {width, width})};
  }
};

runtime::Device row(uint32_t chips) {
  sim::MeshOptions options;
  options.columns = chips;
  return runtime::openMeshDevice(options);
}

void expectSameBits(const runtime::Tensor &found, const runtime::Tensor &expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.bytes()), 0);
}

/// What the clock is told to take, by hand: bytes times hops of a link of 25 GB/s, 500 ns for the way, 1 us for a
/// launch.
double sendNs(int64_t count, int64_t hops) {
  const int64_t tiles = (count + 31) / 32 * ((width + 31) / 32);
  return static_cast<double>(tiles * 4096 * hops) / 12.0 + 711 * static_cast<double>(hops) + 6000;
}

double aloneNs(const runtime::Binary &binary, size_t program, const std::vector<runtime::Tensor> &inputs) {
  const auto device = row(1);
  (void)runtime::submit(device, binary, program, inputs);
  return runtime::lastRun(device)->deviceNs;
}

TEST(Pipeline, HasTheBitsOfTheWholeProgram) {
  for (const uint32_t microBatches : {1u, 2u, 4u, 64u}) {
    Network network;
    network.microBatches = microBatches;
    const auto binary = network.load();
    const auto device = row(3), one = row(1);
    const auto inputs = network.inputs();
    const auto expected = runtime::submit(one, binary, 3, inputs);
    for (int run = 0; run < 2; ++run) {
      const auto found = runtime::submit(device, binary, 4, inputs);
      ASSERT_EQ(found.size(), 2u);
      for (size_t i = 0; i < found.size(); ++i)
        expectSameBits(found[i], expected[i]);
    }
  }
}

/// Of equal micro-batches in a line the last one leaves when the slowest stage has had all of them: the time of one
/// through all stages, and of all others in the slowest.
TEST(Pipeline, TakesFillingAndTheSlowestStage) {
  for (const uint32_t microBatches : {1u, 2u, 8u}) {
    Network network;
    network.batch = 256;
    network.microBatches = microBatches;
    const auto binary = network.load();
    const int64_t part = network.batch / microBatches;
    const auto x = tensor(ramp(part * width, 0.1F), {part, width}), w = network.inputs()[1];
    // a is sent to the next chip, and to the one behind it.
    const std::vector<double> stages = {aloneNs(binary, 0, {x, w}) + sendNs(part, 1) + sendNs(part, 2),
                                        aloneNs(binary, 1, {x, w}) + sendNs(part, 1), aloneNs(binary, 2, {x, x})};
    const double work = stages[0] + stages[1] + stages[2];
    const double expected = work + (microBatches - 1) * std::max({stages[0], stages[1], stages[2]});
    const auto device = row(3);
    (void)runtime::submit(device, binary, 4, network.inputs());
    const auto run = runtime::lastRun(device);
    sim::MeshOptions options;
    options.columns = 3;
    const auto guess = runtime::estimate(binary, 4, options);
    EXPECT_MESSAGE(Error, runtime::memoryMap(binary, 4, options), "memory_map: program 4 has stages");
    for (const runtime::RunReport *report : {run.get(), &guess}) {
      EXPECT_NEAR(report->deviceNs, expected, 1e-6 * expected);
      EXPECT_NEAR(report->bubble, 1 - microBatches * work / (3 * expected), 1e-9);
      EXPECT_EQ(report->microBatches, microBatches);
      ASSERT_EQ(report->stages.size(), 3u);
      EXPECT_EQ(report->stages[1].name, "second");
      EXPECT_EQ(report->stages[1].place, (sim::Rectangle{1, 1, 0, 1}));
      EXPECT_NEAR(report->stages[1].firstNs, stages[0], 1e-6 * expected);
      EXPECT_NEAR(report->stages[2].lastNs, expected, 1e-6 * expected);
      EXPECT_NEAR(report->stages[1].computeNs + report->stages[1].sendNs, microBatches * stages[1], 1e-6 * expected);
      EXPECT_EQ(report->stages[0].sentBytes, 2 * network.batch * width * 4);
      EXPECT_GT(report->memoryPeak[0], 0);
    }
  }
}

TEST(Pipeline, SaysWhatItSends) {
  Network network;
  network.columns = {3, 0, 1};
  network.chips = 4;
  const auto sends = runtime::sends(network.load(), 4, Arch::WormholeB0);
  ASSERT_EQ(sends.size(), 3u);
  EXPECT_EQ(sends[0].op, 0u);
  EXPECT_EQ(sends[0].sends[0].route, (std::vector<uint32_t>{3, 2, 1, 0}));
  EXPECT_EQ(sends[1].sends[0].route, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(sends[2].sends[0].route, (std::vector<uint32_t>{3, 2, 1}));
  EXPECT_DOUBLE_EQ(sends[0].fabricNs + 6000, sendNs(32, 3));
}

TEST(Pipeline, ChipsHaveTheirOwnMemoryAndTime) {
  const Network network;
  const auto binary = network.load();
  const auto device = row(3);
  (void)runtime::submit(device, binary, 4, network.inputs());
  const auto parts = device->subMeshes();
  ASSERT_EQ(parts.size(), 3u);
  const auto report = runtime::lastRun(device);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_NEAR(parts[i]->totals().ns, report->stages[i].computeNs, 1e-3);
    EXPECT_EQ(parts[i]->memoryView(sim::Memory::DRAM).allocated, 0); // all of it was given back
  }
  EXPECT_GT(report->stages[0].memoryPeak[0], report->stages[2].memoryPeak[0]); // with weights
}

TEST(Pipeline, MakesWayForTheSubMeshesOfAUser) {
  const Network network;
  const auto binary = network.load();
  const auto device = row(3);
  const auto inputs = network.inputs();
  const auto before = runtime::submit(device, binary, 4, inputs);
  auto part = runtime::createSubMeshDevice(device, {1, 2, 0, 1});
  EXPECT_MESSAGE(DeviceError, runtime::submit(device, binary, 4, inputs),
                 "program \"main\", stage 1: a sub-mesh of 1x1 chips at [0, 1] overlaps with device");
  runtime::releaseSubMeshDevice(part);
  expectSameBits(runtime::submit(device, binary, 4, inputs)[0], before[0]);
}

TEST(Pipeline, RefusesInputsThatItDoesNotTake) {
  const Network network;
  const auto binary = network.load();
  const auto device = row(3), other = row(3);
  auto inputs = network.inputs();
  const auto submit = [&](const runtime::Device &on) { return runtime::submit(on, binary, 4, inputs); };
  EXPECT_MESSAGE(DeviceError, submit(row(2)), "was compiled for a mesh of 1x3");
  inputs[0] = tensor(ramp(width, 1), {1, width});
  EXPECT_MESSAGE(Error, submit(device), "program \"main\": input 0 has shape [1, 96]; expected [64, 96]");
  inputs[0] = runtime::toLayout(network.inputs()[0], other, rows(64));
  EXPECT_MESSAGE(DeviceError, submit(device), "program \"main\": input 0 lies on device");
  inputs[0] = runtime::castTensor(network.inputs()[0], DataType::BFloat16);
  EXPECT_MESSAGE(Error, submit(device), "program \"first\": input 0 (%0) has type");
  inputs[0] = {};
  EXPECT_MESSAGE(Error, submit(device), "program \"main\": input 0 is empty");
  inputs.pop_back();
  EXPECT_MESSAGE(Error, submit(device), "program \"main\" takes 3 inputs and was given 2");
  inputs = network.inputs();
  const auto expected = submit(device);
  inputs[0] = runtime::toLayout(inputs[0], device, rows(64)); // on all chips of the mesh
  expectSameBits(submit(device)[0], expected[0]);
}

/// Micro-batches of what is distributed over the chips of a stage are those of each chip's part.
TEST(Pipeline, StagesOfSeveralChipsExchangeShards) {
  ProgramBuilder builder;
  TensorSpec part = hostSpec({2, 3});
  part.distributed = true;
  builder.mesh = {2, 1};
  const auto relu = builder.input(part);
  builder.endProgram("relu", {builder.op("ttnn.relu", {relu}, part)}, true);
  const auto neg = builder.input(part);
  builder.endProgram("neg", {builder.op("ttnn.neg", {neg}, part)}, true);
  builder.mesh = {2, 2};
  TensorSpec whole = part;
  whole.shape = {4, 3};
  builder.input(whole);
  builder.stages({{0, {2, 1, 0, 0}, {{ofInput, 0}}}, {1, {2, 1, 0, 1}, {{0, 0}}}}, {{1, 0}}, 2);
  const auto binary = builder.load({builder.value(whole)});
  sim::MeshOptions options;
  options.rows = options.columns = 2;
  const auto device = runtime::openMeshDevice(options);
  const Floats first = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6}, second = {-7, 7, -8, 8, -9, 9, 1, 2, 3, 4, 5, 6};
  const std::vector<runtime::Tensor> shards = {tensor(first, {4, 3}), tensor(second, {4, 3})};
  const auto output = runtime::submit(device, binary, 2, {runtime::createMultiDeviceHostTensor(shards, {2, 1})})[0];
  ASSERT_EQ(output.shards(), 2u);
  for (size_t shard = 0; shard < 2; ++shard)
    for (size_t i = 0; i < 12; ++i)
      EXPECT_EQ(floats(output, shard)[i], -std::max(0.0F, (shard ? second : first)[i]));
  const auto sends = runtime::sends(binary, 2, Arch::WormholeB0);
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].sends[0].route, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(sends[0].sends[1].route, (std::vector<uint32_t>{2, 3}));
}

TEST(Pipeline, RunsWithHooks) {
  const Network network;
  const auto binary = network.load();
  const auto device = row(3);
  const auto expected = runtime::submit(device, binary, 4, network.inputs());
  std::vector<size_t> programs;
  runtime::Hooks hooks;
  hooks.beforeProgram = [&](const auto &context) { programs.push_back(context->program()); };
  runtime::setHooks(hooks);
  const auto found = runtime::submit(device, binary, 4, network.inputs());
  runtime::clearHooks();
  expectSameBits(found[0], expected[0]);
  // The first micro-batch is in the second stage when the second one is in the first.
  EXPECT_EQ(programs, (std::vector<size_t>{0, 1, 0, 2, 1, 2}));
}

//===- Files --------------------------------------------------------------===//

/// A pipeline of two stages of one op, as `change` makes it wrong.
void refused(const std::function<void(std::vector<Stage> &, std::vector<StageValue> &, uint32_t &)> &change,
             const std::string &text) {
  ProgramBuilder builder;
  auto x = builder.input(rows(32));
  builder.endProgram("a", {builder.op("ttnn.relu", {x}, rows(32))}, true);
  x = builder.input(rows(32));
  builder.endProgram("b", {builder.op("ttnn.matmul", {x, builder.input(square)}, rows(32))}, true);
  builder.mesh = {1, 2};
  builder.input(rows(64));
  builder.input(square);
  std::vector<Stage> stages = {{0, {1, 1, 0, 0}, {{ofInput, 0}}}, {0, {1, 1, 0, 1}, {{0, 0}}}};
  std::vector<StageValue> outputs = {{1, 0}};
  uint32_t microBatches = 2;
  change(stages, outputs, microBatches);
  builder.stages(stages, outputs, microBatches);
  EXPECT_MESSAGE(BinaryError, builder.load({builder.value(rows(64))}), "program \"main\": pipeline." + text);
}

TEST(Pipeline, ChecksItsStages) {
  using Stages = std::vector<Stage> &;
  using Values = std::vector<StageValue> &;
  refused([](Stages, Values, uint32_t &count) { count = 0; }, "micro_batches is 0; expected 1 to 65536");
  refused([](Stages, Values, uint32_t &count) { count = 3; },
          "stages[0].inputs[0] is [64, 96] of f32; expected [32, 96] of f32, or 3 times as long in dimension 0");
  refused([](Stages stages, Values, uint32_t &) { stages.clear(); }, "stages is empty; expected at least one stage");
  refused([](Stages stages, Values, uint32_t &) { stages[1].program = 7; },
          "stages[1].program is 7; expected an index below 3 into the programs");
  refused([](Stages stages, Values, uint32_t &) { stages[1].program = 2; },
          "stages[1].program names program \"main\", which has stages itself");
  refused([](Stages stages, Values, uint32_t &) { stages[1].place.firstColumn = 2; },
          "stages[1].mesh_offset puts program \"a\" on 1x1 chips at [0, 2]; expected chips of the mesh of 1x2");
  refused([](Stages stages, Values, uint32_t &) { stages[1].place.firstRow = 4294967295u; },
          "stages[1].mesh_offset puts program \"a\" on 1x1 chips at [4294967295, 1]");
  refused([](Stages stages, Values, uint32_t &) { stages[1].place.firstColumn = 0; },
          "stages[1].mesh_offset puts it on 1x1 chips at [0, 0], as stages[0] is on 1x1 chips at [0, 0]");
  refused([](Stages stages, Values, uint32_t &) { stages[1].inputs.clear(); },
          "stages[1].inputs has 0 entries; expected 1, one for each input of program \"a\"");
  refused([](Stages stages, Values, uint32_t &) { stages[1].inputs[0] = {1, 0}; },
          "stages[1].inputs[0].stage is 1; expected an earlier stage");
  refused([](Stages stages, Values, uint32_t &) { stages[1].inputs[0] = {0, 1}; },
          "stages[1].inputs[0].index is 1; expected an index below 1 into the outputs of the stage");
  refused([](Stages stages, Values, uint32_t &) { stages[1].inputs[0] = {ofInput, 5}; },
          "stages[1].inputs[0].index is 5; expected an index below 2 into the inputs");
  refused([](Stages stages, Values, uint32_t &) { stages[1] = {1, {1, 1, 0, 1}, {{0, 0}, {0, 0}}}; },
          "stages[1].inputs[1] is [32, 96] of f32; expected [96, 96] of f32");
  refused([](Stages, Values outputs, uint32_t &) { outputs.clear(); },
          "outputs has 0 entries; expected 1, one for each output");
  refused([](Stages, Values outputs, uint32_t &) { outputs[0] = {ofInput, 0}; }, "outputs[0].stage is 4294967295");
  refused([](Stages, Values outputs, uint32_t &) { outputs[0].stage = 2; },
          "outputs[0].stage is 2; expected an earlier stage");
}

TEST(Pipeline, ChecksWhatItSharesWithOps) {
  const auto build = [](bool withOp, bool called) {
    ProgramBuilder builder;
    auto x = builder.input(rows(32));
    builder.endProgram("a", {builder.op("ttnn.relu", {x}, rows(32))}, true);
    x = builder.input(rows(32));
    builder.stages({{0, {1, 1, 0, 0}, {{ofInput, 0}}}}, {{0, 0}}, 1);
    auto result = withOp ? builder.op("ttnn.relu", {x}, rows(32)) : builder.value(rows(32));
    if (!called)
      return builder.load({result});
    builder.endProgram("b", {result}, true);
    x = builder.input(rows(32));
    return builder.load({builder.cached(1, {x}, rows(32))});
  };
  EXPECT_MESSAGE(BinaryError, build(true, false), "operations has 1 entries; expected none in a program of stages");
  EXPECT_MESSAGE(BinaryError, build(false, true), "attribute callee names program \"b\", which has stages");
  const auto binary = build(false, false);
  const auto input = tensor(Floats(32 * width, -1), {32, width});
  EXPECT_EQ(floats(runtime::submit(row(1), binary, 1, {input})[0]), Floats(32 * width, 0));
  EXPECT_NE(binary.asJson().find(R"("pipeline": {"micro_batches": 1, "stages": [{"program": 0, "mesh_shape": [1, 1], )"
                                 R"("mesh_offset": [0, 0], "inputs": [{"input": 0}]}], "outputs": [{"stage": 0, )"
                                 R"("output": 0}]})"),
            std::string::npos)
      << binary.asJson();
}

} // namespace

TEST(Pipeline, AMeshThatNobodyHoldsGoesWithItsStages) {
  const Network network;
  std::weak_ptr<sim::MeshDevice> mesh;
  std::weak_ptr<const runtime::RunReport> report;
  auto binary = std::make_shared<runtime::Binary>(network.load());
  for (int round = 0; round < 2; ++round) { // the binary outlives the mesh, and runs on another
    const auto device = row(3);
    EXPECT_EQ(runtime::submit(device, *binary, 4, network.inputs()).size(), 2u);
    EXPECT_EQ(device->subMeshes().size(), 3u);
    EXPECT_EQ(device->subMeshes()[0]->parent(), device);
    EXPECT_TRUE(mesh.expired());
    mesh = device;
    report = runtime::lastRun(device);
  }
  EXPECT_TRUE(mesh.expired());
  EXPECT_TRUE(report.expired());
  auto device = row(3); // the mesh outlives the binary
  runtime::submit(device, *binary, 4, network.inputs());
  binary.reset();
  mesh = device;
  EXPECT_EQ(runtime::lastRun(device)->stages.size(), 3u);
  device.reset();
  EXPECT_TRUE(mesh.expired());
}
