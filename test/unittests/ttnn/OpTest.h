//===- OpTest.h - running one op on values ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../runtime/ErrorOf.h"
#include "../runtime/ThreadRanks.h"
#include "tt/parallel.h"
#include "tt/ttnn/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace tt::ttnn::test {

constexpr double Inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

inline float fromBf16(uint16_t v) { return std::bit_cast<float>(uint32_t(v) << 16); }
/// Independent of the library: the nearer neighbour, the even one on a tie.
inline uint16_t toBf16(float v) {
  if (std::isnan(v))
    return 0x7fc0;
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  const uint16_t low = static_cast<uint16_t>(bits >> 16);
  const uint32_t rest = bits & 0xffff;
  return static_cast<uint16_t>(low + (rest > 0x8000 || (rest == 0x8000 && (low & 1)) ? 1 : 0));
}

/// A tensor with its values.
struct Value {
  TensorSpec spec;
  std::vector<std::byte> bytes;

  Value() = default;
  Value(DataType type, Shape shape) : spec{type, std::move(shape), Layout::RowMajor, {}, false}, bytes(spec.bytes()) {}
  Value(DataType type, Shape shape, const std::vector<double> &values) : Value(type, std::move(shape)) {
    EXPECT_EQ(values.size(), size());
    for (size_t i = 0; i < size(); ++i)
      set(i, values[i]);
  }
  size_t size() const { return static_cast<size_t>(volume(spec.shape)); }
  template <class T> T &at(size_t i) { return reinterpret_cast<T *>(bytes.data())[i]; }
  template <class T> T at(size_t i) const { return reinterpret_cast<const T *>(bytes.data())[i]; }

  double get(size_t i) const {
    switch (storageType(spec.dtype)) {
    case StorageType::F32:
      return at<float>(i);
    case StorageType::F16:
      return static_cast<double>(at<_Float16>(i));
    case StorageType::BF16:
      return fromBf16(at<uint16_t>(i));
    case StorageType::I32:
      return at<int32_t>(i);
    case StorageType::U32:
      return at<uint32_t>(i);
    case StorageType::U16:
      return at<uint16_t>(i);
    case StorageType::U8:
      return at<uint8_t>(i);
    }
    return 0;
  }
  void set(size_t i, double v) {
    switch (storageType(spec.dtype)) {
    case StorageType::F32:
      at<float>(i) = static_cast<float>(v);
      break;
    case StorageType::F16:
      at<_Float16>(i) = static_cast<_Float16>(v);
      break;
    case StorageType::BF16:
      at<uint16_t>(i) = toBf16(static_cast<float>(v));
      break;
    case StorageType::I32:
      at<int32_t>(i) = static_cast<int32_t>(v);
      break;
    case StorageType::U32:
      at<uint32_t>(i) = static_cast<uint32_t>(v);
      break;
    case StorageType::U16:
      at<uint16_t>(i) = static_cast<uint16_t>(v);
      break;
    case StorageType::U8:
      at<uint8_t>(i) = static_cast<uint8_t>(v);
      break;
    }
  }
  std::vector<double> values() const {
    std::vector<double> all(size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = get(i);
    return all;
  }
};

/// Values that a type can hold, drawn from [low, high].
inline Value random(DataType type, Shape shape, double low = -2, double high = 2, uint32_t seed = 1) {
  Value value(type, std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(low, high);
  const bool whole = type >= DataType::UInt32;
  for (size_t i = 0; i < value.size(); ++i) {
    const double v = draw(generator);
    value.set(i, whole ? std::floor(v) : v);
  }
  return value;
}

using Named = std::vector<NamedAttribute>;
inline Attribute ints(std::vector<int64_t> v) { return {std::move(v)}; }
inline Attribute integer(int64_t v) { return {v}; }
inline Attribute real(double v) { return {v}; }
inline Attribute flag(bool v) { return {v}; }
inline Attribute text(std::string v) { return {std::move(v)}; }

inline OpCall callOf(const std::string &name, const std::vector<const Value *> &ins,
                     const std::vector<TensorSpec> &outs, Named attributes) {
  OpCall call{name, {}, outs, Attributes(name, std::move(attributes)), {1, 1}, {}};
  for (const Value *in : ins)
    call.ins.push_back(in ? std::optional(in->spec) : std::nullopt);
  return call;
}

inline std::byte *aligned(std::vector<std::byte> &bytes, size_t size) {
  bytes.resize(size + 64);
  return reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
}

/// A kernel with its operands where `constant` says so.
inline std::unique_ptr<Kernel> kernelFor(const std::string &name, const std::vector<const Value *> &ins,
                                         const std::vector<Value> &outs, const Named &attributes,
                                         const std::vector<bool> &constant = {}) {
  std::vector<TensorSpec> specs;
  for (const Value &out : outs)
    specs.push_back(out.spec);
  OpCall call = callOf(name, ins, specs, attributes);
  const OpInfo *info = findOp(name);
  if (!info)
    throw OpError(name + " is not known");
  check(*info, call);
  EXPECT_TRUE(estimateOf(sim::chip(Arch::WormholeB0), *info, call, Origin::Program).cost.dramBytes >= 0);
  for (size_t i = 0; i < constant.size(); ++i)
    call.constantIns.push_back(constant[i] ? ins[i]->bytes.data() : nullptr);
  return info->make(call);
}

/// Runs an op once. An operand that the kernel does not read once it is made is not given; one that it writes is given
/// itself. Scratch memory, results and what lies around them hold NaN before.
inline std::vector<Value> runOnce(const std::string &name, const std::vector<const Value *> &ins,
                                  const std::vector<Value> &outs, const Named &attributes = {},
                                  const std::vector<bool> &constant = {}) {
  constexpr size_t around = 256;
  constexpr std::byte nothing{0xff};
  const std::unique_ptr<Kernel> kernel = kernelFor(name, ins, outs, attributes, constant);
  // Aligned no better than malloc's; of the bytes before and behind, none may be changed and none may reach a result.
  const auto guarded = [&](size_t bytes) { return std::vector<std::byte>(bytes + 2 * around, nothing); };
  std::vector<std::vector<std::byte>> given, made;
  std::vector<const std::byte *> inPointers;
  for (size_t i = 0; i < ins.size(); ++i) {
    const bool read = ins[i] && (i >= constant.size() || !constant[i] || kernel->reads(i));
    const bool isConstant = i < constant.size() && constant[i];
    const bool isWritten = std::ranges::count(findOp(name)->writes, static_cast<int>(i)) > 0;
    inPointers.push_back(!read ? nullptr : ins[i]->bytes.data());
    if (!read || isConstant || isWritten)
      continue;
    given.push_back(guarded(ins[i]->bytes.size()));
    std::ranges::copy(ins[i]->bytes, given.back().begin() + around);
    inPointers.back() = given.back().data() + around;
  }
  std::vector<std::byte> scratch;
  std::byte *at = aligned(scratch, kernel->scratchBytes());
  std::memset(at, 0xff, kernel->scratchBytes());
  std::vector<std::byte *> outPointers;
  for (const Value &out : outs) {
    made.push_back(guarded(out.bytes.size()));
    outPointers.push_back(made.back().data() + around);
  }
  kernel->run({inPointers, outPointers, at});
  std::vector<Value> results = outs;
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto begin = made[i].begin() + around, end = made[i].end() - around;
    EXPECT_TRUE(std::all_of(made[i].begin(), begin, [](std::byte b) { return b == nothing; }) &&
                std::all_of(end, made[i].end(), [](std::byte b) { return b == nothing; }))
        << name << ": bytes around result " << i << " were written";
    std::copy(begin, end, results[i].bytes.begin());
  }
  return results;
}

/// Runs an op on one and on two threads, which must agree to the bit.
inline std::vector<Value> runAll(const std::string &name, const std::vector<const Value *> &ins,
                                 const std::vector<Value> &outs, const Named &attributes = {},
                                 const std::vector<bool> &constant = {}) {
  std::vector<Value> results[2];
  for (int threads : {1, 2}) {
    setThreads(threads);
    results[threads - 1] = runOnce(name, ins, outs, attributes, constant);
  }
  setThreads(0);
  for (size_t i = 0; i < outs.size(); ++i)
    EXPECT_TRUE(results[0][i].bytes == results[1][i].bytes)
        << name << ": results " << i << " on one and two threads differ";
  return results[1];
}
inline Value run(const std::string &name, const std::vector<const Value *> &ins, DataType type, Shape shape,
                 const Named &attributes = {}, const std::vector<bool> &constant = {}) {
  return runAll(name, ins, {Value(type, std::move(shape))}, attributes, constant)[0];
}

/// Runs a mesh kernel as each of several ranks does, with what it has of its own and what it says that it needs: no
/// other pointer is there. All results together are those of one process that has all chips.
inline void expectSameOnRanks(const MeshKernel &kernel, const std::vector<std::vector<const std::byte *>> &ins,
                              const std::vector<Value> &expected, uint32_t chips, uint32_t size) {
  const auto mail = std::make_shared<tt::test::Mail>();
  for (uint32_t rank = 0; rank < size; ++rank) {
    const sim::Partition partition(std::make_shared<tt::test::ThreadRanks>(rank, size, mail), chips);
    auto present = ins;
    const auto isSpread = [&](uint32_t i) { return i < ins.size() && ins[i].size() > 1; };
    for (auto &operand : present)
      for (size_t chip = 0; operand.size() > 1 && chip < operand.size(); ++chip)
        if (!partition.own().has(chip))
          operand[chip] = nullptr;
    for (const auto &[operand, chip, owner] : planExchange(kernel.needs(), partition, isSpread).receives) {
      EXPECT_TRUE(partition.of(owner).has(chip));
      present[operand][chip] = ins[operand][chip];
    }
    std::vector<Value> outs(expected.size(), Value(expected[0].spec.dtype, expected[0].spec.shape));
    std::vector<std::byte *> to(outs.size());
    const auto isHere = [&](size_t chip) { return outs.size() == 1 || partition.own().has(chip); };
    for (size_t chip = 0; chip < outs.size(); ++chip)
      to[chip] = isHere(chip) ? outs[chip].bytes.data() : nullptr;
    const std::vector<std::span<const std::byte *const>> inSpans(present.begin(), present.end());
    const std::span<std::byte *const> outSpan(to);
    kernel.run(inSpans, {&outSpan, 1}, partition.own());
    for (size_t chip = 0; chip < outs.size(); ++chip)
      if (isHere(chip))
        EXPECT_TRUE(outs[chip].bytes == expected[chip].bytes)
            << "chip " << chip << " on rank " << rank << " of " << size << " differs";
  }
}

/// Runs an op across a mesh; an operand has one value, one for each device, or none.
inline std::vector<Value> runOnMesh(const std::string &name, const std::vector<std::vector<Value>> &ins, DataType type,
                                    const Shape &shape, Named attributes, uint32_t rows, uint32_t columns,
                                    size_t results) {
  std::vector<Value> outs(results, Value(type, shape));
  std::vector<const Value *> firsts;
  for (const auto &values : ins)
    firsts.push_back(values.empty() ? nullptr : &values[0]);
  OpCall call = callOf(name, firsts, {outs[0].spec}, std::move(attributes));
  call.meshShape = {rows, columns};
  call.outs[0].distributed = results > 1;
  for (size_t i = 0; i < ins.size(); ++i)
    if (call.ins[i])
      call.ins[i]->distributed = ins[i].size() > 1;
  const OpInfo *info = findOp(name);
  check(*info, call);
  const auto kernel = info->makeMesh(call);
  EXPECT_GE(estimateOf(sim::chip(Arch::WormholeB0), *info, call, Origin::Program).cost.fabricBytes, 0);
  std::vector<std::vector<const std::byte *>> from(ins.size());
  std::vector<std::byte *> to;
  for (size_t i = 0; i < ins.size(); ++i)
    for (const Value &value : ins[i])
      from[i].push_back(value.bytes.data());
  for (Value &out : outs)
    to.push_back(out.bytes.data());
  const std::vector<std::span<const std::byte *const>> inSpans(from.begin(), from.end());
  const std::span<std::byte *const> outSpan(to);
  kernel->run(inSpans, {&outSpan, 1}, {});
  for (const uint32_t ranks : {2u, 3u, rows * columns})
    if (ranks <= rows * columns)
      expectSameOnRanks(*kernel, from, outs, rows * columns, ranks);
  return outs;
}

/// Equal to a reference within a relative and an absolute tolerance; NaN and Inf at the same places.
inline void expectNear(const Value &found, const std::vector<double> &expected, double relative, double absolute) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double f = found.get(i), e = expected[i];
    if (std::isnan(e) || std::isinf(e) || std::isnan(f))
      ASSERT_TRUE((std::isnan(e) && std::isnan(f)) || e == f) << "element " << i << ": " << f << ", expected " << e;
    else
      ASSERT_NEAR(f, e, absolute + relative * std::fabs(e)) << "element " << i;
  }
}
inline void expectEqual(const Value &found, const std::vector<double> &expected) { expectNear(found, expected, 0, 0); }

/// The message of the OpError that f throws.
template <class F> std::string errorOf(F f) { return tt::test::errorOf<OpError>(f); }

} // namespace tt::ttnn::test
