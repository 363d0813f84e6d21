//===- ConstantStoreTest.cpp - constants released while they are packed ---===//
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that says it does not need values again must not look at them: the
// store of these tests writes over what it is told.
//
//===----------------------------------------------------------------------===//

#include "OpTest.h"
#include "core/panels/panels.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

/// One constant, of which what is let go becomes NaNs.
class Overwriting final : public ConstantStore {
public:
  explicit Overwriting(Value value) : value(std::move(value)), gone(this->value.bytes.size(), false) {}

  void release(std::span<const std::byte> values) const override {
    ASSERT_GE(values.data(), value.bytes.data());
    const auto first = static_cast<size_t>(values.data() - value.bytes.data());
    ASSERT_LE(first + values.size(), value.bytes.size());
    std::fill_n(value.bytes.begin() + static_cast<ptrdiff_t>(first), values.size(), std::byte(0xff));
    std::fill_n(gone.begin() + static_cast<ptrdiff_t>(first), values.size(), true);
  }
  bool isGone() const { return std::ranges::all_of(gone, std::identity()); }
  bool isWhole() const { return std::ranges::none_of(gone, std::identity()); }

  mutable Value value;

private:
  mutable std::vector<bool> gone;
};

/// The result of an op of x and a constant, made with a store or without one.
Value resultWith(const std::string &name, const Value &x, const Value &constant, const Value &out,
                 const Named &attributes, const ConstantStore *store) {
  OpCall call = callOf(name, {&x, &constant}, {out.spec}, attributes);
  call.constantIns = {nullptr, constant.bytes.data()};
  call.constants = store;
  const auto kernel = findOp(name)->make(call);
  Value result = out;
  std::vector<std::byte> scratch;
  std::byte *const room = aligned(scratch, kernel->scratchBytes());
  const std::byte *const ins[] = {x.bytes.data(), kernel->reads(1) ? constant.bytes.data() : nullptr};
  std::byte *const outs[] = {result.bytes.data()};
  kernel->run({ins, outs, room});
  return result;
}

void expectSame(const std::string &name, const Value &x, Value constant, const Value &out, const Named &attributes) {
  const Value expected = resultWith(name, x, constant, out, attributes, nullptr);
  for (int threads : {1, 2}) {
    setThreads(threads);
    const Overwriting store(constant);
    const Value found = resultWith(name, x, store.value, out, attributes, &store);
    EXPECT_TRUE(found.bytes == expected.bytes) << name << " of " << toString(constant.spec.dtype);
  }
  setThreads(0);
}

/// A vector of pairwise different values costs less than random ones.
Value counted(DataType type, Shape shape) {
  Value value(type, std::move(shape));
  for (size_t i = 0; i < value.size(); ++i)
    value.set(i, static_cast<double>(i * 7919 % 509) / 256 - 1);
  return value;
}

} // namespace

// Large enough to be packed in several pieces.
TEST(ConstantStore, MatricesArePackedPieceByPiece) {
  for (DataType type : {DataType::Float32, DataType::BFloat16}) {
    const int64_t k = type == DataType::Float32 ? 2080 : 3105, n = 3001, m = 3;
    const Value x = random(type, {m, k}, -1, 1);
    for (bool transposed : {false, true})
      expectSame("ttnn.matmul", x, counted(type, transposed ? Shape{n, k} : Shape{k, n}), Value(type, {m, n}),
                 {{"transpose_b", flag(transposed)}});
  }
}

/// What others own: no second form of it is kept.
class Refusing final : public ConstantStore {
public:
  void release(std::span<const std::byte>) const override {}
  bool affords(std::span<const std::byte>, size_t) const override { return false; }
};

// Few rows read the matrix where it is, when its columns are contiguous: no store is told of it, nor queried.
TEST(ConstantStore, MatricesOfFewRowsStayWhereTheyAre) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "this machine has no units for panels";
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (int64_t m : {1, 2, 3, 5, 6}) {
      const int64_t k = 1500, n = 203;
      const Value x = random(type, {m, k}, -1, 1), out(type, {m, n}), constant = counted(type, {n, k});
      const Overwriting store(constant);
      OpCall call = callOf("ttnn.matmul", {&x, &store.value}, {out.spec}, {{"transpose_b", flag(true)}});
      call.constantIns = {nullptr, store.value.bytes.data()};
      call.constants = &store;
      const auto kernel = findOp("ttnn.matmul")->make(call);
      EXPECT_TRUE(kernel->reads(1)) << toString(type) << " of " << m << " rows";
      EXPECT_TRUE(store.isWhole()) << toString(type) << " of " << m << " rows";
    }
}

// In place, in one block of rows, of which k is cut, and in several.
TEST(ConstantStore, MatricesThatAreNotAffordedAreReadAtEachRun) {
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (int64_t m : {7, 40, 63, 100, 300})
      for (bool transposed : {false, true}) {
        const int64_t k = 3003, n = 130;
        const Value x = random(type, {m, k}, -1, 1), out(DataType::Float32, {m, n});
        const Value constant = counted(type, transposed ? Shape{n, k} : Shape{k, n});
        const Named attributes = {{"transpose_b", flag(transposed)}};
        const Refusing store;
        const Value expected = resultWith("ttnn.matmul", x, constant, out, attributes, nullptr);
        // Where k is cut, units for bf16 add in another order; sums are some tens.
        expectNear(resultWith("ttnn.matmul", x, constant, out, attributes, &store), expected.values(), 0, 1e-3);
      }
}

/// Of a program that may run only once.
class Deferring final : public ConstantStore {
public:
  void release(std::span<const std::byte>) const override {}
  bool defers(std::span<const std::byte> values) const override {
    requested = values.size();
    return true;
  }
  void readInPlace(std::span<const std::byte> values) const override { inPlace = values.size(); }
  mutable size_t requested = 0, inPlace = 0;
};

// A program that runs again keeps panels, and nothing else changes: each bit of the results stays.
TEST(ConstantStore, MatricesArePackedAtEachRunWhileTheirFormIsDeferred) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "this machine has no units for panels";
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (const auto &[m, k] : {std::pair<int64_t, int64_t>{7, 3003}, {40, 576}, {63, 8200}, {200, 4100}, {700, 3003}})
      for (bool transposed : {false, true}) {
        const int64_t n = 130;
        const Value x = random(type, {m, k}, -1, 1), out(DataType::Float32, {m, n});
        const Value constant = counted(type, transposed ? Shape{n, k} : Shape{k, n});
        const Named attributes = {{"transpose_b", flag(transposed)}};
        const Deferring store;
        const Value expected = resultWith("ttnn.matmul", x, constant, out, attributes, nullptr);
        EXPECT_TRUE(resultWith("ttnn.matmul", x, constant, out, attributes, &store).bytes == expected.bytes)
            << toString(type) << " of " << m << " rows of " << k << (transposed ? ", transposed" : "");
        EXPECT_EQ(store.requested, constant.bytes.size());
        EXPECT_EQ(store.inPlace, 0u);
      }
  const Value x = random(DataType::BFloat16, {1, 1500}, -1, 1), weight = counted(DataType::BFloat16, {203, 1500});
  const Deferring store;
  (void)resultWith("ttnn.matmul", x, weight, Value(DataType::BFloat16, {1, 203}), {{"transpose_b", flag(true)}},
                   &store);
  EXPECT_EQ(store.requested, 0u);
  EXPECT_EQ(store.inPlace, weight.bytes.size());
}

TEST(ConstantStore, MatricesOfABatchArePackedOneAfterTheOther) {
  const Value x = random(DataType::Float32, {3, 2, 1100}, -1, 1);
  expectSame("ttnn.matmul", x, counted(DataType::Float32, {3, 1100, 2000}), Value(DataType::Float32, {3, 2, 2000}), {});
  expectSame("ttnn.matmul", x, counted(DataType::Float32, {3, 2000, 1100}), Value(DataType::Float32, {3, 2, 2000}),
             {{"transpose_b", flag(true)}});
}

TEST(ConstantStore, FiltersAreOrderedPieceByPiece) {
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (int64_t groups : {1, 4, 416}) {
      const int64_t in = 416, out = groups == 416 ? 416 * 16 : 416, size = 3, taps = groups == 416 ? 9 : 3;
      const Value x = random(type, {1, size, size, in}, -1, 1);
      expectSame("ttnn.conv2d", x, counted(type, {out, in / groups, taps, taps}), Value(type, {1, size, size, out}),
                 {{"in_channels", integer(in)},
                  {"out_channels", integer(out)},
                  {"batch_size", integer(1)},
                  {"input_height", integer(size)},
                  {"input_width", integer(size)},
                  {"kernel_size", ints({taps, taps})},
                  {"stride", ints({1, 1})},
                  {"padding", ints({taps / 2, taps / 2})},
                  {"dilation", ints({1, 1})},
                  {"groups", integer(groups)}});
    }
}

/// Keeps forms for other kernels, by what they depend on.
class Sharing final : public ConstantStore {
public:
  void release(std::span<const std::byte>) const override {}
  std::shared_ptr<std::byte> sharedForm(const std::byte *operand, const Form &form) const override {
    const auto found = forms.find({operand, form});
    taken += found != forms.end();
    return found == forms.end() ? nullptr : found->second;
  }
  void shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &made) const override {
    forms[{operand, std::move(form)}] = made;
  }

  mutable std::map<std::pair<const std::byte *, Form>, std::shared_ptr<std::byte>> forms;
  mutable int taken = 0;
};

// The same bytes as a matrix and as filters of two sizes: forms are for those of one shape and one kind of kernel.
TEST(ConstantStore, FormsAreSharedByKernelsThatReadThemAlike) {
  for (DataType type : {DataType::Float32, DataType::BFloat16}) {
    Value constant = counted(type, {96, 32, 3, 3});
    const Sharing store;
    const auto expectAsAlone = [&](const std::string &name, const Value &x, const Value &out, Shape shape,
                                   const Named &attributes) {
      constant.spec.shape = std::move(shape);
      const Value expected = resultWith(name, x, constant, out, attributes, nullptr);
      EXPECT_TRUE(resultWith(name, x, constant, out, attributes, &store).bytes == expected.bytes) << name;
    };
    for (int round = 0; round < 2; ++round) {
      expectAsAlone("ttnn.matmul", random(type, {40, 288}, -1, 1), Value(type, {40, 96}), {96, 288},
                    {{"transpose_b", flag(true)}});
      for (const auto &[out, in, wide] : {std::array<int64_t, 3>{96, 32, 3}, {48, 64, 3}, {72, 384, 1}}) {
        expectAsAlone("ttnn.conv2d", random(type, {1, 5, 5, in}, -1, 1), Value(type, {1, 5, 5, out}),
                      {out, in, wide, wide},
                      {{"in_channels", integer(in)},
                       {"out_channels", integer(out)},
                       {"batch_size", integer(1)},
                       {"input_height", integer(5)},
                       {"input_width", integer(5)},
                       {"kernel_size", ints({wide, wide})},
                       {"stride", ints({1, 1})},
                       {"padding", ints({wide / 2, wide / 2})},
                       {"dilation", ints({1, 1})},
                       {"groups", integer(1)}});
      }
      EXPECT_EQ(store.taken, round * static_cast<int>(store.forms.size()));
    }
  }
}

// Windows of 3x3 that take fewer products: a kernel that is made when the values are gone has the same bits.
TEST(ConstantStore, WeightsOfWindowsAreKeptInOneForm) {
  for (DataType type : {DataType::Float32, DataType::BFloat16})
    for (double first : {0.5, 1e6}) { // which is far from the others, and convolved directly
      const int64_t in = 40, out = 72, size = 14;
      Value constant = random(type, {out, in, 3, 3}, -1, 1);
      constant.set(0, first);
      const Value x = random(type, {1, size, size, in}, -1, 1), result(type, {1, size, size, out});
      const Named attributes = {{"in_channels", integer(in)},   {"out_channels", integer(out)},
                                {"batch_size", integer(1)},     {"input_height", integer(size)},
                                {"input_width", integer(size)}, {"kernel_size", ints({3, 3})},
                                {"stride", ints({1, 1})},       {"padding", ints({1, 1})},
                                {"dilation", ints({1, 1})},     {"groups", integer(1)}};
      const Value expected = resultWith("ttnn.conv2d", x, constant, result, attributes, nullptr);
      const Sharing store;
      EXPECT_TRUE(resultWith("ttnn.conv2d", x, constant, result, attributes, &store).bytes == expected.bytes);
      EXPECT_EQ(store.forms.size(), 1u);
      std::ranges::fill(constant.bytes, std::byte(0xff));
      EXPECT_TRUE(resultWith("ttnn.conv2d", x, constant, result, attributes, &store).bytes == expected.bytes);
    }
}

/// The store of a program that owns its constants: what every kernel has in another form is freed.
class Giving final : public ConstantStore {
public:
  void release(std::span<const std::byte>) const override {}
  bool gives(std::span<const std::byte>) const override { return true; }
  void readInPlace(std::span<const std::byte>) const override { inPlace = true; }
  void shareForm(const std::byte *, Form, const std::shared_ptr<std::byte> &) const override { ++forms; }
  mutable bool inPlace = false;
  mutable int forms = 0;
};

/// Values of a block format: the largest of each 16 has its leading one at any place, and some groups are zeros.
Value blocks(DataType type, Shape shape) {
  Value value(type, std::move(shape));
  const int most = type == DataType::BFP_BFloat4 ? 7 : 127;
  for (size_t i = 0; i < value.size(); ++i)
    value.set(i, i / 16 % 11 == 5 ? 0
                                  : std::ldexp(static_cast<double>(i * 7919 % (2 * most + 1)) - most,
                                               static_cast<int>(i / 16 % 23) - 9));
  return value;
}

// In 17 bits for two values, of one row and of several, as floats of either type, where k is cut, and with a number of
// columns that no block divides.
TEST(ConstantStore, WeightsInBlockFormatsStaySmall) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "this machine has no units for panels";
  for (DataType type : {DataType::BFP_BFloat8, DataType::BFP_BFloat4})
    for (DataType rows : {DataType::Float32, DataType::BFloat16})
      for (const auto &[k, n] : {std::pair<int64_t, int64_t>{512, 515}, {2080, 131}, {96, 2741}})
        for (int64_t m : {1, 2, 3, 4, 6, 7, 16, 33, 300}) {
          const Value x = random(rows, {m, k}, -1, 1), out(rows, {m, n}), weights = blocks(type, {n, k});
          const Named attributes = {{"transpose_b", flag(true)}};
          const Giving store;
          const Value expected = resultWith("ttnn.matmul", x, weights, out, attributes, nullptr);
          const Value found = resultWith("ttnn.matmul", x, weights, out, attributes, &store);
          EXPECT_TRUE(found.bytes == expected.bytes)
              << toString(rows) << " by " << toString(type) << ": " << m << " rows of " << k;
          EXPECT_EQ(store.forms, 1);
          EXPECT_FALSE(store.inPlace);
          const OpCall call = [&] {
            OpCall made = callOf("ttnn.matmul", {&x, &weights}, {out.spec}, attributes);
            made.constantIns = {nullptr, weights.bytes.data()};
            made.constants = &store;
            return made;
          }();
          EXPECT_FALSE(findOp("ttnn.matmul")->make(call)->reads(1));
        }
}

// Rows with values whose products are no numbers, or zeros of either sign.
TEST(ConstantStore, RowsOfAnyValuesPassWeightsInBlockFormats) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "this machine has no units for panels";
  const int64_t k = 544, n = 517;
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (DataType rows : {DataType::Float32, DataType::BFloat16})
    for (double special : {std::numeric_limits<double>::quiet_NaN(), inf, -inf, 0.0, -0.0, std::ldexp(1, -130)})
      for (int64_t m : {1, 2, 3, 4}) {
        Value x(rows, {m, k});
        for (size_t i = 0; i < x.size(); ++i)
          x.set(i, i % 29 == 7 ? special : -0.0);
        const Value out(rows, {m, n}), weights = blocks(DataType::BFP_BFloat8, {n, k});
        const Named attributes = {{"transpose_b", flag(true)}};
        const Giving store;
        const Value expected = resultWith("ttnn.matmul", x, weights, out, attributes, nullptr);
        EXPECT_TRUE(resultWith("ttnn.matmul", x, weights, out, attributes, &store).bytes == expected.bytes)
            << toString(rows) << ": " << m << " rows with " << special;
        EXPECT_EQ(store.forms, 1);
      }
}

// No block format has these, but a file may say that one does.
TEST(ConstantStore, WeightsThatAreInNoBlockFormatAreTakenAsTheyAre) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "this machine has no units for panels";
  const int64_t m = 2, k = 512, n = 515;
  const Value x = random(DataType::BFloat16, {m, k}, 0.5, 1), out(DataType::BFloat16, {m, n});
  const auto bits = [](Value &value, size_t i, uint16_t to) { std::memcpy(value.bytes.data() + 2 * i, &to, 2); };
  for (uint16_t odd : {0x7f80, 0xff80, 0x7fc1, 0x8000, 0x3fff, 0x0001, 0x0100, 0x7f01}) {
    Value weights = blocks(DataType::BFP_BFloat8, {n, k});
    for (size_t i = 48; i < 64; ++i)
      bits(weights, i, 0);
    bits(weights, 50, odd);
    const Giving store;
    const Named attributes = {{"transpose_b", flag(true)}};
    const Value expected = resultWith("ttnn.matmul", x, weights, out, attributes, nullptr);
    EXPECT_TRUE(resultWith("ttnn.matmul", x, weights, out, attributes, &store).bytes == expected.bytes) << odd;
    EXPECT_EQ(store.forms, 0) << odd;
  }
}

// What is computed ahead: operands as long as the result go with it, others are read until the end.
TEST(ConstantStore, ElementwiseOperandsGoWithTheResult) {
  const Value scale = random(DataType::Float32, {300, 1}, -1, 1);
  for (DataType type : {DataType::Float32, DataType::BFloat16}) {
    const Value weights = counted(type, {300, 5003});
    const OpCall call = callOf("ttnn.multiply", {&weights, &scale}, {weights.spec}, {});
    const auto kernel = findOp("ttnn.multiply")->make(call);
    Value expected = weights, found = weights;
    const auto runOn = [&](const Value &given, Value &result, const ConstantStore *store) {
      const std::byte *const ins[] = {given.bytes.data(), scale.bytes.data()};
      std::byte *const outs[] = {result.bytes.data()};
      store ? kernel->runOnce({ins, outs, nullptr}, *store) : kernel->run({ins, outs, nullptr});
    };
    runOn(weights, expected, nullptr);
    const Overwriting store(weights);
    runOn(store.value, found, &store);
    EXPECT_TRUE(found.bytes == expected.bytes);
    EXPECT_TRUE(store.isGone());
  }
}

TEST(ConstantStore, OtherKernelsKeepTheirOperands) {
  const Value x = counted(DataType::Float32, {64, 64});
  const auto kernel = findOp("ttnn.softmax")->make(callOf("ttnn.softmax", {&x}, {x.spec}, {{"dimension", integer(1)}}));
  Value result = x;
  const Overwriting store(x);
  const std::byte *const ins[] = {store.value.bytes.data()};
  std::byte *const outs[] = {result.bytes.data()};
  std::vector<std::byte> scratch;
  kernel->runOnce({ins, outs, aligned(scratch, kernel->scratchBytes())}, store);
  EXPECT_TRUE(store.isWhole());
}
