//===- SteadyStateTest.cpp - steady state of repeated runs ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// It allocates nothing, and gives the same bits, on any number of threads;
// outputs that somebody keeps stay as they are.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "tt/parallel.h"
#include "tt/recycle.h"

#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

// Counts every allocation of the process, whoever asks: operator new and the libraries come here, too. Pages are what
// the runtime takes past malloc.
// AddressSanitizer has allocation functions of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef COUNTS_ALLOCATIONS
#define COUNTS_ALLOCATIONS 1
#endif

static std::atomic<int64_t> allocations{0};
static std::atomic<bool> counting{false};

#if COUNTS_ALLOCATIONS
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count() {
  if (counting.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
}
void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void *realloc(void *data, size_t size) {
  count();
  return __libc_realloc(data, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **data, size_t alignment, size_t size) {
  count();
  *data = __libc_memalign(alignment, size);
  return *data ? 0 : 12; // ENOMEM
}
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  count();
  // NOLINTNEXTLINE: the system call gives an address as a number
  return reinterpret_cast<void *>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
}
}
#endif

namespace {

Floats ramp(int64_t n) {
  Floats values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7919) % 997) / 500 - 1;
  return values;
}

runtime::Tensor onDevice(const runtime::Device &device, const Shape &shape, DataType type) {
  return runtime::toLayout(tensor(ramp(volume(shape)), shape), device, deviceSpec(shape, type));
}

/// A layer of a network on x [1, 64, 256], of ops of most families.
uint32_t layer(ProgramBuilder &b, uint32_t x, uint32_t weight, uint32_t scale, DataType type) {
  const Shape shape = {1, 64, 256};
  const TensorSpec spec = deviceSpec(shape, type);
  const std::vector<flatbuffers::Offset<target::Attribute>> plain = {b.boolean("transpose_a", false),
                                                                     b.boolean("transpose_b", false)};
  auto y = b.op("ttnn.linear", {x, weight, scale}, spec, plain);
  y = b.op("ttnn.gelu", {y}, spec);
  y = b.op("ttnn.add", {y, x}, spec);
  const auto turned = b.op("ttnn.permute", {y}, deviceSpec({1, 256, 64}, type), {b.integers("permutation", {0, 2, 1})});
  const auto scores = b.op("ttnn.matmul", {y, turned}, deviceSpec({1, 64, 64}, type), plain);
  const auto shares = b.op("ttnn.softmax", {scores}, deviceSpec({1, 64, 64}, type), {b.integer("dimension", 2)});
  y = b.op("ttnn.matmul", {shares, y}, spec, plain);
  const auto mean =
      b.op("ttnn.mean", {y}, deviceSpec({1, 64, 1}, type), {b.boolean("keep_dim", true), b.integers("dim_arg", {2})});
  y = b.op("ttnn.subtract", {y, mean}, spec);
  y = b.op("ttnn.rms_norm", {y, scale}, spec, {b.real("epsilon", 1e-5)});
  const auto total =
      b.op("ttnn.sum", {y}, deviceSpec({1, 1, 256}, type), {b.boolean("keep_dim", true), b.integers("dim_arg", {1})});
  y = b.op("ttnn.add", {y, total}, spec);
  const auto half = deviceSpec({1, 64, 128}, type);
  const auto left =
      b.op("ttnn.slice_static", {y}, half,
           {b.integers("begins", {0, 0, 0}), b.integers("ends", {1, 64, 128}), b.integers("step", {1, 1, 1})});
  const auto right =
      b.op("ttnn.slice_static", {y}, half,
           {b.integers("begins", {0, 0, 128}), b.integers("ends", {1, 64, 256}), b.integers("step", {1, 1, 1})});
  return b.op("ttnn.concat", {right, left}, spec, {b.integer("dim", 2)});
}

runtime::Binary network(int layers, DataType type) {
  ProgramBuilder b;
  const auto w = b.input(deviceSpec({256, 256}, type));
  const auto kept = b.endProgram("eval", {b.op("ttnn.neg", {w}, deviceSpec({256, 256}, type))}, true);
  auto x = b.input(deviceSpec({1, 64, 256}, type));
  const auto parameter = b.input(deviceSpec({256, 256}, type));
  const auto weight = b.cached(kept, {parameter}, deviceSpec({256, 256}, type));
  const auto scale = b.input(deviceSpec({256}, type));
  for (int i = 0; i < layers; ++i)
    x = layer(b, x, weight, scale, type);
  return b.load({x});
}

std::vector<std::byte> bytes(const runtime::Tensor &tensor) { return {tensor.data(), tensor.data() + tensor.bytes()}; }

} // namespace

/// Runs f and expects that nobody in the process allocates meanwhile.
template <class F> auto expectNoAllocations(const std::string &what, F f) {
  [[maybe_unused]] const TakenMemory before = takenMemory();
  allocations = 0;
  counting = true;
  auto result = f();
  counting = false;
#if COUNTS_ALLOCATIONS
  EXPECT_EQ(allocations.load(), 0) << what;
  EXPECT_EQ(takenMemory().blocks, before.blocks) << what;
#endif
  return result;
}

/// A network with its inputs on a device.
struct Loaded {
  Loaded(const runtime::Device &device, int layers, DataType type)
      : device(device), binary(network(layers, type)),
        inputs{onDevice(device, {1, 64, 256}, type), onDevice(device, {256, 256}, type), onDevice(device, {256}, type)},
        expected(bytes(submit()[0])) {}
  runtime::Tensors submit() const { return runtime::submit(device, binary, 1, inputs); }
  runtime::Device device;
  runtime::Binary binary;
  std::vector<runtime::Tensor> inputs;
  std::vector<std::byte> expected;
};

TEST(SteadyState, CountsAllocations) {
#if COUNTS_ALLOCATIONS
  allocations = 0;
  counting = true;
  const auto *number = new volatile int(1);
  void *block = std::aligned_alloc(64, 64);
  void *pages = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  counting = false;
  EXPECT_EQ(allocations.load(), 3);
  delete number;
  std::free(block);
  ::munmap(pages, 4096);
#endif
}

TEST(SteadyState, AllocatesNothing) {
  for (const int count : {1, 2}) {
    setThreads(count);
    for (const DataType type : {DataType::Float32, DataType::BFloat16})
      for (const int layers : {1, 6}) {
        const Loaded program(runtime::openMeshDevice(), layers, type);
        for (int i = 0; i < 3; ++i) {
          const auto outputs =
              expectNoAllocations(std::to_string(layers) + " layers", [&] { return program.submit(); });
          EXPECT_EQ(bytes(outputs[0]), program.expected);
        }
      }
  }
  setThreads(0);
}

TEST(SteadyState, AllocatesNothingForOutputsOnTheHostAndOnAMesh) {
  ProgramBuilder b;
  b.mesh = {1, 2};
  TensorSpec spec = deviceSpec({64, 64}), onHost = hostSpec({64, 64});
  spec.distributed = onHost.distributed = true;
  const auto x = b.input(spec);
  const auto y = b.op("ttnn.exp", {x}, spec);
  const auto binary = b.load({y, b.op("ttnn.from_device", {y}, onHost)});
  const auto device = runtime::openMeshDevice(sim::meshOptions("n300"));
  const Floats ones(4096, 1);
  const std::vector<runtime::Tensor> shards = {tensor(ones, {64, 64}), tensor(ones, {64, 64})};
  const auto input = runtime::createMultiDeviceHostTensor(shards, {1, 2});
  const std::vector<runtime::Tensor> inputs = {runtime::toLayout(input, device, runtime::inputSpec(binary, 0, 0))};
  const auto submit = [&] { return runtime::submit(device, binary, 0, inputs); };
  const auto expected = bytes(submit()[1]);
  for (int i = 0; i < 3; ++i) {
    const auto outputs = expectNoAllocations("two outputs of two shards", submit);
    EXPECT_EQ(bytes(outputs[0]), expected);
    EXPECT_EQ(bytes(outputs[1]), expected);
    EXPECT_EQ(outputs[1].meshShape(), (std::vector<uint32_t>{1, 2}));
  }
}

TEST(SteadyState, KeepsOutputsWhileProgramsRunInTurns) {
  for (const int count : {1, 2}) {
    setThreads(count);
    const auto device = runtime::openMeshDevice();
    const Loaded programs[] = {{device, 1, DataType::Float32}, {device, 2, DataType::BFloat16}};
    std::deque<std::pair<const Loaded *, runtime::Tensors>> kept;
    for (int i = 0; i < 24; ++i) {
      const Loaded &program = programs[i % 2];
      const std::string what = "run " + std::to_string(i);
      // As many outputs as ever are alive at a time have been there after a few runs, in every place of device memory.
      auto outputs = i < 12 ? program.submit() : expectNoAllocations(what, [&] { return program.submit(); });
      kept.emplace_back(&program, std::move(outputs));
      for (const auto &[from, results] : kept)
        EXPECT_EQ(bytes(results[0]), from->expected) << what;
      if (kept.size() == 3)
        kept.pop_front();
    }
  }
  setThreads(0);
}

TEST(SteadyState, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const DataType type : {DataType::Float32, DataType::BFloat16}) {
    const auto device = runtime::openMeshDevice();
    const std::vector<runtime::Tensor> inputs = {onDevice(device, {1, 64, 256}, type),
                                                 onDevice(device, {256, 256}, type), onDevice(device, {256}, type)};
    std::vector<std::byte> expected;
    for (const int prepared : {1, 2, 3}) {
      setThreads(prepared);
      const auto binary = network(2, type);
      for (const int run : {1, 2, 4}) {
        setThreads(run);
        const auto found = bytes(runtime::submit(device, binary, 1, inputs)[0]);
        if (expected.empty())
          expected = found;
        EXPECT_EQ(found, expected) << "prepared for " << prepared << ", run on " << run;
      }
    }
    setThreads(0);
  }
}
