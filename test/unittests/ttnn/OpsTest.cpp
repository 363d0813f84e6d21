//===- OpsTest.cpp - the library as C++ functions --------------------------------===//

#include "tt/ttnn/ops.h"

#include "OpTest.h"

#include <thread>

namespace ops = tt::ttnn;
using namespace tt;
using tt::ttnn::test::errorOf;

namespace {

using Floats = std::vector<float>;

ttnn::Tensor tensor(Shape shape, const Floats &values) {
  ttnn::Tensor t = ttnn::Tensor::onHost({DataType::Float32, std::move(shape), Layout::RowMajor, {}, false});
  EXPECT_EQ(values.size() * 4, t.bytes());
  std::memcpy(t.data(), values.data(), t.bytes());
  return t;
}
Floats values(const ttnn::Tensor &t, size_t shard = 0) {
  EXPECT_EQ(t.dtype(), DataType::Float32);
  Floats all(t.bytes() / 4);
  if (!all.empty())
    std::memcpy(all.data(), t.data(shard), t.bytes());
  return all;
}

TEST(Ops, OnTheHost) {
  const auto x = tensor({2, 3}, {1, -2, 3, -4, 5, -6});
  EXPECT_EQ(values(ops::relu(x)), (Floats{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(values(ops::add(x, tensor({3}, {1, 1, 1}))), (Floats{2, -1, 4, -3, 6, -5}));
  EXPECT_EQ(values(ops::sum(x, false, {1})), (Floats{2, -5}));
  EXPECT_EQ(values(ops::matmul(x, x, {false, true, ""})), (Floats{14, -32, -32, 77}));
  EXPECT_EQ(values(ops::linear(x, tensor({3, 1}, {1, 1, 1}), tensor({1}, {4}), {false, false, "relu"})),
            (Floats{6, 0}));
  EXPECT_EQ(values(ops::transpose(x, 0, 1)), (Floats{1, -4, -2, 5, 3, -6}));
  EXPECT_EQ(values(ops::slice_static(x, {0, 1}, {2, 3}, {1, 1})), (Floats{-2, 3, 5, -6}));
  EXPECT_EQ(values(ops::concat(std::array{x, x}, 0)).size(), 12u);
  EXPECT_EQ(values(ops::clamp_scalar(x, -1, 2.5)), (Floats{1, -1, 2.5, -1, 2.5, -1}));
  EXPECT_EQ(values(ops::where(ops::gt(x, ops::zeros({})), x, ops::full({1}, 9))), (Floats{1, 9, 3, 9, 5, 9}));
  EXPECT_EQ(values(ops::typecast(ops::argmax(x, 1), DataType::Float32)), (Floats{2, 1}));
  EXPECT_EQ(values(ops::pad(ops::arange(0, 2), {1, 1}, 7)), (Floats{7, 0, 1, 7}));
  EXPECT_EQ(values(ops::repeat(ops::ones({1}), {2, 2})), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(ops::reshape(x, {6}).shape(), (Shape{6}));
  EXPECT_EQ(ops::typecast(x, DataType::BFP_BFloat8).dtype(), DataType::BFP_BFloat8);
}

TEST(Ops, WindowsAndNorms) {
  const auto image = tensor({1, 1, 4, 1}, {1, 2, 3, 4});
  ops::WindowOptions window{1, 2, 2, {2, 2}, {2, 2}};
  EXPECT_EQ(values(ops::max_pool2d(image, window)), (Floats{4}));
  EXPECT_EQ(values(ops::avg_pool2d(image, window)), (Floats{2.5}));
  EXPECT_EQ(values(ops::conv2d(image, tensor({1, 1, 2, 2}, {1, 0, 0, 1}), {}, window)), (Floats{5}));
  EXPECT_EQ(values(ops::softmax(tensor({2}, {3, 3}), 0)), (Floats{0.5, 0.5}));
  auto mean = tensor({1}, {0}), variance = tensor({1}, {0});
  const auto x = tensor({2, 1, 2}, {1, 3, 1, 3});
  EXPECT_EQ(values(ops::batch_norm_training(x, mean, variance, {}, {}, 0, 1)), (Floats{-1, 1, -1, 1}));
  EXPECT_EQ(values(mean), (Floats{2}));
  EXPECT_EQ(values(variance), (Floats{1}));
}

TEST(Ops, OnADevice) {
  const auto device = sim::MeshDevice::open({});
  {
    const auto x = ops::to_device(tensor({64, 64}, Floats(4096, 2)), device);
    EXPECT_TRUE(x.isOnDevice());
    const int64_t before = device->memoryView(sim::Memory::DRAM).allocated;
    auto y = ops::multiply(x, x);
    EXPECT_TRUE(y.isOnDevice());
    EXPECT_GT(device->memoryView(sim::Memory::DRAM).allocated, before);
    EXPECT_GT(device->totals().cycles, 0);
    EXPECT_EQ(values(ops::from_device(y)), Floats(4096, 4));
    const auto inL1 = ops::to_memory_config(y, {BufferType::L1, MemoryLayout::Interleaved, {}, {}});
    EXPECT_EQ(inL1.spec().memory.buffer, BufferType::L1);
    ops::deallocate(y);
    EXPECT_FALSE(y.isAllocated());
    EXPECT_THROW(ops::relu(y), Error);
  }
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).allocated, 0);
  device->close();
}

TEST(Ops, OnAMesh) {
  const auto device = sim::MeshDevice::open({Arch::WormholeB0, 2, 4});
  Floats all(16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i);
  const auto shards = ops::distribute_tensor(tensor({2, 8}, all), device, {0, 1});
  EXPECT_EQ(shards.shards(), 8u);
  const auto x = ops::to_device(shards, device);
  const auto row = ops::all_gather(x, 1, 1);
  EXPECT_EQ(values(row, 5), Floats(all.begin() + 8, all.end()));
  const auto reduced = ops::all_reduce(x, ops::ReduceType::Sum, 0);
  EXPECT_EQ(values(reduced, 0), (Floats{8, 10}));
  const auto whole = ops::aggregate_tensor(ops::neg(x), {0, 1});
  EXPECT_FALSE(whole.isOnDevice());
  EXPECT_EQ(values(ops::neg(whole)), all);
}

TEST(Ops, KernelsAreMadeOnceAndThreadsMayCall) {
  ops::clearKernelCache();
  const auto x = tensor({100, 100}, Floats(10000, 1));
  const auto work = [&] {
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(values(ops::matmul(x, x)), Floats(10000, 100));
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(ops::cachedKernels(), 1u);
}

TEST(Ops, Errors) {
  const auto x = tensor({2, 3}, Floats(6));
  EXPECT_EQ(errorOf([&] { ops::matmul(x, x); }),
            "ttnn.matmul: inner dimensions 3 and 2 differ (shapes [2, 3] and [2, 3])");
  EXPECT_EQ(errorOf([&] { ops::add(x, tensor({2}, Floats(2))); }),
            "ttnn.add: operand 1 of shape [2] does not broadcast with the operands before it, to [2, 3]");
  EXPECT_EQ(errorOf([&] { ops::sum(x, true, {2}); }), "ttnn.sum: dimension 2 of a tensor of rank 2");
  EXPECT_EQ(errorOf([&] { ops::max_pool2d(x, {1, 1, 1, {0, 1}}); }),
            "ttnn.max_pool2d: kernel, stride and dilation need two positive sizes, padding two or four");
}

} // namespace
