//===- ApiTest.cpp - the library as C++ functions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include <ttnn/ttnn.hpp>

#include "../runtime/ErrorOf.h"
#include "tt/runtime/runtime.h"
#include "tt/ttnn/call.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace tt;
using tt::test::errorOf;
using tt::ttnn::DataType;
using tt::ttnn::Layout;
using tt::ttnn::Tensor;

namespace {

using Floats = std::vector<float>;

Tensor tensor(Shape shape, const Floats &values) { return ttnn::from_vector(values, shape, DataType::FLOAT32); }
Floats values(const Tensor &t) { return ttnn::to_vector(t); }

/// A file that goes with the test.
struct File {
  explicit File(const std::string &name) : path((std::filesystem::temp_directory_path() / name).string()) {}
  ~File() { std::remove(path.c_str()); }
  std::string path;
};

TEST(Api, OnTheHost) {
  const auto x = tensor({2, 3}, {1, -2, 3, -4, 5, -6});
  EXPECT_EQ(values(ttnn::relu(x)), (Floats{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(values(ttnn::add(x, tensor({3}, {1, 1, 1}))), (Floats{2, -1, 4, -3, 6, -5}));
  EXPECT_EQ(values(x * 2 - x), values(x));
  EXPECT_EQ(values(ttnn::mul(x, x)), values(ttnn::multiply(x, x)));
  EXPECT_EQ(values(ttnn::sum(x, /*dim=*/{1}, /*keepdim=*/false)), (Floats{2, -5}));
  EXPECT_EQ(values(ttnn::sum(x, 1)), (Floats{2, -5}));
  EXPECT_EQ(values(ttnn::sum(x)), (Floats{-3}));
  EXPECT_EQ(values(ttnn::matmul(x, x, /*transpose_a=*/false, /*transpose_b=*/true)), (Floats{14, -32, -32, 77}));
  EXPECT_EQ(values(ttnn::linear(x, tensor({3, 1}, {1, 1, 1}), /*bias=*/tensor({1}, {4}), false, false, {}, "relu")),
            (Floats{6, 0}));
  EXPECT_EQ(values(ttnn::transpose(x, 0, 1)), (Floats{1, -4, -2, 5, 3, -6}));
  EXPECT_EQ(values(ttnn::slice(x, {0, 1}, {2, 3}, {1, 1})), (Floats{-2, 3, 5, -6}));
  EXPECT_EQ(values(ttnn::slice(x, {0, 1}, {2, 3})), (Floats{-2, 3, 5, -6}));
  EXPECT_EQ(values(ttnn::concat({x, x}, 0)).size(), 12u);
  EXPECT_EQ(values(ttnn::clamp(x, -1, 2.5)), (Floats{1, -1, 2.5, -1, 2.5, -1}));
  EXPECT_EQ(values(ttnn::pow(x, 2)), values(x * x));
  EXPECT_EQ(values(ttnn::where(x > 0, x, ttnn::full({1}, 9, DataType::FLOAT32))), (Floats{1, 9, 3, 9, 5, 9}));
  EXPECT_EQ(ttnn::argmax(x, 1).dtype(), DataType::UINT32);
  EXPECT_EQ(values(ttnn::argmax(x, 1)), (Floats{2, 1}));
  EXPECT_EQ(values(ttnn::pad(ttnn::arange(0, 2, 1, DataType::FLOAT32), {1, 1}, 7)), (Floats{7, 0, 1, 7}));
  EXPECT_EQ(values(ttnn::repeat(ttnn::ones({1}), {2, 2})), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(ttnn::reshape(x, {-1, 2}).shape(), (Shape{3, 2}));
  EXPECT_EQ(ttnn::typecast(x, DataType::BFLOAT8_B).dtype(), DataType::BFLOAT8_B);
  EXPECT_EQ(ttnn::zeros({2}).dtype(), DataType::BFLOAT16);
  EXPECT_EQ(ttnn::full({2}, 7, DataType::INT32).dtype(), DataType::INT32);
}

TEST(Api, ShapesThatFollowFromValues) {
  const auto x = tensor({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto indices = [](const Floats &values) { return ttnn::from_vector(values, {2}, DataType::INT32); };
  for (const float end : {2.0f, 4.0f, 3.0f})
    EXPECT_EQ(ttnn::slice(x, indices({1, 0}), indices({end, 2})).shape(), (Shape{int64_t(end) - 1, 2}));
  EXPECT_EQ(values(ttnn::slice(x, indices({0, 1}), indices({4, 2}), {2, 1})), (Floats{1, 5}));
  EXPECT_EQ(errorOf([&] { ttnn::slice(x, ttnn::ones({2}), indices({4, 2})); }),
            "ttnn.slice: starts has shape [2] and type bf16; expected one integer per dimension, 2");
}

TEST(Api, SeveralResults) {
  const auto x = tensor({4}, {3, 1, 4, 2});
  const auto [top, where] = ttnn::topk(x, 2);
  EXPECT_EQ(values(top), (Floats{4, 3}));
  EXPECT_EQ(values(where), (Floats{2, 0}));
  EXPECT_EQ(where.dtype(), DataType::UINT16);
  const auto [sorted, order] = ttnn::sort(x, 0, false, false, {DataType::BFLOAT16, DataType::UINT32});
  EXPECT_EQ(sorted.dtype(), DataType::BFLOAT16);
  EXPECT_EQ(order.dtype(), DataType::UINT32);
  // One description is not for the indices.
  const auto [same, indices] = ttnn::sort(x, 0, false, false, DataType::BFLOAT16);
  EXPECT_EQ(same.dtype(), DataType::BFLOAT16);
  EXPECT_EQ(indices.dtype(), DataType::UINT16);
}

TEST(Api, WindowsAndNorms) {
  const auto device = ttnn::open_device();
  const auto image = tensor({1, 1, 4, 1}, {1, 2, 3, 4});
  EXPECT_EQ(values(ttnn::max_pool2d(image, 1, 2, 2, 1, {2, 2}, {2, 2}, {0, 0}, {1, 1})), (Floats{4}));
  EXPECT_EQ(values(ttnn::avg_pool2d(image, 1, 2, 2, 1, {2, 2}, {2, 2}, {0, 0})), (Floats{2.5}));
  EXPECT_EQ(values(ttnn::conv2d(image, tensor({1, 1, 2, 2}, {1, 0, 0, 1}), device, 1, 1, 1, 2, 2, {2, 2})),
            (Floats{5}));
  const ttnn::Conv2dConfig config{.activation = ttnn::UnaryWithParam{ttnn::UnaryOpType::RELU}};
  EXPECT_EQ(values(ttnn::conv2d(image, tensor({1, 1, 2, 2}, {-1, 0, 0, -1}), device, 1, 1, 1, 2, 2, {2, 2}, {1, 1},
                                {0, 0}, {1, 1}, 1, {}, config)),
            (Floats{0}));
  EXPECT_EQ(values(ttnn::softmax(tensor({2}, {3, 3}), -1)), (Floats{0.5, 0.5}));
  auto mean = tensor({1}, {0}), variance = tensor({1}, {0});
  const auto x = tensor({2, 1, 1, 2}, {1, 3, 1, 3});
  EXPECT_EQ(values(ttnn::batch_norm(x, mean, variance, /*training=*/true, /*eps=*/0, /*momentum=*/1)),
            (Floats{-1, 1, -1, 1}));
  EXPECT_EQ(values(mean), (Floats{2}));
  EXPECT_EQ(values(variance), (Floats{1}));
  EXPECT_EQ(values(ttnn::batch_norm(x, mean, variance, false, 0)), (Floats{-1, 1, -1, 1}));
}

TEST(Api, OnADevice) {
  const ttnn::Device device = ttnn::open_device();
  {
    const auto x = ttnn::to_device(tensor({64, 64}, Floats(4096, 2)), device);
    EXPECT_TRUE(x.isOnDevice());
    const int64_t before = device->memoryView(sim::Memory::DRAM).allocated;
    auto y = x * x;
    EXPECT_TRUE(y.isOnDevice());
    EXPECT_GT(device->memoryView(sim::Memory::DRAM).allocated, before);
    EXPECT_GT(device->totals().cycles, 0);
    EXPECT_EQ(values(ttnn::from_device(y)), Floats(4096, 4));
    const auto inL1 = ttnn::to_memory_config(y, ttnn::L1_MEMORY_CONFIG);
    EXPECT_EQ(inL1.memory_config().buffer, BufferType::L1);
    EXPECT_EQ(ttnn::relu(x, {}, ttnn::L1_MEMORY_CONFIG).memory_config().buffer, BufferType::L1);
    const ttnn::MemoryConfig sharded(ttnn::TensorMemoryLayout::HEIGHT_SHARDED, BufferType::L1,
                                     ttnn::ShardSpec(ttnn::CoreGrid{2, 1}, {32, 64}));
    EXPECT_EQ(ttnn::to_memory_config(y, sharded).memory_config().grid, (std::vector<int64_t>{2, 1}));
    // What follows from a sharded tensor is in its shards where these fit, unless the call says otherwise.
    const auto inShards = ttnn::to_memory_config(y, sharded);
    EXPECT_EQ(ttnn::relu(inShards).memory_config(), inShards.memory_config());
    EXPECT_EQ(ttnn::relu(inShards, {}, ttnn::L1_MEMORY_CONFIG).memory_config().layout, MemoryLayout::Interleaved);
    EXPECT_EQ(ttnn::reshape(inShards, {1, 64, 64}).memory_config().layout, MemoryLayout::Interleaved);
    const auto view = ttnn::reshape(y, {4096});
    EXPECT_EQ(view.data(), y.data());
    ttnn::deallocate(y);
    EXPECT_FALSE(y.isAllocated());
    ttnn::deallocate(y); // nothing is left to give back
    EXPECT_THROW(ttnn::deallocate(Tensor()), OpError);
    Tensor kept = ttnn::relu(x);
    kept.setRetained(true);
    ttnn::deallocate(kept, /*force=*/false);
    EXPECT_TRUE(kept.isAllocated());
    ttnn::deallocate(kept);
    EXPECT_FALSE(kept.isAllocated());
    EXPECT_EQ(values(view), Floats(4096, 4));
    EXPECT_THROW(ttnn::relu(y), Error);
    EXPECT_TRUE(ttnn::zeros({32, 32}, DataType::BFLOAT16, Layout::TILE, device).isOnDevice());
  }
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 0);
  ttnn::close_device(device);
}

TEST(Api, OnAMesh) {
  const ttnn::Device device = ttnn::open_mesh_device({2, 4});
  Floats all(16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i);
  using ttnn::PlacementType;
  const auto shards = ttnn::distribute_tensor(
      tensor({2, 8}, all), {.placements = {{PlacementType::SHARD, 0}, {PlacementType::SHARD, 1}}}, device);
  EXPECT_EQ(shards.shards(), 8u);
  const auto x = ttnn::to_device(shards, device);
  const auto row = ttnn::all_gather(x, 1, 1);
  EXPECT_EQ(values(row.shard(5)), Floats(all.begin() + 8, all.end()));
  const auto reduced = ttnn::all_reduce(x, ttnn::ReduceType::Sum, 0);
  EXPECT_EQ(values(reduced.shard(0)), (Floats{8, 10}));
  const auto whole = ttnn::aggregate_tensor(-x, {.dims = {0, 1}});
  EXPECT_FALSE(whole.isOnDevice());
  EXPECT_EQ(values(-whole), all);
  // Of what all chips have alike, each gets its result; what they agree on is one tensor.
  const auto alike = ttnn::all_reduce(ttnn::to_device(tensor({2}, {1, 2}), device), ttnn::ReduceType::Sum, 1);
  EXPECT_EQ(alike.shards(), 8u);
  EXPECT_EQ(ttnn::to_vector(alike), (Floats{4, 8}));
  EXPECT_EQ(errorOf([&] { ttnn::to_vector(reduced); }),
            "to_vector: expected the same values on all 8 chips, but chips 1, 2, 3, 5, 6 and 7 differ from chip 0");
  const auto four = tt::runtime::createMultiDeviceHostTensor(std::vector(4, tensor({2}, {1, 2})), {2, 2});
  EXPECT_EQ(errorOf([&] { ttnn::add(ttnn::to_device(tensor({2}, {1, 2}), device), four); }),
            "ttnn.add: tensors of 4 shards, for a device of 8 chips");
}

TEST(Api, KernelsAreMadeOnceAndThreadsMayCall) {
  const auto x = tensor({100, 100}, Floats(10000, 1));
  for (int round = 0; round < 20; ++round) {
    ttnn::clearKernelCache();
    std::barrier together(2);
    const auto work = [&] {
      together.arrive_and_wait(); // so that both find the cache empty
      EXPECT_EQ(values(ttnn::matmul(x, x)), Floats(10000, 100));
      EXPECT_EQ(values(ttnn::matmul(x, x)), Floats(10000, 100));
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(ttnn::cachedKernels(), 1u);
  }
}

TEST(Api, Constants) {
  ttnn::clearKernelCache();
  const auto x = tensor({4, 4}, Floats(16, 1));
  EXPECT_FALSE(x.constant());
  {
    const auto weight = ttnn::full({4, 4}, 2, DataType::FLOAT32);
    EXPECT_TRUE(weight.constant());
    const auto turned = ttnn::transpose(weight + weight, 0, 1);
    EXPECT_TRUE(turned.constant());
    EXPECT_TRUE(ttnn::reshape(turned, {16}).constant());
    EXPECT_FALSE((x + weight).constant());
    const size_t before = ttnn::cachedKernels();
    EXPECT_EQ(values(ttnn::matmul(x, turned)), Floats(16, 16));
    EXPECT_EQ(ttnn::cachedKernels(), before); // it is kept with the weight
    EXPECT_FALSE(ttnn::rand({4}, ttnn::open_device()).constant());
  }
  // Their memory goes with them, or when they are deallocated.
  auto weight = ttnn::full({4, 4}, 3, DataType::FLOAT32);
  const std::weak_ptr<std::byte> memory = weight.share();
  ttnn::matmul(x, weight);
  ttnn::deallocate(weight);
  EXPECT_TRUE(memory.expired());
  // In-place writes end it, and leave views alone.
  auto mean = ttnn::zeros({1}, DataType::FLOAT32), variance = ttnn::ones({1}, DataType::FLOAT32);
  const auto view = ttnn::reshape(mean, {1, 1});
  EXPECT_TRUE(mean.constant());
  ttnn::batch_norm(tensor({2, 1, 1, 2}, {1, 3, 1, 3}), mean, variance, true, 0, 1);
  EXPECT_FALSE(mean.constant());
  EXPECT_EQ(values(mean), (Floats{2}));
  EXPECT_TRUE(view.constant());
  EXPECT_EQ(values(view), (Floats{0}));
}

TEST(Api, Errors) {
  const auto x = tensor({2, 3}, Floats(6));
  EXPECT_EQ(errorOf([&] { ttnn::matmul(x, x); }),
            "ttnn.matmul: inner dimensions 3 and 2 differ; transpose the second operand or set transpose_b "
            "(shapes [2, 3] and [2, 3])");
  EXPECT_EQ(errorOf([&] { ttnn::add(x, tensor({2}, Floats(2))); }),
            "ttnn.add: operand shapes [2, 3] and [2] do not broadcast: sizes 3 and 2 in dimension 1");
  EXPECT_EQ(errorOf([&] { ttnn::add(x, {}); }), "ttnn.add: input_tensor_b: the tensor is missing");
  EXPECT_EQ(errorOf([&] { ttnn::sum(x, 2); }), "ttnn.sum: dim is 2; expected -2 to 1 for rank 2");
  EXPECT_EQ(errorOf([&] { ttnn::permute(x, {0, 0}); }), "ttnn.permute: dims has 0 twice");
  EXPECT_EQ(errorOf([&] { ttnn::reshape(x, {4, -1}); }),
            "ttnn.reshape: shape is [4, -1], which 6 elements of [2, 3] do not fill");
  EXPECT_EQ(errorOf([&] { ttnn::slice(x, {0}, {1}, {1}); }),
            "ttnn.slice: starts has 1 numbers; expected one per dimension, 2");
  EXPECT_EQ(
      errorOf([&] { ttnn::max_pool2d(tensor({1, 1, 1, 1}, Floats(1)), 1, 1, 1, 1, {0, 1}, {1, 1}, {0, 0}, {1, 1}); }),
      "ttnn.max_pool2d: kernel_size is [0, 1]; expected two numbers of 1 or more");
  EXPECT_EQ(errorOf([&] { ttnn::concat({x, tensor({3}, Floats(3))}); }),
            "ttnn.concat: operands '0' and '1' have shapes [2, 3] and [3]; they may differ only in dimension 0");
  EXPECT_EQ(errorOf([&] { ttnn::to_device(x, nullptr); }), "ttnn.to_device: device: no device was given");
  EXPECT_EQ(errorOf([&] { ttnn::topk(x, 4); }), "ttnn.topk: k is 4; expected 1 to 3, the size of dimension 1");
  const auto *sum = ttnn::findCallable("ttnn.sum");
  EXPECT_EQ(errorOf([&] { ttnn::call(*sum, {&x, 1}, {{"keep_dim", {std::string("yes")}}}); }),
            "ttnn.sum: keepdim: expected a bool");
  EXPECT_EQ(errorOf([&] { ttnn::call(*sum, {&x, 1}, {{"speed", {true}}}); }),
            "ttnn.sum: no parameter is called 'speed'");
  EXPECT_EQ(ttnn::findCallable("ttnn.nothing"), nullptr);
}

TEST(Api, TensorFiles) {
  const File file("ttnn_api_test.tensorbin");
  const auto x = ttnn::to_layout(ttnn::from_vector(Floats{1, 2, 3, 4, 5, 6}, {2, 3}), Layout::TILE);
  ttnn::dump_tensor(file.path, x);
  const auto loaded = ttnn::load_tensor(file.path);
  EXPECT_EQ(loaded.shape(), x.shape());
  EXPECT_EQ(loaded.dtype(), DataType::BFLOAT16);
  EXPECT_EQ(loaded.layout(), Layout::TILE);
  EXPECT_TRUE(loaded.constant());
  EXPECT_EQ(values(loaded), values(x));
  const ttnn::Device device = ttnn::open_device();
  EXPECT_EQ(ttnn::load_tensor(file.path, device).memory_config(), tt::MemoryConfig(ttnn::DRAM_MEMORY_CONFIG));
  ttnn::close_device(device);

  EXPECT_EQ(errorOf([&] { ttnn::load_tensor(file.path + ".missing"); }),
            "cannot open " + file.path + ".missing: No such file or directory");
  EXPECT_EQ(errorOf([&] { ttnn::dump_tensor("/nowhere/x.tensorbin", x); }),
            "cannot write /nowhere/x.tensorbin: No such file or directory");
}

/// Every truncation and many single damages are either refused with an error or harmless.
TEST(Api, DamagedTensorFiles) {
  const File file("ttnn_api_test_damaged.tensorbin");
  ttnn::dump_tensor(file.path, tensor({3, 5}, Floats(15, 1)));
  std::ifstream in(file.path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto load = [&](const std::string &content) {
    std::ofstream(file.path, std::ios::binary | std::ios::trunc).write(content.data(), std::ssize(content));
    try {
      const Tensor tensor = ttnn::load_tensor(file.path);
      volatile std::byte last = tensor.bytes() ? tensor.data()[tensor.bytes() - 1] : std::byte();
      (void)last;
      return true;
    } catch (const BinaryError &error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(file.path)) << error.what();
      return false;
    }
  };
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(load(bytes.substr(0, size))) << size;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = value;
      load(damaged);
    }
  EXPECT_TRUE(load(bytes));
}

} // namespace
