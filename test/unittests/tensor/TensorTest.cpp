//===- TensorTest.cpp - tensor handles ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include <gtest/gtest.h>

using namespace tt;
using namespace tt::test;

TEST(Tensor, ThoseThatAreAlikeShareADescription) {
  const auto a = runtime::Tensor::onHost(hostSpec({3, 4})), b = runtime::Tensor::onHost(hostSpec({3, 4}));
  EXPECT_EQ(a.description(), b.description());
  EXPECT_NE(a.description(), runtime::Tensor::onHost(hostSpec({4, 3})).description());
  EXPECT_NE(a.description(), runtime::Tensor::onHost(hostSpec({3, 4}, DataType::BFloat16)).description());
  TensorSpec tiled = hostSpec({3, 4});
  tiled.layout = Layout::Tile;
  EXPECT_NE(a.description(), a.withSpec(tiled).description());
  EXPECT_EQ(a.description(), a.withSpec(tiled).withSpec(a.spec()).description());
  const std::vector<runtime::Tensor> shards = {a, b};
  const auto spread = runtime::createMultiDeviceHostTensor(shards, {1, 2});
  EXPECT_NE(a.description(), spread.description());
  EXPECT_NE(spread.description(), runtime::createMultiDeviceHostTensor(shards, {2, 1}).description());
  EXPECT_EQ(a.description(), spread.shard(1).description());
}

TEST(Tensor, DescriptionsThatNobodyHasAreForgotten) {
  // More than are kept at a time; what is used stays.
  const auto used = runtime::Tensor::onHost(hostSpec({1, 7}));
  for (int64_t i = 1; i < 3000; ++i)
    EXPECT_EQ(runtime::Tensor::describe(hostSpec({i, 7}))->spec.shape[0], i);
  EXPECT_EQ(used.description(), runtime::Tensor::describe(hostSpec({1, 7})));
}
