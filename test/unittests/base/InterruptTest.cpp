//===- InterruptTest.cpp - interrupted runs and forked processes ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/interrupt.h"
#include "MetalSamples.h"
#include "ProgramBuilder.h"
#include "tt/fork.h"
#include "tt/parallel.h"

#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tt;
using namespace tt::test;
using Floats = std::vector<float>;

namespace {

/// a + 1 + 1 + 1 + 1
runtime::Binary fourOps() {
  ProgramBuilder builder;
  auto value = builder.input(deviceSpec({2, 2}));
  const auto one = builder.constant(deviceSpec({2, 2}), {1, 1, 1, 1});
  for (int i = 0; i < 4; ++i)
    value = builder.op("ttnn.add", {value, one}, deviceSpec({2, 2}));
  return builder.load({value});
}

int64_t allocated(const runtime::Device &device) { return device->memoryView(sim::Memory::DRAM).allocated; }

struct Hooked {
  explicit Hooked(std::function<void(uint32_t)> beforeOp) {
    runtime::setHooks(
        {[beforeOp](const auto &, const runtime::OpContext &op) { beforeOp(op.index); }, nullptr, nullptr, nullptr});
  }
  ~Hooked() { runtime::clearHooks(); }
};

/// Whether f(), in a child that was forked, returned true in time.
template <class F> bool inChild(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool good = false;
    try {
      good = f();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int64_t threadsOf(int64_t n) {
  std::atomic<int64_t> sum{0};
  parallelFor(n, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  return sum;
}

} // namespace

TEST(Interrupt, EndsARunBetweenTwoOps) {
  const auto binary = fourOps();
  const auto device = runtime::openMeshDevice();
  const auto input = tensor({1, 2, 3, 4}, {2, 2});
  const Interruptible here;
  std::vector<uint32_t> begun;
  {
    const Hooked hooked([&](uint32_t op) {
      begun.push_back(op);
      if (begun.size() == 2)
        requestInterrupt();
    });
    EXPECT_THROW(runtime::submit(device, binary, 0, {input}), Interrupted);
    EXPECT_EQ(begun.size(), 2u);
    EXPECT_EQ(allocated(device), 0);
    // One request ends one run.
    runtime::submit(device, binary, 0, {input});
    EXPECT_GE(begun.size(), 6u);
  }
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {input})[0]), (Floats{5, 6, 7, 8}));
}

TEST(Interrupt, EndsPreparingAProgram) {
  const auto binary = fourOps();
  const auto device = runtime::openMeshDevice();
  const Interruptible here;
  requestInterrupt();
  EXPECT_THROW(runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {2, 2})}), Interrupted);
  EXPECT_EQ(allocated(device), 0);
  EXPECT_EQ(floats(runtime::submit(device, binary, 0, {tensor({1, 2, 3, 4}, {2, 2})})[0]), (Floats{5, 6, 7, 8}));
}

TEST(Interrupt, ConcernsThreadsThatCanBeInterruptedOnly) {
  requestInterrupt(); // nobody is there
  checkInterrupt();
  {
    const Interruptible here;
    checkInterrupt();
    std::thread([] {
      requestInterrupt();
      checkInterrupt();
    }).join();
    EXPECT_THROW(checkInterrupt(), Interrupted);
    checkInterrupt();
  }
  requestInterrupt();
  checkInterrupt();
}

TEST(Interrupt, TheOneWhoIsRequestedMayGoOn) {
  struct Counting : Interruptible {
    bool decide() override { return ++requested > 1; }
    int requested = 0;
  } here;
  requestInterrupt();
  checkInterrupt();
  checkInterrupt();
  EXPECT_EQ(here.requested, 1);
  requestInterrupt();
  EXPECT_THROW(checkInterrupt(), Interrupted);
}

TEST(Interrupt, EndsAKernelThatLoopsForEver) {
  ElementwiseProgram program({70, 70}, DataType::Float32, 1, "    while (cb_pages_available_at_front(0, 1)) {}\n", 0, 2,
                             2, true);
  const auto binary = program.load();
  const auto device = runtime::openMeshDevice();
  const auto input = sampled({70, 70}, DataType::Float32);
  const Interruptible here;
  std::atomic<bool> ended{false};
  std::thread again([&] {
    while (!ended) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      requestInterrupt();
    }
  });
  // The first request may come while the kernels are compiled: the second run finds them.
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(runtime::submit(device, binary, 0, {input}), Interrupted);
  ended = true;
  again.join();
  EXPECT_EQ(device->memoryView(sim::Memory::L1).allocated, 0);
}

TEST(Fork, AChildRunsProgramsOnThreadsOfItsOwn) {
  const auto binary = fourOps();
  const auto device = runtime::openMeshDevice();
  const auto input = tensor({1, 2, 3, 4}, {2, 2});
  setThreads(4);
  EXPECT_EQ(threadsOf(1000), 1000);
  runtime::submit(device, binary, 0, {input});
  EXPECT_TRUE(inChild([&] {
    return threadsOf(1000) == 1000 && floats(runtime::submit(device, binary, 0, {input})[0]) == Floats{5, 6, 7, 8} &&
           forkCount() == 1 && inChild([] { return threadsOf(1000) == 1000 && forkCount() == 2; });
  }));
  EXPECT_EQ(threadsOf(1000), 1000);
  EXPECT_EQ(forkCount(), 0u);
  setThreads(0);
}

TEST(Fork, InsideOfALoopAChildRunsOnOneThread) {
  setThreads(2);
  std::atomic<bool> good{false};
  parallelFor(2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0)
      good = inChild([] { return threadsOf(1000) == 1000; });
  });
  EXPECT_TRUE(good);
  setThreads(0);
}

TEST(Fork, AChildDoesNotWaitForThreadsOfItsParent) {
  const auto binary = fourOps();
  const auto device = runtime::openMeshDevice();
  const auto input = tensor({1, 2, 3, 4}, {2, 2});
  std::atomic<bool> running{false}, forked{false};
  const Hooked hooked([&](uint32_t) {
    running = true;
    while (!forked && forkCount() == 0)
      std::this_thread::yield();
  });
  std::thread other([&] { runtime::submit(device, binary, 0, {input}); });
  while (!running)
    std::this_thread::yield();
  EXPECT_TRUE(inChild([&] {
    runtime::clearHooks();
    try {
      runtime::submit(device, binary, 0, {input});
      return false;
    } catch (const Error &error) {
      if (std::string_view(error.what()).find("in use by another thread when this process was forked") ==
          std::string_view::npos)
        return false;
    }
    const auto own = runtime::openMeshDevice();
    return floats(runtime::submit(own, binary, 0, {input})[0]) == Floats{5, 6, 7, 8};
  }));
  forked = true;
  other.join();
}

TEST(Fork, MutexesThatLiveAsLongAsTheProcessAreFree) {
  static ForkMutex &mutex = *new ForkMutex(3);
  std::atomic<bool> ended{false};
  std::thread other([&] {
    while (!ended) {
      std::lock_guard lock(mutex);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(inChild([] {
      std::lock_guard lock(mutex);
      return true;
    }));
  ended = true;
  other.join();
}
