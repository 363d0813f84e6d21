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

TEST(Tensor, SpreadsInItsPlace) {
  sim::MeshOptions options;
  options.rows = 1;
  options.columns = 3;
  const auto device = runtime::openMeshDevice(options);
  TensorSpec spec = hostSpec({2, 5});
  spec.memory = {BufferType::DRAM, MemoryLayout::Interleaved, {}, {}};
  auto tensor = runtime::Tensor::onDevice(spec, device, "a tensor");
  auto *const values = reinterpret_cast<float *>(tensor.data());
  std::fill_n(values, 10, 7.0f);
  const auto other = tensor;                        // the same tensor
  const auto view = tensor.view(hostSpec({10}), 0); // its values
  const auto address = tensor.address();
  const auto id = tensor.id();
  tensor.spread();
  ASSERT_EQ(other.shards(), 3u);
  EXPECT_TRUE(other.spec().distributed);
  EXPECT_EQ(other.meshShape(), (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(other.address(), address);
  EXPECT_EQ(other.id(), id);
  EXPECT_EQ(other.data(0), reinterpret_cast<const std::byte *>(values));
  for (size_t chip = 0; chip < 3; ++chip)
    EXPECT_EQ(reinterpret_cast<const float *>(other.data(chip))[9], 7.0f);
  tensor.unshare();
  reinterpret_cast<float *>(tensor.data(0))[9] = 8.0f;
  EXPECT_EQ(reinterpret_cast<const float *>(view.data())[9], 7.0f);
  EXPECT_EQ(view.shards(), 1u);
  tensor.spread(); // does nothing now
  EXPECT_EQ(reinterpret_cast<const float *>(other.data(0))[9], 8.0f);
  auto onHost = runtime::Tensor::onHost(hostSpec({2, 5}));
  onHost.spread();
  EXPECT_EQ(onHost.shards(), 1u);
  auto empty = runtime::Tensor::onDevice(hostSpec({0, 5}), device, "an empty tensor");
  empty.spread();
  EXPECT_EQ(empty.shards(), 3u);
  runtime::closeMeshDevice(device);
}

TEST(Tensor, DescriptionsThatNobodyHasAreForgotten) {
  // More than are kept at a time; what is used stays.
  const auto used = runtime::Tensor::onHost(hostSpec({1, 7}));
  for (int64_t i = 1; i < 3000; ++i)
    EXPECT_EQ(runtime::Tensor::describe(hostSpec({i, 7}))->spec.shape[0], i);
  EXPECT_EQ(used.description(), runtime::Tensor::describe(hostSpec({1, 7})));
}
