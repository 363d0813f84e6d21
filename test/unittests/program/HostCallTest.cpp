//===- HostCallTest.cpp - programs that call functions of the process ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"
#include "tt/ttnn/host_call.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

namespace {

const TensorSpec spec4 = deviceSpec({4});

/// Calls "f" with an input, adds the input to what it gives, and calls "g" with the sum.
runtime::Binary calling() {
  ProgramBuilder builder;
  const auto x = builder.input(spec4), y = builder.value(spec4);
  builder.rawOp("debug.host_call", {x}, {y}, {builder.text("function", "f")});
  const auto sum = builder.op("ttnn.add", {x, y}, spec4);
  builder.rawOp("debug.host_call", {sum}, {}, {builder.text("function", "g")});
  return builder.load({sum});
}

struct HostCall : testing::Test {
  void TearDown() override { ttnn::setHostCaller({}); }
  Floats run() {
    return floats(runtime::submit(runtime::openMeshDevice(), calling(), 0, {tensor({1, 2, 3, 4}, {4})})[0]);
  }
};

} // namespace

TEST_F(HostCall, ValuesGoThereAndBackInTheOrderOfTheProgram) {
  std::vector<std::string> names;
  Floats last;
  ttnn::setHostCaller([&](const std::string &name, auto ins, auto outs) {
    names.push_back(name);
    last.assign(4, 0);
    std::memcpy(last.data(), ins[0].data, ins[0].spec->bytes());
    for (const ttnn::HostArray &out : outs) {
      EXPECT_EQ(out.spec->shape, (Shape{4}));
      for (float &value : last)
        value *= 10;
      std::memcpy(out.data, last.data(), out.spec->bytes());
    }
  });
  EXPECT_EQ(run(), (Floats{11, 22, 33, 44}));
  EXPECT_EQ(names, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(last, (Floats{11, 22, 33, 44}));
}

TEST_F(HostCall, WhatAFunctionThrowsEndsTheRunAndTheNextOneIsWell) {
  bool broken = true;
  ttnn::setHostCaller([&](const std::string &, auto ins, auto outs) {
    if (broken)
      throw OpError("broken on purpose");
    for (const ttnn::HostArray &out : outs)
      std::memcpy(out.data, ins[0].data, out.spec->bytes());
  });
  try {
    run();
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("broken on purpose"), std::string::npos) << error.what();
  }
  broken = false;
  EXPECT_EQ(run(), (Floats{2, 4, 6, 8}));
}

TEST_F(HostCall, WithoutFunctionsTheProgramSaysWhichItCalls) {
  try {
    run();
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("the program calls \"f\""), std::string::npos) << error.what();
  }
}
