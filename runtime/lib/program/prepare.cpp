//===- prepare.cpp - cache of prepared programs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/executable.h"
#include "program/inputs.h"
#include "tt/recycle.h"

namespace tt::runtime {

namespace {

/// The plan of the program for other sizes, if there is one for these inputs.
ExecutableCache::Latest latestOf(const Binary &binary, size_t program, const Device &device, Mode mode,
                                 std::span<const Tensor> inputs) {
  const auto open = binary.impl().boundOf.lock();
  if (!open)
    return {};
  ExecutableCache &cache = open->kept<ExecutableCache>();
  ExecutableCache::Latest found{};
  {
    std::lock_guard lock(cache.mutex);
    for (const ExecutableCache::Latest &latest : cache.latest)
      if (latest.device == device->id() && latest.epoch == device->programCacheEpoch() && latest.program == program &&
          latest.mode == mode)
        found = latest;
  }
  return found.left.plan && fits(*found.left.plan, device, inputs) ? found : ExecutableCache::Latest();
}

void keepLatest(const Binary &binary, size_t program, const Device &device, Mode mode, const Executable &executable) {
  const auto open = binary.impl().boundOf.lock();
  if (!open || mode != Mode::Fast)
    return;
  ExecutableCache &cache = open->kept<ExecutableCache>();
  std::list<ExecutableCache::Latest> gone; // goes outside of the lock
  std::lock_guard lock(cache.mutex);
  for (auto it = cache.latest.begin(); it != cache.latest.end();)
    if (const auto here = it++; here->device == device->id() && here->program == program)
      gone.splice(gone.end(), cache.latest, here);
  cache.latest.push_back({device->id(), device->programCacheEpoch(), program, mode, binary, executable.legacy()});
}

} // namespace

std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode,
                                    std::span<const Tensor> inputs) {
  ExecutableCache &cache = binary.impl().kept<ExecutableCache>();
  const uint64_t epoch = device->programCacheEpoch();
  std::shared_ptr<Executable> old;
  {
    std::lock_guard lock(cache.mutex);
    // Programs for closed devices are removed here: nothing else looks them up.
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) {
      const Device owner = entry.owner.lock();
      return !owner || !owner->isOpen() || entry.epoch != owner->programCacheEpoch();
    });
    for (const auto &entry : cache.entries)
      if (entry.device == device->id() && entry.program == program && entry.mode == mode)
        old = entry.executable;
  }
  // The following is done outside of the lock: other devices need not wait. The device's own run mutex prevents a
  // second thread from creating the same.
  std::shared_ptr<const Plan> before; // of the program that runs again
  if (old && old->fits(inputs)) {
    if (!old->wouldKeepMore())
      return old;
    before = old->planned();
  }
  if (old) {
    // Results of other inputs are freed before their successors are created, unless these are invalid anyway.
    old->checkInputs(inputs);
    std::lock_guard lock(cache.mutex);
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) { return entry.executable == old; });
    old.reset();
  }
  if (const auto &partition = device->partition()) {
    // The same file may lie elsewhere on another machine.
    partition->ranks().agree("the number of the program", std::to_string(program));
    partition->ranks().agree("the file " + binary.fileName(), identityOf(binary.impl()));
  }
  const ExecutableCache::Latest latest =
      before ? ExecutableCache::Latest() : latestOf(binary, program, device, mode, inputs);
  const Plan *const previous = before ? before.get() : latest.left.plan.get();
  const auto open = binary.impl().boundOf.lock();
  ttnn::WeightOrders *const orders = open ? &open->kept<ExecutableCache>().orders : nullptr;
  std::shared_ptr<const Plan> plan;
  {
    const ttnn::WeightOrders::Scope scope(orders);
    plan = makePlan(binary.impl(), program, device, mode, inputs, {}, previous);
  }
  if (orders)
    orders->settle();
  auto executable = std::make_shared<Executable>(std::move(plan), device, &latest.left);
  keepLatest(binary, program, device, mode, *executable);
  binary.impl().settle();
  settleLasting();
  if (device->options().programCache) {
    std::lock_guard lock(cache.mutex);
    cache.entries.push_back({device->id(), device, epoch, program, mode, executable});
  }
  return executable;
}

} // namespace tt::runtime
