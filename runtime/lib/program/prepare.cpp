//===- prepare.cpp - cache of prepared programs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/executable.h"
#include "program/inputs.h"
#include "tt/recycle.h"

namespace tt::runtime {

std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode,
                                    std::span<const Tensor> inputs) {
  ExecutableCache &cache = binary.impl().kept<ExecutableCache>();
  const uint64_t epoch = device->programCacheEpoch();
  std::shared_ptr<Executable> old;
  {
    std::lock_guard lock(cache.mutex);
    // Programs for devices that are gone go here: nobody else looks at them.
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) {
      const Device owner = entry.owner.lock();
      return !owner || !owner->isOpen() || entry.epoch != owner->programCacheEpoch();
    });
    for (const auto &entry : cache.entries)
      if (entry.device == device->id() && entry.program == program && entry.mode == mode)
        old = entry.executable;
  }
  // What follows is done outside of the lock: other devices need not wait. The device's own run mutex keeps a second
  // thread from making the same.
  if (old && old->fits(inputs))
    return old;
  if (old) {
    // What was computed from other inputs goes before what takes its place is made, unless these are wrong anyway.
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
  auto executable = std::make_shared<Executable>(makePlan(binary.impl(), program, device, mode, inputs), device);
  binary.impl().settle();
  settleLasting();
  if (device->options().programCache) {
    std::lock_guard lock(cache.mutex);
    cache.entries.push_back({device->id(), device, epoch, program, mode, executable});
  }
  return executable;
}

} // namespace tt::runtime
