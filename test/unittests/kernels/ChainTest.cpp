//===- ChainTest.cpp - chains of elementwise ops have the bits of single ops ---===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"
#include "kernels/elementwise/elementwise.h"
#include "ttmlir/scalars/Scalars.h"

#include <numeric>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

Value runKernel(const Kernel &kernel, const std::vector<const Value *> &ins, const TensorSpec &out) {
  Value result(out.dtype, out.shape);
  std::vector<const std::byte *> from;
  for (const Value *in : ins)
    from.push_back(in->bytes.data());
  std::byte *to = result.bytes.data();
  std::vector<std::byte> scratch;
  kernel.run({from, {&to, 1}, aligned(scratch, kernel.scratchBytes())});
  return result;
}

/// All values of 16 bits, in the order of `step`.
Value allValues(uint32_t step) {
  Value value(bf16, {65536});
  for (uint32_t i = 0; i < 65536; ++i)
    value.at<uint16_t>(i) = static_cast<uint16_t>(i * step + step / 2);
  return value;
}

std::unique_ptr<Kernel> kernelOfRow(const ElementwiseRow &row, const std::vector<const Value *> &ins,
                                    const TensorSpec &out) {
  return makeElementwise(callOf(std::string(row.name), ins, {out}, {}), row);
}

/// A result that a chain keeps in f32 is rounded as one that is stored: every op, of all values and NaNs.
TEST(Chains, RoundBetweenOpsAsSingleOpsDo) {
  const Value values[] = {allValues(1), allValues(40503), allValues(30011)};
  const ElementwiseRow &follows = *findElementwise("ttnn.maximum"), &alone = *findElementwise("ttnn.neg");
  int count = 0;
  for (const ElementwiseRow &row : elementwiseRows()) {
    if (!row.f || !row.name.starts_with("ttnn.") || !row.scalars[0].empty())
      continue;
    SCOPED_TRACE(row.name);
    std::vector<const Value *> ins;
    for (int i = 0; i < row.ins; ++i)
      ins.push_back(&values[i]);
    const TensorSpec &spec = values[0].spec;
    const auto first = kernelOfRow(row, ins, spec), second = kernelOfRow(follows, {&values[0], &values[1]}, spec),
               third = kernelOfRow(alone, {&values[0]}, spec);
    std::vector<int> places(ins.size());
    std::iota(places.begin(), places.end(), 0);
    const Link links[] = {{first.get(), places, false}, {second.get(), {~0, 0}, false}, {third.get(), {~1}, true}};
    const Value found = runKernel(*chainOf(links), ins, spec);
    const Value between = runKernel(*first, ins, spec), largest = runKernel(*second, {&between, ins[0]}, spec);
    const Value expected = runKernel(*third, {&largest}, spec);
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found.at<uint16_t>(i), expected.at<uint16_t>(i)) << "element " << i << ": " << expected.get(i);
    ++count;
  }
  EXPECT_GT(count, 50);
}

/// NaNs of f32 have bits that rounding could carry into Inf or 0.
TEST(Chains, KeepNaNsOfOtherTypes) {
  Value x(f32, {4096}), y(bf16, {4096});
  const uint32_t nans[] = {0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fc00000, 0x7fff8000};
  for (size_t i = 0; i < x.size(); ++i) {
    x.at<uint32_t>(i) = nans[i % std::size(nans)];
    y.set(i, 1);
  }
  for (const char *name : {"ttnn.typecast", "ttnn.abs", "ttnn.neg"}) {
    const auto first = kernelOfRow(*findElementwise(name), {&x}, y.spec),
               second = kernelOfRow(*findElementwise("ttnn.abs"), {&y}, y.spec);
    const Link links[] = {{first.get(), {0}, false}, {second.get(), {~0}, true}};
    const Value found = runKernel(*chainOf(links), {&x}, y.spec);
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(std::isnan(found.get(i))) << name << " of " << std::hex << x.at<uint32_t>(i);
  }
}

/// Each op of the table: the loop that rounds has the values of the other one, rounded; also where it takes fewer
/// steps.
TEST(Chains, RoundedLoopsHaveTheValuesOfTheOthers) {
  std::vector<float> values[3], found(65536), expected(65536);
  const uint32_t steps[] = {1, 40503, 30011};
  for (size_t k = 0; k < 3; ++k) {
    values[k].resize(65536);
    for (uint32_t i = 0; i < 65536; ++i)
      values[k][i] = fromBf16(static_cast<uint16_t>(i * steps[k]));
  }
  const float *const ins[] = {values[0].data(), values[1].data(), values[2].data()};
  int kept = 0, rounded = 0;
  for (const ElementwiseRow &row : elementwiseRows()) {
    if (!row.rounded)
      continue;
    SCOPED_TRACE(row.name);
    row.rounded(ins, found.data(), found.size(), {});
    row.f(ins, expected.data(), expected.size(), {});
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(found[i]) & 0xffff, 0u) << found[i];
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(found[i]));
        // Of two NaNs, an op may return either.
        if (row.ins == 1)
          ASSERT_EQ(std::signbit(found[i]), std::signbit(expected[i])) << "element " << i;
      } else
        ASSERT_EQ(std::bit_cast<uint32_t>(found[i]) >> 16, toBf16(expected[i])) << "element " << i;
    }
    ++(row.rounded == row.f ? kept : rounded);
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(rounded, 30);
}

/// Rows of a block format that are shorter than a group have groups of their own, also those of one value.
TEST(Chains, StoreRowsOfBlockFormatsApart) {
  const float given[] = {1000, 1, 0x1p-7f, 3};
  for (const DataType type : {DataType::BFP_BFloat8, DataType::BFP_BFloat4}) {
    Value x(bf16, {300, 1});
    for (size_t i = 0; i < x.size(); ++i)
      x.set(i, type == DataType::BFP_BFloat4 ? std::exp2(std::ilogb(given[i % 4])) : given[i % 4]);
    const Value found = run("ttnn.neg", {&x}, type, {300, 1});
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(found.get(i), -x.get(i)) << "element " << i;
    for (const auto &[shape, isLink] :
         {std::pair(Shape{8, 8}, false), {{4, 16}, true}, {{2, 32}, true}, {{64, 1}, false}}) {
      const Value in(bf16, shape);
      const Value out(type, shape);
      EXPECT_EQ(isChainable(*kernelOfRow(*findElementwise("ttnn.neg"), {&in}, out.spec)), isLink) << toString(shape);
    }
  }
}

/// A bound of NaN is the result of all values, in vectors and after them.
TEST(Chains, ClampToBoundsOfNaN) {
  const ElementwiseRow &row = *findElementwise("ttnn.clamp_scalar");
  std::vector<float> x(37, std::bit_cast<float>(0xffc12345)), found(x.size());
  x[3] = x[36] = 1;
  const float *const ins[] = {x.data()};
  for (int bound : {0, 1}) {
    Scalars scalars{};
    scalars.f[bound] = std::bit_cast<float>(0x7fc00000);
    row.f(ins, found.data(), found.size(), scalars);
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(found[i]), 0x7fc00000u) << "element " << i << ", bound " << bound;
  }
}

/// max(sqrt(|x y + y| sigmoid(x)) - x, y), with results in the middle that are stored as well, and x overwritten.
TEST(Chains, OfAnyLengthStoreSeveralResultsInPlace) {
  const auto compute = [](const ElementwiseRow &row, const std::vector<const Value *> &ins) {
    return runKernel(*kernelOfRow(row, ins, ins[0]->spec), ins, ins[0]->spec);
  };
  const auto row = [](const char *name) -> const ElementwiseRow & { return *findElementwise(name); };
  const float specials[] = {INFINITY, -INFINITY, NAN, 0, -0.0f, 1e-39f, -1e-39f, 9.2e-41f, 3e38f, -3e38f, -90, 90};
  for (const DataType type : {bf16, f32})
    for (const int64_t n : {1, 7, 8, 2047, 2048, 2049, 100003}) {
      SCOPED_TRACE(n);
      Value x = random(type, {n}, -4, 4, 1), y = random(type, {n}, -4, 4, 2);
      for (size_t i = 0; i < x.size(); i += 5) {
        x.set(i, specials[i % std::size(specials)]);
        y.set(i, specials[i / 5 % std::size(specials)]);
      }
      const Value product = compute(row("ttnn.multiply"), {&x, &y}), sum = compute(row("ttnn.add"), {&product, &y}),
                  size = compute(row("ttnn.abs"), {&sum}), gate = compute(row("ttnn.sigmoid"), {&x}),
                  scaled = compute(row("ttnn.multiply"), {&size, &gate}), root = compute(row("ttnn.sqrt"), {&scaled}),
                  difference = compute(row("ttnn.subtract"), {&root, &x}),
                  largest = compute(row("ttnn.maximum"), {&difference, &y});
      std::vector<std::unique_ptr<Kernel>> kernels;
      for (const char *name : {"multiply", "add", "abs", "sigmoid", "multiply", "sqrt", "subtract", "maximum"}) {
        const ElementwiseRow &of = row(("ttnn." + std::string(name)).c_str());
        const std::vector<const Value *> ins = {&x, &y};
        kernels.push_back(kernelOfRow(of, {ins.begin(), ins.begin() + of.ins}, x.spec));
      }
      const auto link = [&](size_t i, std::vector<int> ins, bool stored = false) {
        return Link{kernels[i].get(), std::move(ins), stored};
      };
      const Link links[] = {link(0, {0, 1}),   link(1, {~0, 1}, true), link(2, {~1}),    link(3, {0}, true),
                            link(4, {~2, ~3}), link(5, {~4}),          link(6, {~5, 0}), link(7, {~6, 1}, true)};
      const auto chain = chainOf(links);
      ASSERT_EQ(mayOverwrite(*chain, 0, 2), n > 1); // one value is broadcast
      for (int threads : {1, 2}) {
        setThreads(threads);
        Value first(type, {n}), second(type, {n}), third = x;
        const std::byte *const ins[] = {(n > 1 ? third : x).bytes.data(), y.bytes.data()};
        std::byte *const outs[] = {first.bytes.data(), second.bytes.data(), third.bytes.data()};
        chain->run({ins, outs, nullptr});
        EXPECT_TRUE(first.bytes == sum.bytes && second.bytes == gate.bytes && third.bytes == largest.bytes);
      }
      setThreads(0);
    }
}

} // namespace
