//===- core.cpp - simulated cores -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "tt/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <thread>
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

L1::L1(const sim::ChipDesc &chip, bool pointers) : L1(chip, pointers, false) {}

std::unique_ptr<L1> L1::ofOneCore(const sim::ChipDesc &chip) { return std::unique_ptr<L1>(new L1(chip, false, true)); }

L1::L1(const sim::ChipDesc &chip, bool pointers, bool oneCore)
    : chip(chip), size(static_cast<size_t>(chip.l1Size)), stride(oneCore ? 0 : size),
      mapped(oneCore ? size : size * static_cast<size_t>(chip.cores())) {
  void *taken = pointers ? mapLow(mapped) : ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, sparse, -1, 0);
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

L1::~L1() { ::munmap(memory, mapped); }

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
  if (dst)
    dst->copyViews();
  fiber.suspend();
  if (cancelled)
    throw Cancelled();
}

void KernelRun::waitFor(Wait what) {
  pauses = 0;
  waiting = what;
  while (!waiting.over()) {
    if (dst)
      dst->copyViews(); // other kernels may write the circular buffers
    fiber.suspend();
    if (cancelled)
      throw Cancelled();
  }
  waiting = {};
}

void Core::add(const CircularBuffer &desc) {
  rings[desc.port] =
      std::make_unique<Ring>(Ring{desc.port, desc.dtype, desc.address, desc.ring.pageBytes, desc.ring.pages});
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

void Core::add(const Kernel &kernel, size_t place, void (*entry)(), bool recorded) {
  const auto &arguments = kernel.coreArgs.empty() ? kernel.runtimeArgs : kernel.coreArgs[place];
  kernels.push_back(std::make_unique<KernelRun>(*this, kernel, arguments, entry, recorded));
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

std::optional<size_t> placeIn(const Cores &cores, CoreIndex core) {
  if (core < cores.size() && cores[core] == core) // as in the whole grid
    return core;
  const auto found = std::ranges::find(cores, core);
  return found == cores.end() ? std::nullopt : std::optional<size_t>(found - cores.begin());
}

namespace {

constexpr uint32_t semaphoresBytes = maxSemaphores * semaphoreBytes;

/// Creates a core for a program, and sets its semaphores; without kernels yet.
std::unique_ptr<Core> coreOf(const L1 &l1, CoreIndex index, const EnqueueProgram &program, std::string_view name,
                             const Mesh &mesh, const Interruptible *interruptible) {
  auto core = std::make_unique<Core>(l1, index, name, mesh.exact);
  core->interruptible = interruptible;
  core->mesh = mesh;
  const auto base = static_cast<uint32_t>(l1.chip.l1UnreservedBase);
  std::memset(l1.at(index, base - semaphoresBytes), 0, semaphoresBytes);
  for (const SemaphoreValue &semaphore : program.semaphores)
    if (std::ranges::find(semaphore.cores, index) != semaphore.cores.end())
      std::memcpy(l1.at(index, base - (maxSemaphores - semaphore.id) * semaphoreBytes), &semaphore.value,
                  sizeof semaphore.value);
  for (const CircularBuffer &ring : program.rings)
    if (std::ranges::find(ring.ring.cores, index) != ring.ring.cores.end())
      core->add(ring);
  return core;
}

/// The state of every core that has a kernel of the program, by index.
std::vector<std::unique_ptr<Core>> coresOf(const L1 &l1, const EnqueueProgram &program, std::string_view name,
                                           const std::function<void (*(uint32_t))()> &entry, const Mesh &mesh,
                                           bool recorded) {
  std::vector<std::unique_ptr<Core>> byIndex(static_cast<size_t>(l1.chip.cores()));
  const Interruptible *const interruptible = Interruptible::current();
  parallelFor(l1.chip.cores(), l1.chip.gridColumns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto index = static_cast<CoreIndex>(i);
      for (const Kernel &kernel : program.kernels)
        if (const auto place = placeIn(kernel.cores, index)) {
          auto &core = byIndex[index];
          if (!core)
            core = coreOf(l1, index, program, name, mesh, interruptible);
          core->add(kernel, *place, entry(kernel.entry), recorded);
        }
    }
  });
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

CoreWork Core::work() {
  CoreWork result;
  result.ended = ended();
  result.error = error();
  for (const auto &run : kernels) {
    if (!run->printed.empty())
      result.printed += run->printed + (run->printed.ends_with('\n') ? "" : "\n");
    result.roundedOnly.insert(run->roundedOnly.begin(), run->roundedOnly.end());
    result.total.matmulTiles += run->work.matmulTiles;
    result.total.fpuTiles += run->work.fpuTiles;
    result.total.sfpuTiles += run->work.sfpuTiles;
    result.total.movedBytes += run->work.movedBytes;
    result.total.fabricBytes += run->work.fabricBytes;
    result.total.fabricHops = std::max(result.total.fabricHops, run->work.fabricHops);
    // Kernels work at the same time: the last one to end counts.
    run->clock.compute(run->work, l1.chip.speed);
    run->clock.waitForTransfers();
    result.cycles = std::max(result.cycles, run->clock.now);
    result.computing = std::max(result.computing, run->clock.computing);
    result.moving = std::max(result.moving, run->clock.moving);
  }
  if (!result.ended) {
    result.waiting = waiting();
    cancel();
  }
  return result;
}

ProgramWork joined(std::span<CoreWork> cores, const sim::ChipDesc &chip, std::string_view name, std::string *printed) {
  // Cores are visited in one order, so that any number of threads reports the same error.
  std::exception_ptr error;
  std::string waiting;
  size_t waitingCores = 0;
  ProgramWork result;
  double cycles = 0, computing = 0, moving = 0;
  for (const CoreWork &core : cores) {
    if (printed)
      *printed += core.printed;
    if (!error)
      error = core.error;
    if (!core.ended && ++waitingCores <= waitingShown)
      waiting += core.waiting;
    result.total.matmulTiles += core.total.matmulTiles;
    result.total.fpuTiles += core.total.fpuTiles;
    result.total.sfpuTiles += core.total.sfpuTiles;
    result.total.movedBytes += core.total.movedBytes;
    result.total.fabricBytes += core.total.fabricBytes;
    result.total.fabricHops = std::max(result.total.fabricHops, core.total.fabricHops);
    result.roundedOnly.insert(core.roundedOnly.begin(), core.roundedOnly.end());
    cycles = std::max(cycles, core.cycles);
    computing = std::max(computing, core.computing);
    moving = std::max(moving, core.moving);
  }
  if (error || waitingCores) {
    checkInterrupt(); // kernels end for it; this thread says whether that was right
    if (error)
      std::rethrow_exception(error);
    throw Error("program \"" + std::string(name) + "\": deadlock, every kernel that has not ended waits:" + waiting +
                (waitingCores > waitingShown
                     ? "\n  and those of " + std::to_string(waitingCores - waitingShown) + " more cores"
                     : ""));
  }
  result.cycles = static_cast<int64_t>(std::ceil(cycles));
  if (result.cycles) {
    result.bound = computing >= moving ? ttmlir::cost::Bound::Compute : ttmlir::cost::Bound::L1;
    result.waiting = 1 - std::min(1.0, std::max(computing, moving) / static_cast<double>(result.cycles));
  }
  // All cores share the links of the chip.
  const double fabricNs = static_cast<double>(result.total.fabricBytes) / chip.speed.linkBytesPerSecond * 1e9 +
                          static_cast<double>(result.total.fabricHops) * chip.speed.hopNs;
  if (const auto least = static_cast<int64_t>(std::ceil(fabricNs * chip.speed.clockGHz)); least > result.cycles) {
    result.cycles = least;
    result.bound = ttmlir::cost::Bound::Fabric;
  }
  return result;
}

CoreWork runAlone(const L1 &l1, CoreIndex index, const EnqueueProgram &program, std::string_view name,
                  const std::function<void (*(uint32_t))()> &entry, const Mesh &mesh,
                  const Interruptible *interruptible, std::span<const StartingRing> starting) {
  const auto core = coreOf(l1, index, program, name, mesh, interruptible);
  core->alone = true;
  for (const Kernel &kernel : program.kernels)
    if (const auto place = placeIn(kernel.cores, index))
      core->add(kernel, *place, entry(kernel.entry), false);
  for (const StartingRing &start : starting) {
    Ring &ring = *core->rings[start.port];
    ring.places.assign(ring.pages, start.rows && !start.isResult ? Ring::Place::Host : Ring::Place::Zero);
    ring.hostRows = start.rows;
    ring.isResult = start.isResult;
  }
  do
    core->run();
  while (core->canRun() || goesOn({&core, 1}));
  for (const StartingRing &start : starting)
    core->rings[start.port]->settle(l1, index);
  return core->work();
}

ProgramWork runKernels(const L1 &l1, const EnqueueProgram &program, std::string_view name,
                       const std::function<void (*(uint32_t))()> &entry, const Dram *dram, std::string *printed,
                       const Mesh &mesh, bool recorded) {
  auto cores = coresOf(l1, program, name, entry, mesh, recorded);
  std::vector<Core *> all;
  for (const auto &core : cores)
    all.push_back(core.get());
  std::erase(cores, nullptr);
  for (const auto &core : cores) {
    core->all = all;
    core->dram = dram;
  }
  const auto canRun = [](const auto &core) { return core->canRun(); };
  // The actions of a core may let another one continue, mostly in its row of the grid: a thread runs a row until none
  // of its cores can continue, and waits while another thread may let one continue.
  std::atomic<int> running = 0;
  do
    parallelFor(static_cast<int64_t>(cores.size()), l1.chip.gridColumns, [&](int64_t begin, int64_t end) {
      const auto row = std::span(cores).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      ++running;
      for (bool went = true; went;) {
        went = false;
        for (const auto &core : row)
          if (core->canRun()) {
            core->run();
            went = true;
          }
        if (went)
          continue;
        --running;
        while (!went && running) {
          std::this_thread::yield();
          went = std::ranges::any_of(row, canRun);
        }
        running += went;
      }
    });
  while (std::ranges::any_of(cores, canRun) || goesOn(cores));
  std::vector<CoreWork> works;
  for (const auto &core : cores)
    works.push_back(core->work());
  ProgramWork result = joined(works, l1.chip, name, printed);
  result.activity = activityOf(l1.chip, cores, recorded);
  return result;
}

} // namespace tt::metal
