//===- ChainTest.cpp - chains of elementwise ops have the bits of single ops ---===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"
#include "kernels/elementwise/elementwise.h"

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

} // namespace
