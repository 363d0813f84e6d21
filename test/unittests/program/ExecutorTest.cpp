//===- ExecutorTest.cpp - execution of programs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"
#include "tt/runtime/memory_map.h"
#include "tt/sim/host.h"
#include "tt/ttnn/trace.h"

#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

TEST(Executor, RunsAnOp) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({2, 2}));
  const auto b = builder.input(deviceSpec({2, 2}));
  const auto binary = builder.load({builder.op("ttnn.add", {a, b}, deviceSpec({2, 2}))});
  const auto device = runtime::openMeshDevice();
  const auto outputs = runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {2, 2}), tensor({5, 6, 7, 8}, {2, 2})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(outputs[0].isOnDevice());
  EXPECT_EQ(floats(outputs[0]), (Floats{6, 8, 10, 12}));
  // Inputs were moved for the run only; the output stays.
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 4096);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).peak, 3 * 4096);
}

/// A trace runs the program again: it reads its inputs and writes its outputs where they were.
TEST(Executor, RunsAgainInTraces) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({4})), b = builder.input(deviceSpec({4}));
  const auto binary = builder.load({builder.op("ttnn.add", {a, b}, deviceSpec({4})), a});
  const auto device = runtime::openMeshDevice();
  const auto left = runtime::toLayout(tensor({1, 2, 3, 4}, {4}), device, deviceSpec({}));
  const auto right = tensor({10, 20, 30, 40}, {4}); // on the host
  const auto trace = ttnn::Trace::begin(device);
  const auto outputs = runtime::submit(device, binary, 0, {left, right});
  const auto copy = outputs[0].clone();
  trace->end(device);
  EXPECT_EQ(trace->calls(), 1u);
  EXPECT_EQ(floats(outputs[0]), (Floats{11, 22, 33, 44}));
  const auto used = device->memoryView(sim::Memory::DRAM).allocated;
  const auto address = outputs[0].address();
  runtime::copyData(left, tensor({5, 6, 7, 8}, {4}));
  runtime::copyData(right, tensor({0, 0, 0, 1}, {4}));
  for (int run = 0; run < 2; ++run) {
    trace->execute(device);
    EXPECT_EQ(floats(outputs[0]), (Floats{5, 6, 7, 9}));
    EXPECT_EQ(floats(outputs[1]), (Floats{5, 6, 7, 8}));
  }
  EXPECT_EQ(outputs[0].address(), address);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, used);
  EXPECT_EQ(floats(copy), (Floats{11, 22, 33, 44}));
  trace->release(device);
  const auto next = ttnn::Trace::begin(device);
  Floats values = {1, 2, 3, 4};
  const auto shown = runtime::createBorrowedHostTensor(values.data(), {4}, DataType::Float32);
  try {
    (void)runtime::submit(device, binary, 0, {left, shown});
    FAIL();
  } catch (const DeviceError &error) {
    EXPECT_STREQ(error.what(),
                 ("submit: input 1 shows memory of the caller, and device " + std::to_string(device->id()) +
                  " records a trace, which runs again later; expected a tensor that owns its values")
                     .c_str());
  }
  next->end(device);
  EXPECT_EQ(next->calls(), 0u);
  EXPECT_EQ(runtime::submit(device, binary, 0, {left, shown}).size(), 2u);
}

TEST(Executor, UsesConstantsWhereTheyLie) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({4}));
  const auto c = builder.constant(deviceSpec({4}), {1, 10, 100, 1000});
  const auto doubled = builder.op("ttnn.add", {c, c}, deviceSpec({4})); // computed once
  const auto binary = builder.load({builder.op("ttnn.add", {a, doubled}, deviceSpec({4})), c});
  const auto device = runtime::openMeshDevice();
  for (int i = 0; i < 2; ++i) {
    const auto outputs = runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})});
    EXPECT_EQ(floats(outputs[0]), (Floats{3, 22, 203, 2004}));
    EXPECT_EQ(floats(outputs[1]), (Floats{1, 10, 100, 1000}));
  }
}

TEST(Executor, ReturnsInputsAndRepeatedValuesAsTensorsOfTheirOwn) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({4}));
  const auto r = builder.op("ttnn.relu", {a}, deviceSpec({4}));
  const auto shape = builder.op("ttnn.reshape", {r}, deviceSpec({2, 2}), {builder.integers("shape", {2, 2})});
  const auto binary = builder.load({a, r, r, shape});
  const auto device = runtime::openMeshDevice();
  const auto input = runtime::toLayout(tensor({-1, 2, -3, 4}, {4}), device, deviceSpec({}));
  const auto outputs = runtime::submit(device, binary, 0, {input});
  EXPECT_EQ(floats(outputs[0]), (Floats{-1, 2, -3, 4}));
  for (size_t i = 1; i < 4; ++i)
    EXPECT_EQ(floats(outputs[i]), (Floats{0, 2, 0, 4}));
  EXPECT_EQ(outputs[3].shape(), (Shape{2, 2}));
  std::set<int64_t> addresses{input.address()};
  std::set<std::byte *> data{input.data()};
  for (const auto &output : outputs) {
    addresses.insert(output.address());
    data.insert(output.data());
  }
  EXPECT_EQ(addresses.size(), 5u);
  EXPECT_EQ(data.size(), 5u);
}

/// Long-lived, short-lived and deallocated values share memory without disturbing each other.
TEST(Executor, ReusesMemoryOfDeadValues) {
  ProgramBuilder builder;
  const TensorSpec spec = deviceSpec({256});
  const auto a = builder.input(spec);
  std::vector<uint32_t> values = {a};
  for (int i = 0; i < 40; ++i) {
    values.push_back(builder.op("ttnn.add", {values.back(), i % 7 == 6 ? values[values.size() / 2] : a}, spec));
    if (i % 5 == 4 && values.size() > 30)
      builder.deallocate(values[values.size() - 2]), values.erase(values.end() - 2);
  }
  const auto binary = builder.load({values.back()});
  const auto device = runtime::openMeshDevice();
  const auto run = [&] {
    Floats ones(256);
    for (size_t i = 0; i < ones.size(); ++i)
      ones[i] = static_cast<float>(i % 16);
    return floats(runtime::submit(device, binary, 0, {tensor(ones, {256})})[0]);
  };
  const Floats fast = run();
  EXPECT_EQ(run(), fast);
  EXPECT_LT(runtime::lastRun(device)->arenaBytes, 40 * 1024u);
  const ScopedHooks hooked({});
  EXPECT_EQ(run(), fast);
}

/// What follows reads the piece where it lies in the memory of the output.
TEST(Executor, SeesPiecesOfOutputs) {
  ProgramBuilder builder;
  const auto x = builder.input(deviceSpec({4, 2}));
  const auto sum = builder.op("ttnn.add", {x, x}, deviceSpec({4, 2}));
  const auto rows = builder.op(
      "ttnn.slice_static", {sum}, deviceSpec({2, 2}),
      {builder.integers("begins", {2, 0}), builder.integers("ends", {4, 2}), builder.integers("step", {1, 1})});
  const auto total = builder.op("ttnn.sum", {rows}, deviceSpec({2}),
                                {builder.boolean("keep_dim", false), builder.integers("dim_arg", {1})});
  const auto binary = builder.load({total, sum});
  const auto device = runtime::openMeshDevice();
  for (int run = 0; run < 2; ++run) {
    const auto outputs = runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})});
    EXPECT_EQ(floats(outputs[0]), (Floats{22, 30}));
    EXPECT_EQ(floats(outputs[1]), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
  }
}

/// Pieces that lie together, and permutations that move nothing, are views; they work like copies.
TEST(Executor, SeesPiecesWhereTheyLie) {
  ProgramBuilder builder;
  const auto slice = [&](uint32_t value, std::vector<int64_t> begins, std::vector<int64_t> ends, Shape shape) {
    return builder.op("ttnn.slice_static", {value}, deviceSpec(std::move(shape)),
                      {builder.integers("begins", begins), builder.integers("ends", ends),
                       builder.integers("step", std::vector<int64_t>(begins.size(), 1))});
  };
  const auto x = builder.input(deviceSpec({4, 2}));
  const auto c = builder.constant(deviceSpec({4, 2}), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto of = [&](uint32_t value) {
    const auto middle = slice(value, {1, 0}, {3, 2}, {2, 2});
    return slice(middle, {1, 0}, {2, 2}, {1, 2}); // row 2
  };
  const auto row = of(x), ofConstant = of(c);
  const auto flat =
      builder.op("ttnn.permute",
                 {builder.op("ttnn.reshape", {row}, deviceSpec({1, 2, 1}), {builder.integers("shape", {1, 2, 1})})},
                 deviceSpec({2, 1, 1}), {builder.integers("permutation", {1, 0, 2})});
  const auto columns = slice(x, {0, 1}, {4, 2}, {4, 1}); // do not lie together
  const auto sum = builder.op("ttnn.add", {row, ofConstant}, deviceSpec({1, 2}));
  const auto computed = builder.op("ttnn.softmax", {x}, deviceSpec({4, 2}), {builder.integer("dimension", 1)});
  const auto none = slice(x, {4, 0}, {4, 2}, {0, 2});
  const auto binary = builder.load({row, ofConstant, flat, columns, sum, of(computed), none});
  const auto device = runtime::openMeshDevice();
  for (const bool observed : {false, true}) {
    if (observed)
      runtime::setHooks({});
    const auto outputs = runtime::submit(device, binary, 0, {tensor({0, 10, 20, 30, 40, 50, 60, 60}, {4, 2})});
    runtime::clearHooks();
    EXPECT_EQ(floats(outputs[0]), (Floats{40, 50}));
    EXPECT_EQ(floats(outputs[1]), (Floats{4, 5}));
    EXPECT_EQ(floats(outputs[2]), (Floats{40, 50}));
    EXPECT_EQ(floats(outputs[3]), (Floats{10, 30, 50, 60}));
    EXPECT_EQ(floats(outputs[4]), (Floats{44, 55}));
    EXPECT_NEAR(floats(outputs[5])[0], 4.54e-5, 1e-6);
    EXPECT_TRUE(floats(outputs[6]).empty());
    EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 6 * 4096 + 32); // the empty one takes the least
  }
}

TEST(Executor, ChecksInputs) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({2, 2}));
  const auto binary = builder.load({builder.op("ttnn.relu", {a}, deviceSpec({2, 2}))});
  const auto device = runtime::openMeshDevice();
  const auto submit = [&](std::vector<runtime::Tensor> inputs) { return runtime::submit(device, binary, 0, inputs); };
  EXPECT_MESSAGE(Error, submit({}), "program \"main\" takes 1 inputs and was given 0");
  EXPECT_MESSAGE(Error, submit({tensor({1, 2}, {2})}), "input 0 (%0) has shape [2]; expected [2, 2]");
  const int32_t integers[4] = {};
  EXPECT_MESSAGE(Error, submit({runtime::createHostTensor(integers, {2, 2}, DataType::Int32)}),
                 "input 0 (%0) has type si32; expected f32");
  auto gone = tensor({1, 2, 3, 4}, {2, 2});
  gone.deallocate();
  EXPECT_MESSAGE(Error, submit({gone}), "submit: the tensor of shape [2, 2] was deallocated");
  EXPECT_MESSAGE(Error, submit({runtime::Tensor()}), "input 0 (%0) is empty");
  const auto other = runtime::openMeshDevice();
  EXPECT_MESSAGE(DeviceError, submit({runtime::toLayout(tensor({1, 2, 3, 4}, {2, 2}), other, deviceSpec({}))}),
                 "lies on device");
}

TEST(Executor, RefusesClosedAndOtherDevices) {
  ProgramBuilder builder;
  builder.mesh = {1, 2};
  const auto binary = builder.load({builder.input(hostSpec({1}))});
  const auto device = runtime::openMeshDevice();
  EXPECT_MESSAGE(DeviceError, runtime::submit(device, binary, 0, {tensor({1}, {1})}),
                 "was compiled for a mesh of 1x2, but device");
  EXPECT_MESSAGE(DeviceError,
                 runtime::submit(runtime::openMeshDevice(sim::meshOptions("p300")), binary, 0, {tensor({1}, {1})}),
                 "compiled for wormhole_b0, but device");
  const auto onDevice = runtime::toLayout(tensor({1}, {1}), device, deviceSpec({}));
  runtime::closeMeshDevice(device);
  EXPECT_MESSAGE(DeviceError, runtime::submit(device, binary, 0, {tensor({1}, {1})}), "submit: device");
  EXPECT_MESSAGE(DeviceError, runtime::submit(device, binary, 0, {tensor({1}, {1})}), "is closed");
  EXPECT_MESSAGE(DeviceError, runtime::closeMeshDevice(device), "is closed");
  EXPECT_MESSAGE(DeviceError, runtime::toHost(onDevice), "to_host: device");
  EXPECT_MESSAGE(DeviceError, runtime::submit(nullptr, binary, 0, {}), "no device");
}

TEST(Executor, NamesTheOpThatDoesNotTakeItsOperands) {
  ProgramBuilder builder;
  const auto spec = hostSpec({1, 1, 2, 4}, DataType::Int32);
  const auto a = builder.input(spec);
  const auto binary = builder.load(
      {builder.op("ttnn.scaled_dot_product_attention", {a, a, a}, spec, {builder.boolean("is_causal", false)})});
  EXPECT_MESSAGE(OpError,
                 runtime::submit(runtime::openMeshDevice(), binary, 0,
                                 {runtime::castTensor(tensor(Floats(8), {1, 1, 2, 4}), DataType::Int32)}),
                 "program \"main\": op 0 (ttnn.scaled_dot_product_attention) at loc(\"op0\"): ");
}

TEST(Executor, SaysWhatFillsTheMemory) {
  for (const BufferType buffer : {BufferType::L1, BufferType::DRAM}) {
    const bool l1 = buffer == BufferType::L1;
    ProgramBuilder builder;
    const TensorSpec spec = deviceSpec({l1 ? 2048 : 32768, l1 ? 4096 : 65536}, DataType::Float32, buffer);
    std::vector<uint32_t> values;
    for (int i = 0; i < 4; ++i)
      values.push_back(
          builder.op("ttnn.full", {}, spec, {builder.integers("shape", spec.shape), builder.real("fill_value", 1)}));
    const auto binary = builder.load({builder.op("ttnn.add", {values[0], values[3]}, spec)});
    const auto device = runtime::openMeshDevice();
    sim::setHostMemoryLimit(size_t(64) << 30);
    const std::string text = message<OutOfMemoryError>([&] { runtime::submit(device, binary, 0, {}); });
    sim::setHostMemoryLimit(0);
    EXPECT_NE(text.find(l1 ? "out of L1 on device" : "out of DRAM on device"), std::string::npos) << text;
    EXPECT_NE(text.find(l1 ? "result of op 2 (ttnn.full) of program \"main\"" : "result of op 1 (ttnn.full)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("per bank on"), std::string::npos) << text;
    EXPECT_NE(text.find("the largest piece"), std::string::npos) << text;
    EXPECT_NE(text.find("the largest that are resident: result of op 0"), std::string::npos) << text;
    EXPECT_NE(text.find(l1 ? "f32[2048, 4096] in tiles" : "f32[32768, 65536] in tiles"), std::string::npos) << text;
    EXPECT_EQ(device->memoryView(sim::Memory::L1).allocated, 0);
  }
}

TEST(Executor, CountsWhatIsAlreadyResident) {
  ProgramBuilder builder;
  const TensorSpec spec = deviceSpec({2048, 4096}, DataType::Float32, BufferType::L1); // a third of L1
  const auto a = builder.input(spec);
  const auto binary = builder.load({builder.op("ttnn.relu", {a}, spec)});
  const auto device = runtime::openMeshDevice();
  const auto input = runtime::toLayout(runtime::Tensor::onHost(hostSpec({2048, 4096})), device, spec);
  const auto first = runtime::submit(device, binary, 0, {input});
  EXPECT_MESSAGE(OutOfMemoryError, runtime::submit(device, binary, 0, {input}), "moved by to_layout");
}

TEST(Executor, RefusesCircularBuffersThatReachIntoATensor) {
  ProgramBuilder builder;
  const Shape shape{680 * 32, 1024}; // 340 tiles in the L1 of each core, which has room for one of 340.7
  const auto a = builder.input(deviceSpec(shape, DataType::Float32, BufferType::L1));
  const auto binary = builder.load({builder.op("ttnn.relu", {a}, deviceSpec(shape))});
  const auto device = runtime::openMeshDevice();
  EXPECT_MESSAGE(OutOfMemoryError, runtime::submit(device, binary, 0, {runtime::Tensor::onHost(hostSpec(shape))}),
                 "(wormhole_b0): the circular buffers of op 0 (ttnn.relu) of program \"main\" "
                 "take 16,384 bytes of each core, from 103,712 to 120,096, and clash with ");
  EXPECT_EQ(device->memoryView(sim::Memory::L1).allocated, 0);
  // Without the tensor in L1 there is room, and the report says how much they take.
  ProgramBuilder other;
  const auto b = other.input(deviceSpec({64, 64}));
  const auto fits = other.load({other.op("ttnn.relu", {b}, deviceSpec({64, 64}))});
  EXPECT_EQ(runtime::estimate(fits, 0, {}).ops[0].circularBytes, 16384);
}

TEST(Executor, TellsWhereTheBuffersOfAProgramLie) {
  ProgramBuilder builder;
  const auto spec = deviceSpec({64, 64}), l1 = deviceSpec({64, 64}, DataType::Float32, BufferType::L1);
  const auto a = builder.input(spec);
  const auto exp = builder.op("ttnn.exp", {a}, l1);
  const auto relu = builder.op("ttnn.relu", {exp}, spec);
  const auto map = runtime::memoryMap(builder.load({relu}), 0, {});
  ASSERT_EQ(map.size(), 5u);
  std::vector<const runtime::BufferLife *> byValue(3), circular;
  for (const runtime::BufferLife &life : map) {
    EXPECT_GT(life.bytesPerBank, 0);
    EXPECT_LT(life.begin, life.end);
    if (life.circular) {
      EXPECT_EQ(life.end, life.begin + 1);
      EXPECT_EQ(life.memory, sim::Memory::L1);
      circular.push_back(&life);
      continue;
    }
    ASSERT_EQ(life.values.size(), 1u);
    byValue[life.values[0]] = &life;
  }
  EXPECT_EQ(circular.size(), 2u);
  EXPECT_EQ(byValue[1]->memory, sim::Memory::L1);
  EXPECT_EQ(byValue[0]->memory, sim::Memory::DRAM);
  EXPECT_EQ(byValue[0]->begin, 0u);
  EXPECT_EQ(byValue[1]->begin, 0u);
  EXPECT_EQ(byValue[2]->begin, 1u);
  EXPECT_GE(byValue[1]->end, 2u);
  EXPECT_NE(byValue[0]->address, byValue[2]->address);
  EXPECT_LE(circular[0]->address + circular[0]->bytesPerBank, byValue[1]->address);
}

TEST(Executor, LimitsHostMemory) {
  ProgramBuilder builder;
  const auto a = builder.input(hostSpec({int64_t(1) << 40}, DataType::UInt8));
  const auto binary = builder.load({a});
  EXPECT_MESSAGE(OutOfMemoryError, runtime::submit(runtime::openMeshDevice(), binary, 0, {tensor({1}, {1})}),
                 "limit of host memory");
}

TEST(Executor, EstimatesWhatTheHostHasNoMemoryFor) {
  ProgramBuilder builder;
  const TensorSpec spec = deviceSpec({2048, 4096});
  const auto a = builder.input(spec);
  const auto binary = builder.load({builder.op("ttnn.exp", {builder.op("ttnn.relu", {a}, spec)}, spec)});
  const double free = runtime::estimate(binary, 0, {}).deviceNs;
  sim::setHostMemoryLimit(size_t(1) << 20);
  double limited = 0;
  const std::string text = message<Error>([&] { limited = runtime::estimate(binary, 0, {}).deviceNs; });
  sim::setHostMemoryLimit(0);
  EXPECT_EQ(text, "no error");
  EXPECT_GT(free, 0);
  EXPECT_EQ(limited, free);
}

/// Running statistics are updated in place: on the device, and never in the caller's host tensor, in a constant of the
/// file, or in another value that has the same bytes.
TEST(Executor, UpdatesInPlaceOnTheDeviceOnly) {
  const auto build = [](ProgramBuilder &builder, uint32_t mean) {
    const auto x = builder.input(deviceSpec({2, 1, 1, 1}));
    const auto variance = builder.constant(deviceSpec({1}), {1});
    const auto before = builder.op("ttnn.reshape", {mean}, deviceSpec({1, 1}), {builder.integers("shape", {1, 1})});
    const auto y = builder.op("ttnn.batch_norm_training", {x, mean, variance}, deviceSpec({2, 1, 1, 1}),
                              {builder.real("epsilon", 1e-5), builder.real("momentum", 0.5)});
    return std::vector<uint32_t>{y, mean, before};
  };
  const auto x = tensor({3, 5}, {2, 1, 1, 1});
  const auto device = runtime::openMeshDevice();
  for (const bool observed : {false, true}) {
    if (observed)
      runtime::setHooks({});
    {
      ProgramBuilder builder;
      const auto mean = builder.input(deviceSpec({1}));
      const auto binary = builder.load(build(builder, mean));
      const auto host = tensor({2}, {1});
      auto outputs = runtime::submit(device, binary, 0, {host, x});
      EXPECT_EQ(floats(outputs[1]), Floats{3}); // 0.5 * 2 + 0.5 * 4
      EXPECT_EQ(floats(outputs[2]), Floats{2}); // taken before
      EXPECT_EQ(floats(host), Floats{2});
      const auto onDevice = runtime::toLayout(host, device, deviceSpec({}));
      const auto snapshot = runtime::toHost(onDevice)[0];
      runtime::submit(device, binary, 0, {onDevice, x});
      outputs = runtime::submit(device, binary, 0, {onDevice, x});
      EXPECT_EQ(floats(onDevice), Floats{3.5});
      EXPECT_EQ(floats(outputs[1]), Floats{3.5});
      EXPECT_EQ(floats(snapshot), Floats{2});
    }
    {
      ProgramBuilder builder;
      const auto mean = builder.constant(deviceSpec({1}), {2});
      const auto binary = builder.load(build(builder, mean));
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ(floats(runtime::submit(device, binary, 0, {x})[1]), Floats{3});
    }
    runtime::clearHooks();
  }
}

TEST(Executor, RunsTheSameFromSeveralThreads) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({64, 64}));
  auto value = a;
  for (int i = 0; i < 5; ++i)
    value = builder.op("ttnn.add", {value, a}, deviceSpec({64, 64}));
  const auto binary = builder.load({value});
  const auto device = runtime::openMeshDevice(), other = runtime::openMeshDevice();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto x = static_cast<float>(t * 100 + i);
        const auto result = runtime::submit(t % 2 ? device : other, binary, 0, {tensor(Floats(4096, x), {64, 64})});
        if (floats(result[0]) != Floats(4096, 6 * x))
          ++wrong;
      }
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device->totals().programs, 100);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 0);
}

//===- Hooks --------------------------------------------------------------===//

TEST(Hooks, SeeAndReplaceValues) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({4}));
  const auto c = builder.constant(deviceSpec({4}), {1, 1, 1, 1});
  const auto sum = builder.op("ttnn.add", {a, c}, deviceSpec({4}));
  const auto view = builder.op("ttnn.reshape", {sum}, deviceSpec({2, 2}), {builder.integers("shape", {2, 2})});
  const auto result = builder.op("ttnn.relu", {view}, deviceSpec({2, 2}));
  const auto binary = builder.load({result, sum});
  const auto device = runtime::openMeshDevice();
  std::vector<std::string> order;
  std::vector<Floats> seen;
  runtime::ProgramContextPtr kept;
  runtime::Tensors outputs;
  {
    runtime::Hooks hooks;
    hooks.beforeProgram = [&](const auto &) { order.push_back("begin"); };
    hooks.beforeOp = [&](const auto &program, const runtime::OpContext &op) {
      order.push_back("before " + std::string(op.operation().info->name));
      EXPECT_FALSE(program->read(op.operation().outs[0]).has_value());
    };
    hooks.afterOp = [&](const runtime::ProgramContextPtr &program, const runtime::OpContext &op) {
      kept = program;
      seen.push_back(floats(*program->read(op.operation().outs[0])));
      if (op.operation().info->name == "ttnn.reshape")
        program->write(op.operation().outs[0], tensor({-1, -2, 3, 4}, {2, 2}));
      EXPECT_GT(device->memoryView(sim::Memory::DRAM).allocated, 0);
    };
    hooks.afterProgram = [&](const auto &) { order.push_back("end"); };
    const ScopedHooks hooked(std::move(hooks));
    outputs = runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})});
  }
  EXPECT_EQ(order, (std::vector<std::string>{"begin", "before ttnn.constant", "before ttnn.add", "before ttnn.reshape",
                                             "before ttnn.relu", "end"}));
  EXPECT_EQ(seen[1], (Floats{2, 3, 4, 5}));
  EXPECT_EQ(floats(outputs[0]), (Floats{0, 0, 3, 4})); // of the replaced value
  EXPECT_EQ(floats(outputs[1]), (Floats{2, 3, 4, 5})); // the operand of the view is not touched
  EXPECT_MESSAGE(Error, kept->read(0), "program \"main\" has ended");
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})})[0]), (Floats{2, 3, 4, 5}));
}

TEST(Hooks, EndTheRunWithAnException) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({4}));
  const auto binary = builder.load({builder.op("ttnn.relu", {a}, deviceSpec({4}))});
  const auto device = runtime::openMeshDevice();
  {
    runtime::Hooks hooks;
    hooks.afterOp = [](const auto &, const auto &) { throw std::runtime_error("stop"); };
    const ScopedHooks hooked(std::move(hooks));
    EXPECT_THROW(runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})}), std::runtime_error);
  }
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 0);
  {
    runtime::Hooks hooks;
    hooks.afterOp = [&](const auto &, const auto &) {
      runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})});
    };
    const ScopedHooks hooked(std::move(hooks));
    EXPECT_MESSAGE(Error, runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})}),
                   "from a hook of its own run");
  }
  {
    runtime::Hooks hooks;
    hooks.afterOp = [&](const auto &, const auto &) { device->deallocateAll(); };
    const ScopedHooks hooked(std::move(hooks));
    EXPECT_MESSAGE(DeviceError, runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {4})}),
                   "buffers of the device were deallocated");
  }
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {tensor({-1, 2, 3, 4}, {4})})[0]), (Floats{0, 2, 3, 4}));
}

TEST(Reports, CountTimeAndMemory) {
  ProgramBuilder builder;
  const auto a = builder.input(deviceSpec({32, 32}));
  const auto sum = builder.op("ttnn.add", {a, a}, deviceSpec({32, 32}, DataType::Float32, BufferType::L1));
  const auto binary = builder.load({builder.op("ttnn.relu", {sum}, deviceSpec({32, 32}))});
  const auto device = runtime::openMeshDevice();
  EXPECT_EQ(runtime::lastRun(device), nullptr);
  runtime::setPerfRecording(true);
  runtime::submit(device, binary, 0, {tensor(Floats(1024), {32, 32})});
  runtime::setPerfRecording(false);
  const auto report = runtime::lastRun(device);
  ASSERT_EQ(report->ops.size(), 2u);
  EXPECT_EQ(report->ops[0].name, "ttnn.add");
  EXPECT_GT(report->ops[0].hostNs, 0);
  EXPECT_GE(report->ops[0].cycles, 1000);
  EXPECT_EQ(report->cycles, report->ops[0].cycles + report->ops[1].cycles);
  EXPECT_EQ(report->memoryPeak[static_cast<size_t>(sim::Memory::L1)], 4096);
  const auto estimated = runtime::estimate(binary, 0, {});
  EXPECT_EQ(estimated.cycles, report->cycles);
  EXPECT_EQ(estimated.memoryPeak[0], report->memoryPeak[0]);
}

TEST(Executor, WhatRanGoesWithItsDevice) {
  ProgramBuilder builder;
  const TensorSpec spec = deviceSpec({64, 64}, DataType::Float32, BufferType::DRAM);
  const auto a = builder.input(spec);
  std::weak_ptr<sim::MeshDevice> mesh;
  std::weak_ptr<const runtime::RunReport> report;
  std::weak_ptr<const void> values;
  {
    const auto binary = builder.load({builder.op("ttnn.relu", {a}, spec)});
    const auto device = runtime::openMeshDevice();
    const auto x = tensor(std::vector<float>(64 * 64, 1.0F), {64, 64});
    values = runtime::submit(device, binary, 0, {x})[0].share(0);
    mesh = device;
    report = runtime::lastRun(device);
    EXPECT_FALSE(report.expired());
  }
  EXPECT_TRUE(mesh.expired());
  EXPECT_TRUE(report.expired());
  EXPECT_TRUE(values.expired());
}
