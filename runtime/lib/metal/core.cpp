//===- core.cpp - simulated cores -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tt::metal {
namespace {

thread_local KernelRun *current = nullptr;

/// Thrown in a kernel that waits for something that will never arrive, to unwind its frames.
struct Cancelled {};

constexpr size_t waitingShown = 16; // lines of a deadlock's message
/// The number of pauses without a visible change after which a kernel that alone can continue will never end: 2^30
/// jumps.
constexpr uint32_t mostPauses = uint32_t(1) << 16;

} // namespace

// Not inlined: a fiber may continue in another thread, and an address of a thread-local variable must not be kept
// across a switch.
[[gnu::noinline]] KernelRun &currentKernel() {
  if (!current)
    throw Error("a function of the kernel API was called outside of a kernel");
  if (const Interruptible *caller = current->core.interruptible; caller && !current->cancelled && caller->isRequested())
      [[unlikely]]
    throw Interrupted();
  return *current;
}

namespace {

constexpr int sparse = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Memory where pointers have 31 bits.
void *mapLow(size_t bytes) {
  constexpr uintptr_t first = 0x10000000, end = 0x7f000000, step = 0x1000000;
  for (uintptr_t at = first; at + bytes <= end; at += step) {
    void *const place = reinterpret_cast<void *>(at); // NOLINT: an address of our choice
    void *const taken = ::mmap(place, bytes, PROT_READ | PROT_WRITE, sparse | MAP_FIXED_NOREPLACE, -1, 0);
    if (taken == place)
      return taken;
    if (taken != MAP_FAILED) // a kernel that does not know the flag
      ::munmap(taken, bytes);
  }
  return MAP_FAILED;
}

} // namespace

L1::L1(const sim::ChipDesc &chip, bool pointers) : chip(chip), size(static_cast<size_t>(chip.l1Size)) {
  const size_t bytes = size * static_cast<size_t>(chip.cores());
  void *taken = pointers ? mapLow(bytes) : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sparse, -1, 0);
  if (taken == MAP_FAILED)
    throw OutOfMemoryError("no memory for the L1 of " + std::to_string(chip.cores()) + " cores");
  memory = static_cast<std::byte *>(taken);
  if (pointers)
    window = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(taken));
}

Dram::Dram(const sim::ChipDesc &chip)
    : size(static_cast<size_t>(chip.dramChannelSize)), banks(static_cast<size_t>(chip.dramChannels)) {
  void *taken = ::mmap(nullptr, size * banks, PROT_READ | PROT_WRITE, sparse, -1, 0);
  if (taken == MAP_FAILED)
    throw OutOfMemoryError("no memory for " + std::to_string(banks) + " banks of DRAM");
  memory = static_cast<std::byte *>(taken);
}

void Dram::clear(uint32_t bank, uint64_t address, uint64_t bytes) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::byte *begin = at(bank, address), *end = begin + bytes;
  const auto number = [](const std::byte *at) { return reinterpret_cast<uintptr_t>(at); };
  std::byte *first = begin + (page - number(begin) % page) % page, *last = end - number(end) % page;
  if (first >= last || ::madvise(first, static_cast<size_t>(last - first), MADV_DONTNEED) != 0) {
    std::memset(begin, 0, bytes);
    return;
  }
  std::memset(begin, 0, static_cast<size_t>(first - begin));
  std::memset(last, 0, static_cast<size_t>(end - last));
}

Dram::~Dram() { ::munmap(memory, size * banks); }

L1::~L1() { ::munmap(memory, size * static_cast<size_t>(chip.cores())); }

KernelRun::KernelRun(Core &core, const Kernel &kernel, std::span<const uint32_t> arguments, void (*entry)(),
                     bool recorded)
    : core(core), kernel(kernel), arguments(arguments), fiber([this, entry] {
        try {
          if (!cancelled)
            entry();
        } catch (const Cancelled &) {
        }
      }),
      exact(core.exact && kernel.compute),
      config{kernel.fidelityPhases, kernel.f32Dst ? ttnn::exact::Destination::Bits32 : ttnn::exact::Destination::Bits16,
             kernel.approximate, false} {
  if (kernel.compute)
    dst = std::make_unique<Dst>(kernel.f32Dst, kernel.fullDst);
  if (recorded) {
    recording = std::make_unique<Recording>();
    clock.log = &recording->log;
  }
}

void KernelRun::fail(std::string_view function, const std::string &what) const {
  throw Error("program \"" + std::string(core.program) + "\": kernel " + std::string(kernel.symbol) + " on core " +
              core.name() + ": " + std::string(function) + ": " + what +
              (line ? " (line " + std::to_string(line) + ")" : ""));
}

uint32_t KernelRun::argument(uint32_t index) const {
  if (index >= arguments.size())
    fail("get_arg_val",
         "there is no argument " + std::to_string(index) + "; the kernel has " + std::to_string(arguments.size()));
  return arguments[index];
}

uint32_t KernelRun::commonArgument(uint32_t index) const {
  if (index >= kernel.runtimeArgs.size())
    fail("get_common_arg_val", "there is no argument " + std::to_string(index) + "; the kernel has " +
                                   std::to_string(kernel.runtimeArgs.size()));
  return kernel.runtimeArgs[index];
}

void pauseKernel() {
  if (current && !std::uncaught_exceptions())
    currentKernel().pause();
}

void endKernelZone() noexcept {
  if (current)
    current->endZone();
}

void KernelRun::pause() {
  ++pauses;
  paused = true;
  fiber.suspend();
  if (cancelled)
    throw Cancelled();
}

void KernelRun::waitFor(Wait what) {
  pauses = 0;
  waiting = what;
  while (!waiting.over()) {
    fiber.suspend();
    if (cancelled)
      throw Cancelled();
  }
  waiting = {};
}

void Core::add(const CircularBuffer &desc) {
  rings[desc.port] = std::make_unique<Ring>(
      Ring{desc.port, desc.dtype, desc.address, desc.ring.pageBytes, desc.ring.pages, 0, 0, 0, 0, 0, nullptr,
           std::vector<double>(desc.ring.pages), std::vector<double>(desc.ring.pages)});
}

void Core::run() {
  for (bool went = true; went;) {
    went = false;
    for (const auto &kernel : kernels) {
      if (!kernel->canRun())
        continue;
      KernelRun *const before = std::exchange(current, kernel.get());
      kernel->fiber.resume();
      current = before;
      went = true;
    }
  }
}

bool Core::canRun() const {
  return std::ranges::any_of(kernels, [](const auto &kernel) { return kernel->canRun(); });
}

bool Core::isPaused() const {
  return std::ranges::any_of(kernels, [](const auto &kernel) { return kernel->paused; });
}

bool Core::isStuck() const {
  return std::ranges::all_of(kernels,
                             [](const auto &kernel) { return !kernel->paused || kernel->pauses >= mostPauses; });
}

void Core::endPauses() {
  for (const auto &kernel : kernels)
    kernel->paused = false;
}

bool Core::ended() const {
  return std::ranges::all_of(kernels, [](const auto &kernel) { return kernel->fiber.ended(); });
}

void Core::cancel() {
  for (const auto &kernel : kernels) {
    kernel->cancelled = true;
    KernelRun *const before = std::exchange(current, kernel.get());
    if (!kernel->fiber.ended())
      kernel->fiber.resume();
    current = before;
  }
}

std::exception_ptr Core::error() const {
  for (const auto &kernel : kernels)
    if (kernel->fiber.error())
      return kernel->fiber.error();
  return nullptr;
}

namespace {

std::string lineText(const KernelRun &run) { return run.line ? ", line " + std::to_string(run.line) : ""; }

} // namespace

std::string Core::waiting() const {
  std::string text;
  for (const auto &kernel : kernels)
    if (kernel->fiber.ended()) {
      continue;
    } else if (kernel->paused) {
      text += "\n  kernel " + std::string(kernel->kernel.symbol) + " on core " + name() +
              ": runs a loop that neither waits nor changes what other kernels see";
    } else if (!kernel->waiting.isThere()) {
      continue;
    } else if (!kernel->waiting.ring) {
      const KernelRun::Wait &wait = kernel->waiting;
      text += "\n  kernel " + std::string(kernel->kernel.symbol) + " on core " + name() + lineText(*kernel) + ": " +
              (wait.orMore ? "noc_semaphore_wait_min" : "noc_semaphore_wait") + " waits until " +
              (wait.address ? "the semaphore at address " + std::to_string(wait.address)
                            : "semaphore " + std::to_string(wait.id)) +
              " is " + std::to_string(wait.value) + (wait.orMore ? " or more" : "") + "; it is " +
              std::to_string(loadSemaphore(wait.semaphore));
    } else {
      const Ring &ring = *kernel->waiting.ring;
      const uint32_t there = kernel->waiting.front ? ring.front() : ring.back();
      text += "\n  kernel " + std::string(kernel->kernel.symbol) + " on core " + name() + lineText(*kernel) + ": " +
              (kernel->waiting.front ? "cb_wait_front" : "cb_reserve_back") + " of port " + std::to_string(ring.port) +
              " waits for " + std::to_string(kernel->waiting.pages) +
              (kernel->waiting.pages == 1 ? " page, " : " pages, ") + std::to_string(there) + " of " +
              std::to_string(ring.pages) + (kernel->waiting.front ? " are there" : " are free");
    }
  return text;
}

namespace {

/// Creates the state of every core that has a kernel of the program.
std::vector<std::unique_ptr<Core>> coresOf(const L1 &l1, const EnqueueProgram &program, std::string_view name,
                                           const std::function<void (*(uint32_t))()> &entry, bool exact,
                                           bool recorded) {
  std::vector<std::unique_ptr<Core>> byIndex(static_cast<size_t>(l1.chip.cores()));
  for (const Kernel &kernel : program.kernels)
    for (size_t i = 0; i < kernel.cores.size(); ++i) {
      const CoreIndex index = kernel.cores[i];
      auto &core = byIndex[index];
      if (!core)
        core = std::make_unique<Core>(l1, index, name, exact);
      const auto &arguments = kernel.coreArgs.empty() ? kernel.runtimeArgs : kernel.coreArgs[i];
      core->kernels.push_back(std::make_unique<KernelRun>(*core, kernel, arguments, entry(kernel.entry), recorded));
    }
  for (const CircularBuffer &ring : program.rings)
    for (CoreIndex index : ring.ring.cores)
      if (byIndex[index])
        byIndex[index]->add(ring);
  return byIndex;
}

/// If no kernel can continue: ends the pauses, unless all paused kernels are stuck.
bool goesOn(std::span<const std::unique_ptr<Core>> cores) {
  if (std::ranges::none_of(cores, [](const auto &core) { return core->isPaused(); }) ||
      std::ranges::all_of(cores, [](const auto &core) { return core->isStuck(); }))
    return false;
  for (const auto &core : cores)
    core->endPauses();
  return true;
}

} // namespace

ProgramWork runKernels(const L1 &l1, const EnqueueProgram &program, std::string_view name,
                       const std::function<void (*(uint32_t))()> &entry, const Dram *dram, std::string *printed,
                       const Mesh &mesh, bool recorded) {
  auto cores = coresOf(l1, program, name, entry, mesh.exact, recorded);
  std::vector<Core *> all;
  for (const auto &core : cores)
    all.push_back(core.get());
  std::erase(cores, nullptr);
  for (const auto &core : cores) {
    core->interruptible = Interruptible::current();
    core->all = all;
    core->dram = dram;
    core->mesh = mesh;
    constexpr uint32_t semaphores = maxSemaphores * semaphoreBytes;
    std::memset(l1.at(core->index, static_cast<uint32_t>(l1.chip.l1UnreservedBase) - semaphores), 0, semaphores);
  }
  for (const SemaphoreValue &semaphore : program.semaphores)
    for (CoreIndex index : semaphore.cores)
      std::memcpy(l1.at(index, static_cast<uint32_t>(l1.chip.l1UnreservedBase) -
                                   (maxSemaphores - semaphore.id) * semaphoreBytes),
                  &semaphore.value, sizeof semaphore.value);
  const auto canRun = [](const auto &core) { return core->canRun(); };
  // The actions of a core may let another one continue, mostly in its row of the grid: a thread runs a row until none
  // of its cores can continue.
  do
    parallelFor(static_cast<int64_t>(cores.size()), l1.chip.gridColumns, [&](int64_t begin, int64_t end) {
      const auto row = std::span(cores).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      for (bool went = true; went;) {
        went = false;
        for (const auto &core : row)
          if (core->canRun()) {
            core->run();
            went = true;
          }
      }
    });
  while (std::ranges::any_of(cores, canRun) || goesOn(cores));
  // Cores are visited in one order, so that any number of threads reports the same error.
  std::exception_ptr error;
  std::string waiting;
  size_t waitingCores = 0;
  for (const auto &core : cores) {
    for (const auto &run : core->kernels)
      if (printed && !run->printed.empty())
        *printed += run->printed + (run->printed.ends_with('\n') ? "" : "\n");
    if (!error)
      error = core->error();
    if (!core->ended() && ++waitingCores <= waitingShown)
      waiting += core->waiting();
  }
  if (error || waitingCores) {
    for (const auto &core : cores)
      core->cancel();
    checkInterrupt(); // kernels end for it; this thread says whether that was right
    if (error)
      std::rethrow_exception(error);
    throw Error("program \"" + std::string(name) + "\": deadlock, every kernel that has not ended waits:" + waiting +
                (waitingCores > waitingShown
                     ? "\n  and those of " + std::to_string(waitingCores - waitingShown) + " more cores"
                     : ""));
  }
  ProgramWork result;
  double most[2] = {}; // cycles of the kernel that computes, or moves data, most
  for (const auto &core : cores)
    for (const auto &run : core->kernels) {
      result.total.matmulTiles += run->work.matmulTiles;
      result.total.fpuTiles += run->work.fpuTiles;
      result.total.sfpuTiles += run->work.sfpuTiles;
      result.total.movedBytes += run->work.movedBytes;
      result.roundedOnly.insert(run->roundedOnly.begin(), run->roundedOnly.end());
      result.total.fabricBytes += run->work.fabricBytes;
      result.total.fabricHops = std::max(result.total.fabricHops, run->work.fabricHops);
      // Kernels work at the same time: the last one to end counts.
      run->clock.compute(run->work, l1.chip.speed);
      run->clock.waitForTransfers();
      if (const auto cycles = static_cast<int64_t>(std::ceil(run->clock.now)); cycles > result.cycles)
        result.cycles = cycles;
      most[0] = std::max(most[0], run->clock.computing);
      most[1] = std::max(most[1], run->clock.moving);
    }
  result.activity = activityOf(l1.chip, cores, recorded);
  if (result.cycles) {
    result.bound = most[0] >= most[1] ? ttmlir::cost::Bound::Compute : ttmlir::cost::Bound::L1;
    result.waiting = 1 - std::min(1.0, std::max(most[0], most[1]) / static_cast<double>(result.cycles));
  }
  // All cores share the links of the chip.
  const ttmlir::cost::Speed &speed = l1.chip.speed;
  const double fabricNs = static_cast<double>(result.total.fabricBytes) / speed.linkBytesPerSecond * 1e9 +
                          static_cast<double>(result.total.fabricHops) * speed.hopNs;
  if (const auto cycles = static_cast<int64_t>(std::ceil(fabricNs * speed.clockGHz)); cycles > result.cycles) {
    result.cycles = cycles;
    result.bound = ttmlir::cost::Bound::Fabric;
  }
  return result;
}

} // namespace tt::metal
