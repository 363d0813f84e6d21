//===- ControlTest.cpp - loops and branches of programs -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

namespace {

const TensorSpec spec4 = deviceSpec({4}), one = deviceSpec({});

/// A private program of a number and a vector that gives the number.
uint32_t condition(ProgramBuilder &builder) {
  const auto number = builder.input(one);
  builder.input(spec4);
  return builder.endProgram("cond", {number}, true);
}

/// One less, and twice the vector.
uint32_t body(ProgramBuilder &builder) {
  const auto number = builder.input(one), x = builder.input(spec4);
  const auto less = builder.op("ttnn.subtract", {number, builder.constant(one, {1})}, one);
  return builder.endProgram("body", {less, builder.op("ttnn.add", {x, x}, spec4)}, true);
}

/// main is program 2: doubles x n times.
runtime::Binary doubling() {
  ProgramBuilder builder;
  const auto cond = condition(builder), step = body(builder);
  const auto n = builder.input(one), x = builder.input(spec4), left = builder.value(one), y = builder.value(spec4);
  builder.rawOp("ttcore.while", {n, x}, {left, y}, {builder.integer("cond", cond), builder.integer("body", step)});
  return builder.load({y, left});
}

std::string messageOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expectMessage(const std::function<void()> &f, const std::string &part) {
  const std::string message = messageOf(f);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

} // namespace

TEST(Control, ALoopRunsWhileItsConditionIsNotZero) {
  const auto binary = doubling();
  const auto device = runtime::openMeshDevice();
  const int64_t before = device->memoryView(sim::Memory::DRAM).allocated;
  for (int n : {0, 1, 2, 5}) {
    const auto results =
        runtime::submit(device, binary, 2, {tensor({static_cast<float>(n)}, {}), tensor({1, 2, 3, 4}, {4})});
    const auto factor = static_cast<float>(1 << n);
    EXPECT_EQ(floats(results[0]), (Floats{factor, 2 * factor, 3 * factor, 4 * factor}));
    EXPECT_EQ(floats(results[1]), Floats{0});
  }
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, before);
}

TEST(Control, ACaseRunsTheBranchOfItsNumber) {
  ProgramBuilder builder;
  const auto a = builder.input(spec4);
  const auto same = builder.endProgram("same", {a}, true);
  const auto b = builder.input(spec4);
  const auto twice = builder.endProgram("twice", {builder.op("ttnn.add", {b, b}, spec4)}, true);
  const auto n = builder.input(one), x = builder.input(spec4), y = builder.value(spec4);
  builder.rawOp("ttcore.case", {n, x}, {y}, {builder.integers("branches", {same, twice})});
  const auto binary = builder.load({y});
  const auto device = runtime::openMeshDevice();
  for (float number : {0.0f, 1.0f, 2.0f, -1.0f}) {
    const auto results = runtime::submit(device, binary, 2, {tensor({number}, {}), tensor({1, 2, 3, 4}, {4})});
    EXPECT_EQ(floats(results[0]), number == 0 ? (Floats{1, 2, 3, 4}) : (Floats{2, 4, 6, 8})) << number;
  }
}

TEST(Control, AProgramThatCallsItselfIsRefused) {
  ProgramBuilder builder;
  const auto n = builder.input(one), x = builder.input(spec4), y = builder.value(spec4);
  builder.rawOp("ttcore.case", {n, n, x}, {y}, {builder.integers("branches", {1})});
  builder.endProgram("first", {y}, true);
  const auto m = builder.input(one), z = builder.input(spec4), w = builder.value(spec4);
  builder.rawOp("ttcore.case", {m, m, z}, {w}, {builder.integers("branches", {0})});
  expectMessage([&] { builder.load({w}); }, "call the program itself");
}

TEST(Control, ATreeOfCallsWithoutEndIsRefused) {
  ProgramBuilder builder;
  const auto x = builder.input(one);
  uint32_t below = builder.endProgram("leaf", {x}, true);
  for (int i = 0; i < 40; ++i) {
    const auto n = builder.input(one), y = builder.value(one);
    builder.rawOp("ttcore.case", {n, n}, {y}, {builder.integers("branches", {below, below})});
    below = builder.endProgram(("level" + std::to_string(i)).c_str(), {y}, true);
  }
  expectMessage([&] { builder.load({builder.input(one)}); }, "call more than 100000 programs");
}

TEST(Control, WhatSelectsIsOneNumber) {
  ProgramBuilder builder;
  const auto a = builder.input(spec4);
  const auto same = builder.endProgram("same", {a}, true);
  const auto x = builder.input(spec4), y = builder.value(spec4);
  builder.rawOp("ttcore.case", {x, x}, {y}, {builder.integers("branches", {same})});
  expectMessage([&] { builder.load({y}); }, "expected one number of");
}

TEST(Control, WhatALoopCarriesIsOfOneType) {
  ProgramBuilder builder;
  const auto cond = condition(builder), step = body(builder);
  const auto n = builder.input(one), x = builder.input(spec4), y = builder.value(spec4);
  builder.rawOp("ttcore.while", {n, x}, {y}, {builder.integer("cond", cond), builder.integer("body", step)});
  expectMessage([&] { builder.load({y}); }, "outs[0]");
}

TEST(Control, NoBranchesAndNoSuchProgram) {
  for (const std::vector<int64_t> &branches : {std::vector<int64_t>{}, {7}, {-1}}) {
    ProgramBuilder builder;
    const auto n = builder.input(one), x = builder.input(spec4), y = builder.value(spec4);
    builder.rawOp("ttcore.case", {n, x}, {y}, {builder.integers("branches", branches)});
    expectMessage([&] { builder.load({y}); }, branches.empty() ? "is empty" : "branches");
  }
}

TEST(Control, ATraceRunsWhatWasRecordedOnItsInputs) {
  ProgramBuilder builder;
  const auto a = builder.input(spec4);
  const auto recorded = builder.endProgram("recorded", {builder.op("ttnn.add", {a, a}, spec4)}, true);
  const auto x = builder.input(spec4), y = builder.value(spec4);
  const auto number = static_cast<int64_t>(recorded);
  builder.rawOp("ttnn.capture_or_execute_trace", {x}, {y},
                {builder.integer("allocate_slots_callee", number), builder.integer("capture_callee", number),
                 builder.integer("execute_callee", number)});
  const auto binary = builder.load({y});
  const auto device = runtime::openMeshDevice();
  for (float first : {1.0f, 5.0f})
    EXPECT_EQ(floats(runtime::submit(device, binary, 1, {tensor({first, 2, 3, 4}, {4})})[0]),
              (Floats{2 * first, 4, 6, 8}));
}

TEST(Control, ATraceRecordsAProgramOfItsOperands) {
  for (int64_t number : {0, 7, -1}) {
    ProgramBuilder builder;
    builder.endProgram("other", {builder.input(one)}, true);
    const auto x = builder.input(spec4), y = builder.value(spec4);
    builder.rawOp("ttnn.capture_or_execute_trace", {x}, {y},
                  {builder.integer("allocate_slots_callee", number), builder.integer("capture_callee", number),
                   builder.integer("execute_callee", number)});
    expectMessage([&] { builder.load({y}); }, number == 0 ? "ins[0]" : "capture_callee");
  }
}
