//===- ShapesTest.cpp - products and convolutions of many shapes ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Sizes around those of vectors, panels and blocks, in every dimension, with
// values whose sums are exact in f32 in any order: results are the double's,
// rounded once, to the bit. TTRT_CASES is how many are drawn of each kind, 10000
// or more of them with all sizes up to 40, TTRT_SEED which, TTRT_FIRST the first to
// be run.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCase.h"
#include "kernels/matmul/matmul.h"

#include <cstdlib>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, f16 = DataType::Float16;
constexpr int64_t sizes[] = {1, 2, 3, 31, 32, 33, 63, 64, 65}, larger[] = {100, 257, 512, 1030};
constexpr int64_t usualCases = 200, windows[] = {1, 2, 3, 5};
constexpr DataType types[] = {f32, bf16, f16};

int64_t setting(const char *name, int64_t otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? std::atoll(value) : otherwise;
}

class Draw {
public:
  explicit Draw(int64_t index) : engine(static_cast<uint64_t>(setting("TTRT_SEED", 1) * 1000003 + index)) {}
  int64_t below(int64_t count) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(count)); }
  bool chance(int64_t of) { return below(of) == 0; }
  template <class T, size_t n> T of(const T (&choices)[n]) { return choices[below(n)]; }
  int64_t size(int64_t most) {
    int64_t found = of(sizes);
    while (found > most)
      found = of(sizes);
    return found;
  }
  /// Quarters up to `most` quarters, no zero.
  Value values(DataType type, Shape shape, int64_t most = 15) {
    Value value(type, std::move(shape));
    for (size_t i = 0; i < value.size(); ++i)
      value.set(i, static_cast<double>((1 + below(most)) * (chance(2) ? 1 : -1)) / 4);
    return value;
  }

private:
  std::mt19937_64 engine;
};

std::string spelled(const Shape &shape) {
  std::string all = "[";
  for (int64_t size : shape)
    all += (all.size() > 1 ? ", " : "") + std::to_string(size);
  return all + "]";
}

/// Equal to what a type holds of the exact sums.
testing::AssertionResult holds(const Value &found, const std::vector<double> &sums) {
  const Value expected(found.spec.dtype, found.spec.shape, sums);
  int64_t wrong = 0;
  size_t first = 0;
  for (size_t i = expected.size(); i-- > 0;)
    if (found.get(i) != expected.get(i)) {
      ++wrong;
      first = i;
    }
  if (wrong == 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << wrong << " of " << expected.size() << " values are wrong; element " << first
                                     << " is " << found.get(first) << ", expected " << expected.get(first);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Which of the matrices of a tensor that broadcasts a matrix of the batch is made of.
int64_t placeIn(const Shape &shape, const Shape &batch, int64_t index) {
  int64_t at = 0, stride = 1;
  const size_t lead = batch.size() + 2 - shape.size();
  for (size_t d = batch.size(); d-- > 0; index /= batch[d])
    if (d >= lead) {
      const int64_t size = shape[d - lead];
      at += (size == 1 ? 0 : index % batch[d]) * stride;
      stride *= size;
    }
  return at;
}

std::vector<double> productOf(const Value &a, const Value &b, const Shape &batch, int64_t m, int64_t n, int64_t k,
                              bool ta, bool tb) {
  const std::vector<double> left = a.values(), right = b.values();
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  std::vector<double> sums(size(volume(batch) * m * n));
  for (int64_t i = 0; i < volume(batch); ++i) {
    const double *x = left.data() + placeIn(a.spec.shape, batch, i) * m * k;
    const double *y = right.data() + placeIn(b.spec.shape, batch, i) * k * n;
    double *to = sums.data() + i * m * n;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t l = 0; l < k; ++l) {
        const double factor = x[ta ? l * m + row : row * k + l];
        for (int64_t column = 0; column < n; ++column)
          to[row * n + column] += factor * y[tb ? column * k + l : l * n + column];
      }
  }
  return sums;
}

void product(int64_t index) {
  Draw draw(index);
  // All sizes, orders and types in turn; 5 shares no factor with how many there are.
  auto turn = [rest = index * 5 % (729 * 12)](int64_t count) mutable {
    const int64_t now = rest % count;
    rest /= count;
    return now;
  };
  int64_t m = sizes[turn(9)], n = sizes[turn(9)], k = sizes[turn(9)];
  const bool ta = turn(2), tb = turn(2);
  const DataType type = types[turn(3)];
  if (draw.chance(6))
    (draw.chance(3) ? m : draw.chance(2) ? n : k) = draw.of(larger);
  constexpr int64_t most = 1'500'000, direct = 32 * 32 * 32;
  Shape batch;
  for (int64_t rank = draw.below(3), work = m * n * k; rank > 0; --rank, work *= batch.back())
    batch.push_back(draw.size(std::max<int64_t>(1, most / work)));
  // So much that panels do it, where one dimension of a batch is enough.
  if (const int64_t work = m * n * k; draw.chance(2) && work * volume(batch) <= direct && work * 65 > direct) {
    batch = {draw.of(sizes)};
    while (work * batch[0] <= direct)
      batch[0] = draw.of(sizes);
  }
  Shape a = batch, b = batch;
  const auto repeat = [&](Shape &shape) {
    if (draw.chance(2))
      shape.clear();
    else
      for (int64_t &size : shape)
        size = draw.chance(2) ? 1 : size;
  };
  if (draw.chance(3))
    repeat(draw.chance(2) ? a : b);
  Shape out = batch; // of one operand at least
  a.insert(a.end(), {ta ? k : m, ta ? m : k});
  b.insert(b.end(), {tb ? n : k, tb ? k : n});
  out.insert(out.end(), {m, n});

  const Value x = draw.values(type, a), y = draw.values(draw.chance(12) ? draw.of(types) : type, b);
  std::vector<double> sums = productOf(x, y, batch, m, n, k, ta, tb);
  std::vector<const Value *> ins = {&x, &y};
  std::vector<bool> constant = {draw.chance(4), draw.chance(2)};
  Named attributes = {{"transpose_a", flag(ta)}, {"transpose_b", flag(tb)}};
  Value bias;
  if (draw.chance(3)) {
    bias = draw.values(type, draw.chance(4) ? Shape{m, n} : draw.chance(2) ? Shape{1, n} : Shape{n});
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += bias.get(i % bias.size());
    ins.push_back(&bias);
    constant.push_back(draw.chance(2));
  }
  const bool relu = draw.chance(5);
  if (relu) {
    attributes.push_back({"activation", ttnn::test::text("relu")});
    for (double &sum : sums)
      sum = std::max(sum, 0.0);
  }
  const DataType produced = draw.chance(3) ? f32 : type;
  const std::string name = bias.size() && ins.size() > 2 ? "ttnn.linear" : "ttnn.matmul";
  const Value outs(produced, out);
  const Value found = (draw.chance(10) ? runAll : runOnce)(name, ins, {outs}, attributes, constant)[0];
  EXPECT_TRUE(holds(found, sums)) << "TTRT_SEED=" << setting("TTRT_SEED", 1) << " product " << index / 101 << ": "
                                  << name << " of " << toString(type) << spelled(a) << " and " << toString(y.spec.dtype)
                                  << spelled(b) << " to " << toString(produced) << ", transpose_a " << ta
                                  << ", transpose_b " << tb << ", bias "
                                  << (ins.size() > 2 ? spelled(bias.spec.shape) : "none") << ", relu " << relu
                                  << ", constant " << testing::PrintToString(constant);
}

TEST(Shapes, ProductsAreExact) {
  for (int64_t i = setting("TTRT_FIRST", 0), count = setting("TTRT_CASES", usualCases); i < count; ++i) {
    const int64_t index = i * 101; // a small sample goes over all sizes as well
    ASSERT_NO_THROW(product(index)) << "product " << i;
  }
}

// The kernel of panels itself, which the op gives larger products only: of each row of sizes, from 1 to `most`.
TEST(Shapes, PanelsOfAllSmallSizesAreExact) {
  const int64_t most = 40, every = setting("TTRT_CASES", usualCases) >= 10000 ? 1 : 29;
  Draw draw(0);
  setThreads(1);
  const auto quarters = [&](int64_t count) {
    std::vector<double> all(static_cast<size_t>(count));
    for (double &value : all)
      value = static_cast<double>(draw.below(15) - 7) / 4;
    return all;
  };
  int64_t index = 0, run = 0;
  for (int64_t m = 1; m <= most; ++m)
    for (int64_t n = 1; n <= most; ++n)
      for (int64_t k = 1; k <= most; ++k) {
        const std::vector<double> left = quarters(m * k), right = quarters(k * n);
        const auto turned = [](const std::vector<double> &from, int64_t rows, int64_t columns) {
          std::vector<double> to(from.size());
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              to[static_cast<size_t>(j * rows + i)] = from[static_cast<size_t>(i * columns + j)];
          return to;
        };
        for (int order = 0; order < 16; ++order) {
          if (index++ % every)
            continue;
          const bool ta = order & 1, tb = order & 2, constant = order & 4;
          const DataType type = order & 8 ? bf16 : f32;
          const Value a = ta ? Value(type, {k, m}, turned(left, m, k)) : Value(type, {m, k}, left);
          const Value b = tb ? Value(type, {n, k}, turned(right, k, n)) : Value(type, {k, n}, right);
          OpCall call = callOf("ttnn.matmul", {&a, &b}, {TensorSpec{f32, {m, n}, Layout::RowMajor, {}, false}},
                               {{"transpose_a", flag(ta)}, {"transpose_b", flag(tb)}});
          call.constantIns = {nullptr, constant ? b.bytes.data() : nullptr};
          const auto kernel = makePanelMatmul(call, tt::ttnn::productOf(call), type, f32, -1, "");
          if (!kernel)
            continue;
          ++run;
          std::vector<std::byte> scratch;
          std::byte *at = aligned(scratch, kernel->scratchBytes());
          std::memset(at, 0xff, kernel->scratchBytes());
          Value found(f32, {m, n});
          std::memset(found.bytes.data(), 0xff, found.bytes.size());
          const std::byte *ins[] = {a.bytes.data(), kernel->reads(1) ? b.bytes.data() : nullptr};
          std::byte *outs[] = {found.bytes.data()};
          kernel->run({ins, outs, at});
          ASSERT_TRUE(holds(found, productOf(a, b, {}, m, n, k, ta, tb)))
              << toString(type) << ' ' << m << 'x' << k << " by " << k << 'x' << n << ", transpose_a " << ta
              << ", transpose_b " << tb << ", constant " << constant;
        }
      }
  setThreads(0);
  if (run == 0)
    GTEST_SKIP() << "this machine has no units for panels";
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

ConvolutionCase convolutionCase(Draw &draw) {
  ConvolutionCase c;
  const int64_t rank = 1 + draw.below(3);
  const bool transposed = rank == 2 && draw.chance(4), pixels = draw.chance(4);
  c.batch = draw.size(3);
  int64_t positions = c.batch;
  for (int64_t d = 0; d < rank; ++d) {
    c.sizes.push_back(draw.size(std::max<int64_t>(1, std::min<int64_t>(65, 2000 / positions))));
    positions *= c.sizes.back();
    const int64_t before = pixels ? 0 : draw.below(3), after = pixels ? 0 : draw.chance(3) ? draw.below(3) : before;
    c.padding.insert(c.padding.end(), {before, after});
    c.dilation.push_back(rank < 3 && draw.chance(4) ? 2 : 1);
    c.stride.push_back(draw.chance(3) ? 1 + draw.below(3) : 1);
    // A window that fits, also where it is the whole image and padding.
    int64_t kernel = pixels ? 1 : draw.chance(5) ? c.sizes.back() : draw.of(windows);
    if (transposed) {
      kernel = std::min<int64_t>(kernel, 5);
      while ((c.sizes.back() - 1) * c.stride.back() + c.dilation.back() * (kernel - 1) + 1 - before - after < 1)
        ++kernel;
      c.extra.push_back(draw.chance(3) ? 1 : 0);
    } else {
      while (kernel > 1 && c.dilation.back() * (kernel - 1) + 1 > c.sizes.back() + before + after)
        --kernel;
    }
    c.kernel.push_back(kernel);
  }
  if (rank == 3 && draw.chance(5))
    c.mode = "replicate";
  const int64_t window = volume(c.kernel), places = c.batch * volume(transposed ? c.sizes : c.results());
  const int64_t work = std::max<int64_t>(1, 2'000'000 / (window * places));
  c.in = draw.size(std::max<int64_t>(1, work));
  c.out = draw.size(std::max<int64_t>(1, work / c.in));
  if (draw.chance(6))
    c.groups = c.out = c.in;
  else if (draw.chance(6) && c.in % 2 == 0 && c.out % 2 == 0)
    c.groups = 2;
  return c;
}

void convolution(int64_t index) {
  Draw draw(index);
  const ConvolutionCase c = convolutionCase(draw);
  const DataType type = types[index % 3];
  const Value x = draw.values(type, c.images(c.sizes, c.in)),
              w = draw.values(draw.chance(12) ? draw.of(types) : type, c.filter()),
              bias = draw.values(type, {1, 1, 1, c.out});
  std::vector<double> sums = c.expected(x, w);
  std::vector<const Value *> ins = {&x, &w};
  std::vector<bool> constant = {draw.chance(4), draw.chance(2)};
  if (draw.chance(2)) {
    ins.push_back(&bias);
    constant.push_back(draw.chance(2));
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += bias.get(i % static_cast<size_t>(c.out));
  }
  const Value out(draw.chance(3) ? f32 : type, c.images(c.results(), c.out));
  const Value found = (draw.chance(10) ? runAll : runOnce)(c.name(), ins, {out}, c.attributes(), constant)[0];
  EXPECT_TRUE(holds(found, sums)) << "TTRT_SEED=" << setting("TTRT_SEED", 1) << " convolution " << index << ": "
                                  << c.name() << " of " << toString(type) << " images of " << spelled(c.sizes) << " x "
                                  << c.batch << ", window " << spelled(c.kernel) << ' ' << toString(w.spec.dtype)
                                  << ", stride " << spelled(c.stride) << ", dilation " << spelled(c.dilation)
                                  << ", padding " << spelled(c.padding) << ' ' << c.mode << ", channels " << c.in
                                  << " to " << c.out << " in " << c.groups << " groups, to " << toString(out.spec.dtype)
                                  << ", bias " << (ins.size() > 2) << ", constant " << testing::PrintToString(constant);
}

TEST(Shapes, ConvolutionsAreExact) {
  for (int64_t i = setting("TTRT_FIRST", 0), count = setting("TTRT_CASES", usualCases); i < count; ++i) {
    ASSERT_NO_THROW(convolution(i)) << "convolution " << i;
  }
}

} // namespace
