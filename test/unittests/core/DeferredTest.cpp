//===- DeferredTest.cpp - kernels whose code is generated together --------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/deferred.h"
#include "ConvolutionCase.h"
#include "tt/parallel.h"

#include <atomic>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32;

/// Transposed, so that the kernel library makes it with any vector units.
ConvolutionCase layerOf(int64_t size) {
  return {.sizes = {size, size},
          .kernel = {3, 3},
          .stride = {1, 1},
          .dilation = {1, 1},
          .padding = {1, 1},
          .in = 4,
          .out = 4,
          .extra = {0, 0}};
}

std::unique_ptr<Kernel> kernelOf(const ConvolutionCase &c, const Value &x, const Value &w) {
  return kernelFor(c.name(), {&x, &w}, {Value(f32, c.images(c.results(), c.out))}, c.attributes(), {false, true});
}

std::vector<std::byte> resultOf(const Kernel &kernel, const Value &x, const Value &w) {
  Value out(f32, x.spec.shape);
  std::vector<std::byte> scratch;
  const std::byte *const ins[] = {x.bytes.data(), w.bytes.data()};
  std::byte *const outs[] = {out.bytes.data()};
  kernel.run({ins, outs, aligned(scratch, kernel.scratchBytes())});
  return {out.bytes.begin(), out.bytes.end()};
}

/// Counts how often it was done.
class Counted final : public Work {
public:
  explicit Counted(std::atomic<int> &count) : count(count) {}
  void perform() const override { ++count; }

private:
  std::atomic<int> &count;
};

class Failing final : public Work {
public:
  void perform() const override { throw OpError("no code"); }
};

} // namespace

TEST(DeferredWork, EqualConvolutionsHaveOnePrimitive) {
  for (int threads : {1, 2}) {
    setThreads(threads);
    DeferredWork work;
    std::vector<Value> images, weights;
    std::vector<std::unique_ptr<Kernel>> kernels;
    // Four layers of a size, then four of another one.
    for (const int64_t size : {9, 13})
      for (int layer = 0; layer < 4; ++layer) {
        const ConvolutionCase c = layerOf(size);
        images.push_back(random(f32, c.images(c.sizes, c.in), -1, 1, static_cast<unsigned>(layer)));
        weights.push_back(random(f32, c.filter(), -1, 1, static_cast<unsigned>(10 + layer)));
        kernels.push_back(kernelOf(c, images.back(), weights.back()));
      }
    // Reorders of weights are primitives, too; they ran at once and are gone.
    const auto waiting = std::ranges::count_if(work.added(), [](const auto &each) { return !each.expired(); });
    EXPECT_EQ(waiting, 2);
    const auto early = resultOf(*kernels[0], images[0], weights[0]); // generates its own
    work.finish();
    EXPECT_TRUE(work.added().empty());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto alone = [&] {
        const ConvolutionCase c = layerOf(i < 4 ? 9 : 13);
        return resultOf(*kernelOf(c, images[i], weights[i]), images[i], weights[i]);
      }();
      EXPECT_TRUE(resultOf(*kernels[i], images[i], weights[i]) == alone) << "layer " << i;
      if (i == 0)
        EXPECT_TRUE(early == alone);
    }
  }
  setThreads(0);
}

TEST(DeferredWork, IsDoneOnceAndOnlyForWhatIsStillThere) {
  std::atomic<int> count{0};
  DeferredWork outer;
  const auto kept = std::make_shared<const Counted>(count);
  {
    DeferredWork inner;
    EXPECT_EQ(DeferredWork::current(), &inner);
    for (int i = 0; i < 5; ++i)
      inner.add(kept);
    inner.add(std::make_shared<const Counted>(count)); // goes at once
    inner.finish();
    inner.finish();
  }
  EXPECT_EQ(count, 5);
  EXPECT_EQ(DeferredWork::current(), &outer);
  const auto failing = std::make_shared<const Failing>();
  outer.add(kept);
  outer.add(failing);
  EXPECT_THROW(outer.finish(), OpError);
}
