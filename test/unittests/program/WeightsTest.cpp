//===- WeightsTest.cpp - memory-mapped weights ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Pages of the file go when the weights on them have been packed, and values
// computed ahead go with the op that they were for. Whatever is needed again is
// there again: results are those of the same program in memory, to the bit.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "tt/interrupt.h"
#include "tt/recycle.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

namespace {

Floats counted(size_t count, size_t period) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i * 7919 % period) / static_cast<float>(period) - 0.5f;
  return values;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TT_WEIGHTS_KEPT_BY_SANITIZER 1
#endif
#endif
#ifdef TT_WEIGHTS_KEPT_BY_SANITIZER
constexpr bool freesAtOnce = false;
#else
constexpr bool freesAtOnce = true;
#endif

int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

constexpr int64_t rows = 1500, columns = 3000, words = 600;

/// (x * (weights * scale) + bias) * table^T, and the table twice: small and large constants, a large one that is
/// computed ahead for one product, and one that a product and others share.
std::vector<std::byte> network() {
  ProgramBuilder builder;
  const auto x = builder.input(deviceSpec({2, rows}));
  const TensorSpec weightsSpec = deviceSpec({rows, columns}), tableSpec = deviceSpec({words, columns});
  const auto weights = builder.constant(weightsSpec, counted(rows * columns, 509));
  const auto table = builder.constant(tableSpec, counted(words * columns, 251));
  const auto scale = builder.constant(deviceSpec({rows, 1}), counted(rows, 61));
  const auto bias = builder.constant(deviceSpec({1, columns}), counted(columns, 17));
  const auto scaled = builder.op("ttnn.multiply", {weights, scale}, weightsSpec);
  const auto product = builder.op("ttnn.matmul", {x, scaled}, deviceSpec({2, columns}));
  const auto sum = builder.op("ttnn.add", {product, bias}, deviceSpec({2, columns}));
  const auto back =
      builder.op("ttnn.matmul", {sum, table}, deviceSpec({2, words}), {builder.boolean("transpose_b", true)});
  return builder.finish({back, builder.op("ttnn.add", {table, table}, tableSpec)});
}

std::vector<Floats> results(const runtime::Binary &binary, const runtime::Device &device) {
  const runtime::Tensor x = tensor(counted(2 * rows, 127), {2, rows});
  std::vector<Floats> all;
  for (const runtime::Tensor &output : runtime::submit(device, binary, 0, {x})) {
    const runtime::Tensor host = runtime::toHost(output, true)[0];
    const auto *values = reinterpret_cast<const float *>(host.data());
    all.emplace_back(values, values + host.bytes() / sizeof(float));
  }
  return all;
}

} // namespace

TEST(Weights, OfAMappedFileGiveTheSameAsInMemory) {
  const std::string path = testing::TempDir() + "weights.ttnn";
  const auto bytes = network();
  const auto inMemory = runtime::Binary::load(bytes);
  inMemory.store(path);
  const auto device = runtime::openMeshDevice({});
  const std::vector<Floats> expected = results(inMemory, device);
  {
    const auto mapped = runtime::Binary::load(path);
    for (int run = 0; run < 3; ++run)
      EXPECT_TRUE(results(mapped, device) == expected) << "run " << run;
    // The file is as it was.
    EXPECT_TRUE(mapped.bytes().size() == bytes.size() &&
                std::memcmp(mapped.bytes().data(), bytes.data(), bytes.size()) == 0);
  }
  std::filesystem::remove(path);
  runtime::closeMeshDevice(device);
}

/// Loading reads what describes the program, and no weights.
TEST(Weights, OfAMappedFileAreNotReadWhenItIsLoaded) {
  constexpr int64_t size = 4096, bytes = size * size * 4;
  const std::string path = testing::TempDir() + "large_weights.ttnn";
  {
    ProgramBuilder builder;
    const auto x = builder.input(deviceSpec({1, size}));
    const auto weights = builder.constant(deviceSpec({size, size}), counted(size * size, 509));
    runtime::Binary::load(builder.finish({builder.op("ttnn.matmul", {x, weights}, deviceSpec({1, size}))})).store(path);
  }
  trimRecycled();
  std::ofstream("/proc/self/clear_refs") << "5"; // the peak counts from here
  const int64_t before = residentBytes();
  const auto binary = runtime::Binary::load(path);
  std::ifstream status("/proc/self/status");
  int64_t peak = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> peak)
      break;
  ASSERT_GT(peak, 0);
  EXPECT_LT(peak * 1024 - before, bytes / 4);
  EXPECT_EQ(binary.program(0).inputs.size(), 1u);
  std::filesystem::remove(path);
}

/// Layers that share a matrix, as ALBERT's do, have one copy of it in the order that products read.
TEST(Weights, ThatProductsShareAreKeptOnce) {
  constexpr int64_t size = 1536, layers = 16;
  const TensorSpec activation = deviceSpec({64, size});
  const auto build = [&](int64_t count) {
    ProgramBuilder builder;
    auto value = builder.input(activation);
    const auto weights = builder.constant(deviceSpec({size, size}), counted(size * size, 509));
    for (int64_t i = 0; i < count; ++i)
      // Every other one reads it transposed: that is another order.
      value = builder.op(
          "ttnn.tanh",
          {builder.op("ttnn.matmul", {value, weights}, activation, {builder.boolean("transpose_b", i % 2 == 1)})},
          activation);
    return builder.finish({value});
  };
  const auto device = runtime::openMeshDevice({});
  const runtime::Tensor x = tensor(counted(64 * size, 127), {64, size});
  const auto binary = runtime::Binary::load(build(layers));
  const int64_t before = residentBytes();
  const runtime::Tensor shared = runtime::toHost(runtime::submit(device, binary, 0, {x})[0], true)[0];
  EXPECT_LT(residentBytes() - before, 6 * size * size * 4) << "of " << layers << " layers";
  // The same, one pair of layers after the other.
  const auto pair = runtime::Binary::load(build(2));
  runtime::Tensor value = x;
  for (int64_t i = 0; i < layers; i += 2)
    value = runtime::toHost(runtime::submit(device, pair, 0, {value})[0], true)[0];
  ASSERT_EQ(shared.bytes(), value.bytes());
  EXPECT_EQ(std::memcmp(shared.data(), value.data(), value.bytes()), 0);
  runtime::closeMeshDevice(device);
}

/// Programs of one model, from files of their own, with weights inside or given to them.
TEST(Weights, OfSeveralProgramsAreKeptOnce) {
  constexpr int64_t size = 1536, programs = 8;
  const TensorSpec spec = deviceSpec({size, size});
  const auto build = [&](int64_t rowCount, bool inside) {
    ProgramBuilder builder;
    const TensorSpec activation = deviceSpec({rowCount, size});
    const auto x = builder.input(activation);
    const auto weights = inside ? builder.constant(spec, counted(size * size, 509)) : builder.input(spec);
    return builder.finish({builder.op("ttnn.matmul", {x, weights}, activation)});
  };
  const auto device = runtime::openMeshDevice({});
  for (bool inside : {true, false}) {
    std::vector<runtime::Tensor> given;
    if (!inside) {
      given.push_back(tensor(counted(size * size, 509), {size, size}));
      given.back().setParameter();
    }
    const auto run = [&](const runtime::Binary &binary, int64_t rowCount) {
      std::vector<runtime::Tensor> inputs = {
          tensor(counted(static_cast<size_t>(rowCount * size), 127), {rowCount, size})};
      inputs.insert(inputs.end(), given.begin(), given.end());
      return runtime::toHost(runtime::submit(device, binary, 0, inputs)[0], true)[0];
    };
    std::vector<runtime::Binary> binaries;
    for (int64_t i = 0; i < programs; ++i)
      binaries.push_back(runtime::Binary::load(build(64 + i, inside)));
    std::vector<runtime::Tensor> results = {run(binaries[0], 64)};
    const int64_t before = residentBytes();
    for (int64_t i = 1; i < programs; ++i)
      results.push_back(run(binaries[static_cast<size_t>(i)], 64 + i));
    EXPECT_LT(residentBytes() - before, 3 * size * size * 4) << "of " << programs - 1 << " more programs";
    // Each as when it is the only one.
    for (int64_t i = 0; i < programs; ++i) {
      binaries.clear();
      const runtime::Tensor alone = run(runtime::Binary::load(build(64 + i, inside)), 64 + i);
      EXPECT_EQ(std::memcmp(alone.data(), results[static_cast<size_t>(i)].data(), alone.bytes()), 0) << i;
    }
  }
  runtime::closeMeshDevice(device);
}

/// Results of calls that products read as they are: programs that compute the same share them, the last one frees them.
TEST(Weights, ComputedByCallsOfSeveralProgramsAreKeptOnce) {
  constexpr int64_t size = 3072, programs = 4, bytes = size * size * 4;
  const TensorSpec spec = deviceSpec({size, size});
  const auto build = [&](int64_t rowCount) {
    ProgramBuilder builder;
    const auto w = builder.input(spec);
    const auto callee = builder.endProgram("doubled", {builder.op("ttnn.add", {w, w}, spec)}, true);
    const auto x = builder.input(deviceSpec({rowCount, size})), parameter = builder.input(spec);
    return builder.load({builder.op("ttnn.matmul", {x, builder.cached(callee, {parameter}, spec)},
                                    deviceSpec({rowCount, size}), {builder.boolean("transpose_b", true)})});
  };
  const auto device = runtime::openMeshDevice({});
  const runtime::Tensor given = runtime::toLayout(tensor(counted(size * size, 509), {size, size}), device, spec);
  const auto run = [&](const runtime::Binary &binary, int64_t rowCount, const runtime::Tensor &w) {
    const auto x = tensor(counted(static_cast<size_t>(rowCount * size), 127), {rowCount, size});
    const runtime::Tensor result = runtime::toHost(runtime::submit(device, binary, 1, {x, w})[0], true)[0];
    trimRecycled();
    return result;
  };
  const auto other = [&] {
    Floats others = counted(size * size, 509);
    others.back() += 1;
    return runtime::toLayout(tensor(others, {size, size}), device, spec);
  }();
  trimRecycled();
  const int64_t empty = residentBytes();
  std::vector<runtime::Binary> binaries;
  std::vector<runtime::Tensor> results;
  int64_t first = 0;
  for (int64_t i = 0; i < programs; ++i) {
    binaries.push_back(build(1 + i % 2));
    results.push_back(run(binaries.back(), 1 + i % 2, given));
    if (i == 0)
      first = residentBytes();
  }
  if (freesAtOnce)
    EXPECT_LT(residentBytes() - first, bytes) << "of " << programs - 1 << " more programs";
  // Other values have results of their own.
  binaries.push_back(build(1));
  const runtime::Tensor changed = run(binaries.back(), 1, other);
  EXPECT_NE(std::memcmp(changed.data(), results[0].data(), changed.bytes()), 0);
  // The program that computed them may go before the others.
  binaries.erase(binaries.begin());
  EXPECT_EQ(std::memcmp(run(binaries[1], 1, given).data(), results[0].data(), results[0].bytes()), 0);
  EXPECT_EQ(std::memcmp(results[1].data(), results[3].data(), results[1].bytes()), 0);
  // What belongs to no program is freed, while the device is open.
  binaries.clear();
  trimRecycled();
  if (freesAtOnce)
    EXPECT_LT(residentBytes() - empty, bytes);
  runtime::closeMeshDevice(device);
}

/// Of a call with two results, a product packs one and a sum reads the other, which all programs share.
TEST(Weights, OfACallWithTwoResultsAreSharedOneByOne) {
  constexpr int64_t size = 2048, programs = 4, bytes = size * size * 4;
  const TensorSpec spec = deviceSpec({size, size});
  const auto build = [&] {
    ProgramBuilder builder;
    const auto w = builder.input(spec);
    const auto magnitude = builder.op("ttnn.abs", {w}, spec);
    const auto callee = builder.endProgram("two", {magnitude, builder.op("ttnn.neg", {magnitude}, spec)}, true);
    const auto x = builder.input(spec), parameter = builder.input(spec);
    const auto packed = builder.value(spec), read = builder.value(spec);
    builder.rawOp("ttcore.load_cached", {parameter}, {packed, read}, {builder.integer("callee", callee)});
    return builder.load({builder.op("ttnn.matmul", {x, packed}, spec), builder.op("ttnn.add", {x, read}, spec)});
  };
  const auto device = runtime::openMeshDevice({});
  const auto w = runtime::toLayout(tensor(counted(size * size, 509), {size, size}), device, spec);
  const auto x = runtime::toLayout(tensor(counted(size * size, 127), {size, size}), device, spec);
  std::vector<runtime::Binary> binaries;
  Floats expected;
  int64_t first = 0;
  for (int64_t i = 0; i < programs; ++i) {
    binaries.push_back(build());
    for (int run = 0; run < 2; ++run) {
      const Floats sums = floats(runtime::submit(device, binaries.back(), 1, {x, w})[1]);
      if (expected.empty())
        expected = sums;
      EXPECT_EQ(sums, expected);
    }
    trimRecycled();
    if (i == 0)
      first = residentBytes();
  }
  if (freesAtOnce)
    EXPECT_LT(residentBytes() - first, bytes) << "of " << programs - 1 << " more programs";
  runtime::closeMeshDevice(device);
}

/// A program that took values of another one, which goes before they are packed, leaves them to those that find them.
TEST(Weights, ComputedByCallsStayWholeWhileAProgramPacksThem) {
  constexpr int64_t size = 6144, rowCount = 64;
  const TensorSpec spec = deviceSpec({size, size}), line = deviceSpec({1, size});
  // From a small argument, so that equal calls are found at once.
  const auto start = [&](ProgramBuilder &builder, int64_t most) {
    const auto w = builder.input(line);
    const auto callee = builder.endProgram(
        "repeated", {builder.op("ttnn.repeat", {w}, spec, {builder.integers("repeat_dims", {size, 1})})}, true);
    const auto x = builder.input(deviceSpec({most, size})), parameter = builder.input(line);
    return std::pair(x, builder.cached(callee, {parameter}, spec));
  };
  const auto inPlace = [&] {
    ProgramBuilder builder;
    const auto [x, w] = start(builder, 1);
    return builder.load({builder.op("ttnn.matmul", {x, w}, line, {builder.boolean("transpose_b", true)})});
  };
  const auto packing = [&] {
    ProgramBuilder builder;
    const auto [x, w] = start(builder, rowCount);
    const TensorSpec rows = deviceSpec({rowCount, size});
    const auto y = builder.op("ttnn.matmul", {x, w}, rows);
    return builder.load({y, builder.op("ttnn.matmul", {x, w}, rows, {builder.boolean("transpose_b", true)})});
  };
  const Floats values = counted(size, 509);
  const auto w = tensor(values, {1, size}), few = tensor(counted(size, 127), {1, size});
  const auto many = tensor(counted(rowCount * size, 127), {rowCount, size});
  const auto device = runtime::openMeshDevice({}), other = runtime::openMeshDevice({});
  runtime::Binary first = inPlace();
  const runtime::Tensor expected = runtime::toHost(runtime::submit(device, first, 1, {few, w})[0])[0];

  std::atomic<bool> isPacking = false;
  class FreeBeforeLastOp final : public Interruptible {
  public:
    FreeBeforeLastOp(runtime::Binary &first, std::atomic<bool> &isPacking) : first(first), isPacking(isPacking) {
      requestInterrupt();
    }
    int ops = 0;

  private:
    bool decide() override {
      if (++ops == 3) { // the call, and the first product, have been planned
        first = {};
        isPacking = true;
      }
      requestInterrupt();
      return false;
    }
    runtime::Binary &first;
    std::atomic<bool> &isPacking;
  };
  runtime::Tensor found;
  std::thread third([&] {
    const runtime::Binary binary = inPlace();
    while (!isPacking)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    found = runtime::toHost(runtime::submit(other, binary, 1, {few, w})[0])[0];
  });
  {
    FreeBeforeLastOp observer(first, isPacking);
    runtime::submit(device, packing(), 1, {many, w});
    EXPECT_GE(observer.ops, 3);
  }
  third.join();
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.bytes()), 0);
}

TEST(Weights, ThatDifferAreNotTakenForOneAnother) {
  constexpr int64_t size = 320;
  const TensorSpec spec = deviceSpec({size, size}), activation = deviceSpec({64, size});
  const auto device = runtime::openMeshDevice({});
  const runtime::Tensor x = tensor(counted(64 * size, 127), {64, size});
  Floats values = counted(size * size, 509);
  std::vector<runtime::Binary> binaries;
  std::vector<runtime::Tensor> results;
  for (size_t changed : {size_t(0), size_t(1), values.size() / 2, values.size() - 1}) {
    Floats others = values;
    others[changed] += 1;
    ProgramBuilder builder;
    const auto input = builder.input(activation);
    binaries.push_back(runtime::Binary::load(
        builder.finish({builder.op("ttnn.matmul", {input, builder.constant(spec, others)}, activation)})));
    results.push_back(runtime::toHost(runtime::submit(device, binaries.back(), 0, {x})[0], true)[0]);
  }
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(std::memcmp(results[i].data(), results[j].data(), results[i].bytes()), 0) << i << " and " << j;
  runtime::closeMeshDevice(device);
}

/// Weights that are written between two programs: the second has a form of the new values.
TEST(Weights, ThatWereWrittenHaveAnotherForm) {
  constexpr int64_t size = 320;
  const TensorSpec spec = deviceSpec({size, size}), activation = deviceSpec({64, size});
  const auto device = runtime::openMeshDevice({});
  const runtime::Tensor x = tensor(counted(64 * size, 127), {64, size});
  const runtime::Tensor weights = tensor(counted(size * size, 509), {size, size});
  const auto build = [&] {
    ProgramBuilder builder;
    const auto input = builder.input(activation), given = builder.input(spec);
    return runtime::Binary::load(builder.finish({builder.op("ttnn.matmul", {input, given}, activation)}));
  };
  const auto first = build(), second = build();
  const auto run = [&](const runtime::Binary &binary) {
    weights.setParameter();
    return runtime::toHost(runtime::submit(device, binary, 0, {x, weights})[0], true)[0];
  };
  const runtime::Tensor before = run(first);
  std::memset(weights.data(), 0, weights.bytes());
  weights.markWritten();
  const runtime::Tensor after = run(second);
  EXPECT_NE(std::memcmp(before.data(), after.data(), before.bytes()), 0);
  const Floats zeros(64 * size, 0.0f);
  EXPECT_EQ(std::memcmp(after.data(), zeros.data(), after.bytes()), 0);
  runtime::closeMeshDevice(device);
}

TEST(Weights, LieBehindOneAnother) {
  std::vector<std::pair<std::shared_ptr<std::byte>, size_t>> pieces;
  unsigned char value = 0;
  for (size_t bytes : {size_t(300000), size_t(5000000), size_t(1), size_t(17) << 20, size_t(9999999), size_t(3) << 20,
                       size_t(15) << 20, size_t(16) << 20}) {
    pieces.emplace_back(takeLasting(bytes), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().first.get()) % 64, 0u);
    std::memset(pieces.back().first.get(), ++value, bytes);
    settleLasting(); // others are taken after it all the same
  }
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t at : {size_t(0), pieces[i].second / 2, pieces[i].second - 1})
      EXPECT_EQ(static_cast<unsigned>(pieces[i].first.get()[at]), i + 1) << "piece " << i << " at " << at;
}

TEST(Weights, OfWhichAPieceIsGivenBackKeepTheRest) {
  constexpr size_t bytes = size_t(11) << 20, first = (size_t(1) << 20) + 64, count = size_t(7) << 20;
  auto *const data = static_cast<std::byte *>(freshMemory(bytes));
  ASSERT_NE(data, nullptr);
  std::memset(data, 0x5a, bytes);
  emptyFresh(data + first, count);
  emptyFresh(data + first, 5);
  for (size_t i = 0; i < bytes; i += 64)
    if (i < first || i >= first + count)
      ASSERT_EQ(data[i], std::byte(0x5a)) << i;
  freeFresh(data, bytes);
  // The same memory again, or other memory: all of it can be written.
  auto *const again = static_cast<std::byte *>(freshMemory(bytes));
  ASSERT_NE(again, nullptr);
  std::memset(again, 1, bytes);
  freeFresh(again, bytes);
}
