//===- LoadCachedTest.cpp - cached results of const-eval functions --------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include <bit>
#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

namespace {

const TensorSpec spec4 = deviceSpec({4});

/// main(x, w) = x + cached(w), cached(w) = w + w; main is program 1.
runtime::Binary doubledParameter(const TensorSpec &spec = spec4) {
  ProgramBuilder builder;
  if (spec.distributed)
    builder.mesh = {1, 2};
  const auto w = builder.input(spec);
  const auto callee = builder.endProgram("main_const_eval_0", {builder.op("ttnn.add", {w, w}, spec)}, true);
  const auto x = builder.input(spec);
  const auto parameter = builder.input(spec);
  return builder.load({builder.op("ttnn.add", {x, builder.cached(callee, {parameter}, spec)}, spec)});
}

TensorSpec distributed4() {
  TensorSpec spec = spec4;
  spec.distributed = true;
  return spec;
}

runtime::Tensor onDevice(const runtime::Device &device, const Floats &values) {
  return runtime::toLayout(tensor(values, {4}), device, spec4);
}

/// Counts how often the ops of the private program ran, as the device counts ops.
int64_t evaluations(const runtime::Device &device, const std::function<void()> &run) {
  const auto before = device->totals();
  run();
  const auto after = device->totals();
  return after.ops - before.ops - (after.programs - before.programs) * 2; // main has two ops
}

} // namespace

TEST(LoadCached, IsEvaluatedOnceForAParameter) {
  const auto binary = doubledParameter();
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({1, 2, 3, 4}, {4});
  const auto w = onDevice(device, {10, 20, 30, 40});
  const int64_t before = device->memoryView(sim::Memory::DRAM).allocated;
  EXPECT_EQ(evaluations(device,
                        [&] {
                          for (int i = 0; i < 3; ++i)
                            EXPECT_EQ(floats(runtime::submit(device, binary, 1, {x, w})[0]), (Floats{21, 42, 63, 84}));
                        }),
            1);
  // The result stays on the device, and goes with the binary.
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, before + 4096);
  EXPECT_TRUE(binary.program(0).isPrivate);
}

TEST(LoadCached, IsEvaluatedAnewForOtherValues) {
  const auto binary = doubledParameter();
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({0, 0, 0, 0}, {4});
  const auto run = [&](const runtime::Tensor &w) { return floats(runtime::submit(device, binary, 1, {x, w})[0]); };
  const auto w = onDevice(device, {1, 2, 3, 4});
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(w), (Floats{2, 4, 6, 8})); }), 1);
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(onDevice(device, {5, 6, 7, 8})), (Floats{10, 12, 14, 16})); }), 1);
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(w), (Floats{2, 4, 6, 8})); }), 1);
  runtime::copyData(w, tensor({9, 9, 9, 9}, {4}));
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(w), Floats(4, 18)); }), 1);
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(w), Floats(4, 18)); }), 0);
  // One set of results is kept.
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 2 * 4096);
}

/// Memory of the caller can change without a word: it is looked at in every run.
TEST(LoadCached, SeesWhatTheOwnerOfBorrowedMemoryWrites) {
  const auto binary = doubledParameter();
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({0, 0, 0, 0}, {4});
  auto values = std::make_unique<Floats>(Floats{1, 2, 3, 4});
  auto w = runtime::createBorrowedHostTensor(values->data(), {4}, DataType::Float32);
  const auto run = [&] { return floats(runtime::submit(device, binary, 1, {x, w})[0]); };
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(), (Floats{2, 4, 6, 8})); }), 1);
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(), (Floats{2, 4, 6, 8})); }), 0);
  (*values)[2] = 50;
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(), (Floats{2, 4, 100, 8})); }), 1);
  // The same values elsewhere are the same.
  auto moved = std::make_unique<Floats>(*values);
  w = runtime::createBorrowedHostTensor(moved->data(), {4}, DataType::Float32);
  values.reset();
  EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(), (Floats{2, 4, 100, 8})); }), 0);
}

TEST(LoadCached, TakesConstantsAndResultsOfOthers) {
  ProgramBuilder builder;
  const TensorSpec matrix = deviceSpec({2, 2});
  const auto constant = builder.constant(spec4, {1, 2, 3, 4});
  const auto first = builder.endProgram("first", {constant}, true);
  const auto a = builder.input(spec4);
  const auto shaped = builder.op("ttnn.reshape", {a}, matrix, {builder.integers("shape", {2, 2})});
  const auto second = builder.endProgram("second", {shaped}, true);
  const auto x = builder.input(matrix);
  const auto kept = builder.cached(first, {}, spec4);
  const auto w = builder.cached(second, {kept}, matrix);
  const auto product = builder.op("ttnn.matmul", {x, w}, matrix,
                                  {builder.boolean("transpose_a", false), builder.boolean("transpose_b", false)});
  builder.deallocate(w); // of what stays on the device: nothing
  const auto binary = builder.load({product, kept});
  const auto device = runtime::openMeshDevice();
  for (int i = 0; i < 2; ++i) {
    const auto outputs = runtime::submit(device, binary, 2, {tensor({1, 0, 0, 2}, {2, 2})});
    EXPECT_EQ(floats(outputs[0]), (Floats{1, 2, 6, 8}));
    EXPECT_EQ(floats(outputs[1]), (Floats{1, 2, 3, 4}));
    EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 4 * 4096);
  }
  EXPECT_EQ(runtime::estimate(binary, 2, {}).memoryPeak[0], 4 * 4096 + 4096);
}

// Each call is evaluated when its result is first used, when its own operand may have had its last use.
TEST(LoadCached, MayShareAnOperandWithOtherOps) {
  ProgramBuilder builder;
  std::vector<uint32_t> callees;
  for (const char *name : {"ttnn.add", "ttnn.multiply"}) {
    const auto w = builder.input(spec4);
    callees.push_back(builder.endProgram(name, {builder.op(name, {w, w}, spec4)}, true));
  }
  const auto x = builder.input(spec4), w = builder.input(spec4);
  const auto sum = builder.cached(callees[0], {w}, spec4), product = builder.cached(callees[1], {w}, spec4);
  const auto unused = builder.cached(callees[0], {product}, spec4);
  (void)unused;
  const auto first = builder.op("ttnn.add", {x, w}, spec4);
  const auto second = builder.op("ttnn.subtract", {first, product}, spec4);
  const auto third = builder.op("ttnn.subtract", {second, sum}, spec4);
  const auto binary = builder.load({third, sum});
  const auto device = runtime::openMeshDevice();
  const auto given = onDevice(device, {1, 2, 3, 4});
  for (int i = 0; i < 2; ++i) {
    const auto outputs = runtime::submit(device, binary, 2, {tensor({10, 20, 30, 40}, {4}), given});
    EXPECT_EQ(floats(outputs[0]), (Floats{8, 14, 18, 20}));
    EXPECT_EQ(floats(outputs[1]), (Floats{2, 4, 6, 8}));
  }
}

TEST(LoadCached, GivesEachChipItsShard) {
  const auto binary = doubledParameter(distributed4());
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  const std::vector<runtime::Tensor> shards = {tensor({1, 1, 1, 1}, {4}), tensor({2, 2, 2, 2}, {4})};
  const auto both = runtime::createMultiDeviceHostTensor(shards, {1, 2});
  for (int i = 0; i < 2; ++i) {
    const auto output = runtime::submit(device, binary, 1, {both, both})[0];
    EXPECT_EQ(floats(output, 0), Floats(4, 3));
    EXPECT_EQ(floats(output, 1), Floats(4, 6));
  }
}

TEST(LoadCached, OpsAreSeenByHooks) {
  const auto binary = doubledParameter();
  const auto device = runtime::openMeshDevice();
  std::vector<std::string> seen;
  int programs = 0;
  runtime::Hooks hooks;
  hooks.beforeProgram = [&](const auto &) { ++programs; };
  hooks.afterOp = [&](const runtime::ProgramContextPtr &program, const runtime::OpContext &op) {
    EXPECT_EQ(program->program(), op.program);
    seen.push_back(std::to_string(op.program) + " " + std::string(op.operation().info->name));
    if (op.program == 0)
      program->write(op.operation().outs[0], tensor({1, 1, 1, 1}, {4}));
  };
  runtime::setHooks(std::move(hooks));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(floats(runtime::submit(device, binary, 1, {tensor({1, 2, 3, 4}, {4}), tensor({5, 6, 7, 8}, {4})})[0]),
              (Floats{2, 3, 4, 5}));
  runtime::clearHooks();
  EXPECT_EQ(programs, 2);
  const std::vector<std::string> once = {"0 ttnn.add", "1 ttcore.load_cached", "1 ttnn.add"};
  EXPECT_EQ(std::vector<std::string>(seen.begin(), seen.begin() + 3), once);
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 0);
}

TEST(LoadCached, IsEvaluatedAnewWhenItsBuffersAreGone) {
  const auto binary = doubledParameter();
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({1, 2, 3, 4}, {4}), w = tensor({10, 20, 30, 40}, {4});
  runtime::submit(device, binary, 1, {x, w});
  device->deallocateAll();
  EXPECT_EQ(
      evaluations(device,
                  [&] { EXPECT_EQ(floats(runtime::submit(device, binary, 1, {x, w})[0]), (Floats{21, 42, 63, 84})); }),
      1);
  // Wrong inputs do not throw away what is right.
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 1, {x, runtime::Tensor()}), "input 1 (%1) is empty");
  EXPECT_MESSAGE(Error, runtime::submit(device, binary, 1, {x}), "takes 2 inputs and was given 1");
  EXPECT_EQ(evaluations(device, [&] { runtime::submit(device, binary, 1, {x, w}); }), 0);
}

namespace {

/// main(x, w) = x + cached(w), cached(w) = op(w, w) in some memory; main is program 1.
runtime::Binary sumWith(const char *op, const TensorSpec &result = spec4, bool changesResult = false) {
  ProgramBuilder builder;
  const auto w = builder.input(spec4);
  const auto callee = builder.endProgram("eval", {builder.op(op, {w, w}, result)}, true);
  const auto x = builder.input(spec4), parameter = builder.input(spec4);
  const auto kept = builder.cached(callee, {parameter}, result);
  if (changesResult) {
    const auto ones = builder.constant(spec4, Floats(4, 1));
    const auto image =
        builder.op("ttnn.reshape", {x}, deviceSpec({1, 4, 1, 1}), {builder.integers("shape", {1, 4, 1, 1})});
    builder.op("ttnn.batch_norm_training", {image, kept, ones}, deviceSpec({1, 4, 1, 1}),
               {builder.real("epsilon", 1e-5), builder.real("momentum", 1)});
  }
  return builder.load({builder.op("ttnn.add", {x, kept}, spec4)});
}

} // namespace

TEST(LoadCached, IsEvaluatedOnceForProgramsWithEqualCalls) {
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({0, 0, 0, 0}, {4});
  const auto allocated = [&] { return device->memoryView(sim::Memory::DRAM).allocated; };
  const auto run = [&](const runtime::Binary &binary, const runtime::Tensor &w) {
    return floats(runtime::submit(device, binary, 1, {x, w})[0]);
  };
  // Arguments are compared by their values.
  const auto w = tensor({1, 2, 3, 4}, {4}), same = tensor({1, 2, 3, 4}, {4});
  std::vector<runtime::Binary> binaries;
  for (int i = 0; i < 3; ++i) {
    binaries.push_back(sumWith("ttnn.add"));
    EXPECT_EQ(evaluations(device, [&] { EXPECT_EQ(run(binaries.back(), i ? same : w), (Floats{2, 4, 6, 8})); }),
              i ? 0 : 1);
    EXPECT_EQ(allocated(), 4096);
  }
  // Another op, other values, other signs of zeros and another memory have results of their own.
  binaries.push_back(sumWith("ttnn.multiply"));
  EXPECT_EQ(run(binaries.back(), w), (Floats{1, 4, 9, 16}));
  EXPECT_EQ(allocated(), 2 * 4096);
  binaries.push_back(sumWith("ttnn.add"));
  EXPECT_EQ(run(binaries.back(), tensor({1, 2, 3, 5}, {4})), (Floats{2, 4, 6, 10}));
  EXPECT_EQ(allocated(), 3 * 4096);
  binaries.push_back(sumWith("ttnn.add"));
  run(binaries.back(), tensor({0, 0, 0, 0}, {4}));
  binaries.push_back(sumWith("ttnn.add"));
  run(binaries.back(), tensor({-0.0f, 0, 0, 0}, {4}));
  EXPECT_EQ(allocated(), 5 * 4096);
  binaries.push_back(sumWith("ttnn.add", deviceSpec({4}, DataType::Float32, BufferType::L1)));
  EXPECT_EQ(run(binaries.back(), w), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(allocated(), 5 * 4096);
  EXPECT_GT(device->memoryView(sim::Memory::L1).allocated, 0);
  // The program that computed a result may go before the others, which give its memory back.
  binaries.resize(3);
  EXPECT_EQ(allocated(), 4096);
  binaries.erase(binaries.begin());
  EXPECT_EQ(run(binaries[0], w), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(allocated(), 4096);
  // Buffers that are gone are gone for all.
  device->deallocateAll();
  for (const auto &binary : binaries) {
    EXPECT_EQ(run(binary, w), (Floats{2, 4, 6, 8}));
    EXPECT_EQ(allocated(), 4096);
  }
  // One of the programs gets another argument.
  EXPECT_EQ(run(binaries[0], tensor({9, 9, 9, 9}, {4})), Floats(4, 18));
  EXPECT_EQ(run(binaries[1], w), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(allocated(), 2 * 4096);
  EXPECT_EQ(run(binaries[0], w), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(allocated(), 4096);
  binaries.clear();
  EXPECT_EQ(allocated(), 0);
}

TEST(LoadCached, SharesNoResultThatAProgramChanges) {
  const auto device = runtime::openMeshDevice();
  const auto x = tensor({5, 6, 7, 8}, {4}), w = tensor({1, 2, 3, 4}, {4});
  const auto plain = sumWith("ttnn.add"), changing = sumWith("ttnn.add", spec4, true);
  const auto run = [&](const runtime::Binary &binary) { return floats(runtime::submit(device, binary, 1, {x, w})[0]); };
  const Floats expected = {7, 10, 13, 16};
  EXPECT_EQ(run(plain), expected);
  const Floats changed = run(changing);
  EXPECT_EQ(changed, (Floats{10, 12, 14, 16}));
  EXPECT_EQ(run(plain), expected);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 2 * 4096);
}

/// A result may be the argument's memory, whose owner writes to it.
TEST(LoadCached, SharesNoValuesOfArguments) {
  const TensorSpec matrix = deviceSpec({2, 2});
  const auto build = [&] {
    ProgramBuilder builder;
    const auto w = builder.input(spec4);
    const auto shaped = builder.op("ttnn.reshape", {w}, matrix, {builder.integers("shape", {2, 2})});
    const auto callee = builder.endProgram("shaped", {shaped}, true);
    const auto x = builder.input(matrix), parameter = builder.input(spec4);
    return builder.load({builder.op("ttnn.add", {x, builder.cached(callee, {parameter}, matrix)}, matrix)});
  };
  const auto device = runtime::openMeshDevice();
  const auto first = build(), second = build();
  const auto a = onDevice(device, {1, 2, 3, 4}), b = onDevice(device, {1, 2, 3, 4});
  const auto run = [&](const runtime::Binary &binary, const runtime::Tensor &w) {
    return floats(runtime::submit(device, binary, 1, {tensor(Floats(4), {2, 2}), w})[0]);
  };
  EXPECT_EQ(run(first, a), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(run(second, b), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 3 * 4096); // both arguments, and one result
  runtime::copyData(a, tensor({9, 9, 9, 9}, {4}));
  EXPECT_EQ(run(second, b), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(run(first, a), Floats(4, 9));
}

/// A difference in the highest bit of a word is one in the highest bit of its product with any odd number.
TEST(LoadCached, TellsArgumentsApartThatDifferInHighBits) {
  constexpr size_t size = 64 * 64;
  const auto device = runtime::openMeshDevice();
  std::vector<runtime::Binary> binaries;
  Floats values(size), changed;
  std::iota(values.begin(), values.end(), 1.0f);
  changed = values;
  changed[1] *= -1;
  changed[33] = std::bit_cast<float>(std::bit_cast<uint32_t>(changed[33]) ^ 0x80000004u);
  for (const Floats &each : {values, changed}) {
    binaries.push_back(doubledParameter(deviceSpec({size})));
    const auto result =
        runtime::submit(device, binaries.back(), 1, {tensor(Floats(size), {size}), tensor(each, {size})});
    EXPECT_EQ(floats(result[0])[1], 2 * each[1]);
  }
}

TEST(LoadCached, SharesNothingThatFilesHold) {
  const TensorSpec spec = hostSpec({4});
  const std::string path = testing::TempDir() + "load_cached_test.tensorbin";
  const auto build = [&] {
    ProgramBuilder builder;
    const auto read = builder.op("ttnn.load_tensor", {}, spec, {builder.text("file_path", path.c_str())});
    const auto callee = builder.endProgram("read", {builder.op("ttnn.to_device", {read}, spec4)}, true);
    const auto x = builder.input(spec4);
    return builder.load({builder.op("ttnn.add", {x, builder.cached(callee, {}, spec4)}, spec4)});
  };
  const auto device = runtime::openMeshDevice();
  std::vector<runtime::Binary> binaries;
  for (float value : {1.0f, 2.0f}) {
    runtime::dumpTensor(tensor(Floats(4, value), {4}), path);
    binaries.push_back(build());
    EXPECT_EQ(floats(runtime::submit(device, binaries.back(), 1, {tensor(Floats(4), {4})})[0]), Floats(4, value));
  }
  std::filesystem::remove(path);
}

TEST(LoadCached, HasMemoryOnEachDeviceAndValuesForEachArithmetic) {
  sim::MeshOptions exact;
  exact.exact = true;
  const auto first = runtime::openMeshDevice(), second = runtime::openMeshDevice(),
             third = runtime::openMeshDevice(exact);
  const auto binary = sumWith("ttnn.multiply"), other = sumWith("ttnn.multiply");
  const auto x = tensor({0, 0, 0, 0}, {4}), w = tensor({1.001f, 2, 3, -0.0f}, {4});
  Floats results[3];
  size_t i = 0;
  for (const auto &device : {first, second, third}) {
    results[i] = floats(runtime::submit(device, binary, 1, {x, w})[0]);
    EXPECT_EQ(floats(runtime::submit(device, other, 1, {x, w})[0]), results[i++]);
    EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 4096);
  }
  EXPECT_EQ(results[0], results[1]);
  first->close();
  EXPECT_EQ(floats(runtime::submit(second, binary, 1, {x, w})[0]), results[1]);
  EXPECT_EQ(second->memoryView(sim::Memory::DRAM).allocated, 4096);
  EXPECT_EQ(floats(runtime::submit(third, other, 1, {x, w})[0]), results[2]);
}

TEST(LoadCached, IsSharedShardByShard) {
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  const auto given = [](float a, float b) {
    return runtime::createMultiDeviceHostTensor(
        std::vector<runtime::Tensor>{tensor(Floats(4, a), {4}), tensor(Floats(4, b), {4})}, {1, 2});
  };
  const auto x = given(0, 0);
  std::vector<runtime::Binary> binaries;
  int64_t ops = 0;
  for (const auto &[a, b, isNew] : {std::tuple(1.0f, 2.0f, true), {1.0f, 2.0f, false}, {2.0f, 1.0f, true}}) {
    binaries.push_back(doubledParameter(distributed4()));
    const int64_t before = device->totals().ops;
    const auto output = runtime::submit(device, binaries.back(), 1, {x, given(a, b)})[0];
    EXPECT_EQ(floats(output, 0), Floats(4, 2 * a));
    EXPECT_EQ(floats(output, 1), Floats(4, 2 * b));
    ops = device->totals().ops - before;
    EXPECT_EQ(ops, isNew ? 3 : 2);
  }
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 2 * 4096);
}

TEST(LoadCached, RefusesWrongCalls) {
  const auto load = [](const std::function<void(ProgramBuilder &, uint32_t, uint32_t)> &call, TensorSpec spec = spec4) {
    ProgramBuilder builder;
    const auto w = builder.input(spec);
    const auto callee = builder.endProgram("eval", {builder.op("ttnn.relu", {w}, spec)}, true);
    call(builder, callee, builder.input(spec4));
    return builder.load({});
  };
  const std::string prefix = "flatbuffer: program \"main\": op 0 (ttcore.load_cached): ";
  const auto message = [&](const auto &call, TensorSpec spec = spec4) {
    return test::message<BinaryError>([&] { load(call, spec); });
  };
  EXPECT_EQ(message([](auto &b, auto, auto x) { b.cached(7, {x}, spec4); }),
            prefix + "attribute callee is 7; expected an index below 2 into the programs");
  EXPECT_EQ(message([](auto &b, auto, auto x) { b.op("ttcore.load_cached", {x}, spec4, {b.integer("callee", -1)}); }),
            prefix + "attribute callee is -1; expected the index of a program");
  EXPECT_EQ(message([](auto &b, auto, auto x) { b.op("ttcore.load_cached", {x}, spec4); }),
            prefix + "ttcore.load_cached: attribute 'callee' is missing");
  EXPECT_EQ(message([](auto &b, auto callee, auto x) { b.cached(callee, {x, x}, spec4); }),
            prefix + "ins has 2 values; expected 1, as program \"eval\" has inputs");
  EXPECT_EQ(message([](auto &b, auto callee, auto x) { b.cached(callee, {x}, spec4); }, deviceSpec({5})),
            prefix +
                "ins[0] is [4] of f32; expected the shape, type, layout and memory of program \"eval\"'s inputs[0], "
                "[5] of f32");
  EXPECT_EQ(message([](auto &b, auto callee, auto x) { b.cached(callee, {x}, deviceSpec({4}, DataType::Int32)); }),
            prefix + "outs[0] is [4] of si32; expected the shape, type, layout and memory of program \"eval\"'s "
                     "outputs[0], [4] of f32");
  // Program 1 is main itself: calls do not nest, so that none comes back.
  EXPECT_EQ(message([](auto &b, auto, auto x) { b.cached(1, {x}, spec4); }),
            prefix +
                "attribute callee names program \"main\", which calls a program itself; expected a program without "
                "calls");
}

TEST(LoadCached, RefusesComputedAndChangedOperands) {
  const auto device = runtime::openMeshDevice();
  {
    ProgramBuilder builder;
    const auto w = builder.input(spec4);
    const auto callee = builder.endProgram("eval", {builder.op("ttnn.relu", {w}, spec4)}, true);
    const auto x = builder.input(spec4);
    const auto binary = builder.load({builder.cached(callee, {builder.op("ttnn.relu", {x}, spec4)}, spec4)});
    EXPECT_MESSAGE(OpError, runtime::submit(device, binary, 1, {tensor(Floats(4), {4})}),
                   "program \"main\": op 1 (ttcore.load_cached) at loc(\"op1\"): operand 0 is computed by the program; "
                   "expected an input, a constant, or the result of another ttcore.load_cached");
  }
  ProgramBuilder builder;
  const TensorSpec one = deviceSpec({1});
  const auto w = builder.input(one);
  const auto callee = builder.endProgram("eval", {builder.op("ttnn.relu", {w}, one)}, true);
  const auto x = builder.input(deviceSpec({2, 1, 1, 1}));
  const auto mean = builder.input(one);
  const auto variance = builder.constant(one, {1});
  const auto kept = builder.cached(callee, {mean}, one);
  const auto y = builder.op("ttnn.batch_norm_training", {x, mean, variance}, deviceSpec({2, 1, 1, 1}),
                            {builder.real("epsilon", 1e-5), builder.real("momentum", 0.5)});
  const auto binary = builder.load({y, kept});
  EXPECT_MESSAGE(OpError, runtime::submit(device, binary, 1, {tensor({3, 5}, {2, 1, 1, 1}), tensor({2}, {1})}),
                 "operand 0 is changed in place by the program; its values cannot be kept");
}
