//===- prepared.cpp - prepared weights of a process -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/prepared.h"

#include <algorithm>

namespace tt::runtime {

/// Removes weights from the count when the last program releases it.
class PreparedForms::Lease {
public:
  Lease(PreparedForms &forms, std::vector<std::span<const std::byte>> weights)
      : forms(forms), weights(std::move(weights)) {}
  ~Lease() {
    try {
      forms.leave(weights);
    } catch (const Error &) {
      // A thread of the parent held the mutex when the process was forked: the count stays.
    }
  }

private:
  PreparedForms &forms;
  const std::vector<std::span<const std::byte>> weights;
};

PreparedForms &PreparedForms::ofProcess() {
  static auto *forms = new PreparedForms; // programs of static lifetime may end later than anything else
  return *forms;
}

std::shared_ptr<std::byte> PreparedForms::find(const Identity &values, const Form &form) {
  std::lock_guard lock(mutex);
  const auto found = entries.find({values, form});
  return found == entries.end() ? nullptr : found->second.form.lock();
}

void PreparedForms::keep(const Identity &values, Form form, const std::shared_ptr<std::byte> &created, bool isSecond) {
  std::lock_guard lock(mutex);
  if (entries.size() >= pruneAt) {
    prune();
    pruneAt = std::max<size_t>(256, 2 * entries.size());
  }
  const size_t bytes = isSecond ? values.bytes : 0;
  Entry &entry = entries[{values, std::move(form)}];
  secondBytes += bytes - entry.bytes;
  entry = {created, bytes};
}

void PreparedForms::prune() {
  std::erase_if(entries, [&](const auto &each) {
    if (!each.second.form.expired())
      return false;
    secondBytes -= each.second.bytes;
    return true;
  });
}

std::shared_ptr<const void> PreparedForms::enter(std::vector<std::span<const std::byte>> entered) {
  std::lock_guard lock(mutex);
  for (const auto &each : entered)
    if (++weights[{each.data(), each.size()}].programs == 1)
      weightBytes += each.size();
  return std::make_shared<Lease>(*this, std::move(entered));
}

void PreparedForms::leave(const std::vector<std::span<const std::byte>> &left) {
  std::lock_guard lock(mutex);
  for (const auto &each : left)
    if (const auto found = weights.find({each.data(), each.size()});
        found != weights.end() && --found->second.programs == 0) {
      weightBytes -= each.size();
      weights.erase(found);
    }
}

PreparedForms::Weight *PreparedForms::weightOf(std::span<const std::byte> values) {
  const auto behind = weights.upper_bound({values.data(), ~size_t(0)});
  if (behind == weights.begin())
    return nullptr;
  auto &[place, weight] = *std::prev(behind);
  return values.data() + values.size() <= place.first + place.second ? &weight : nullptr;
}

void PreparedForms::markInPlace(std::span<const std::byte> values) {
  std::lock_guard lock(mutex);
  if (Weight *weight = weightOf(values))
    weight->isInPlace = true;
}

bool PreparedForms::isInPlace(std::span<const std::byte> values) {
  std::lock_guard lock(mutex);
  const Weight *weight = weightOf(values);
  return weight && weight->isInPlace;
}

CallResults &CallResults::ofProcess() {
  static auto *results = new CallResults;
  return *results;
}

bool CallResults::Entry::isGone() const {
  return std::ranges::all_of(values, [](const auto &shard) { return shard.expired(); }) &&
         std::ranges::all_of(allocations, [](const auto &each) { return each.second.expired(); });
}

CallResults::Result CallResults::find(const Identity &call, uint32_t index, const sim::MeshDevice &device) {
  Result result;
  std::shared_ptr<const sim::Allocation> allocation; // ends outside of the lock
  std::lock_guard lock(mutex);
  const auto found = entries.find({call, index});
  if (found == entries.end())
    return result;
  const Entry &entry = found->second;
  for (const auto &shard : entry.values)
    result.values.push_back(shard.lock());
  if (const auto on = entry.allocations.find(device.id()); on != entry.allocations.end())
    if (allocation = on->second.lock(); allocation && allocation->validOn(device))
      result.allocation = std::move(allocation);
  return result;
}

void CallResults::keep(const Identity &call, uint32_t index, const sim::MeshDevice &device, const Result &result) {
  std::shared_ptr<const sim::Allocation> before; // ends outside of the lock
  std::lock_guard lock(mutex);
  if (entries.size() >= pruneAt) {
    std::erase_if(entries, [](const auto &each) { return each.second.isGone(); });
    pruneAt = std::max<size_t>(256, 2 * entries.size());
  }
  Entry &entry = entries[{call, index}];
  entry.values.resize(std::max(entry.values.size(), result.values.size()));
  for (size_t shard = 0; shard < result.values.size(); ++shard)
    if (result.values[shard] && entry.values[shard].expired())
      entry.values[shard] = result.values[shard];
  if (!result.allocation)
    return;
  // Programs that have one stay known by it.
  std::weak_ptr<const sim::Allocation> &known = entry.allocations[device.id()];
  before = known.lock();
  if (!before || !before->validOn(device))
    known = result.allocation;
}

bool PreparedForms::affords(size_t bytes) {
  constexpr size_t smallModel = size_t(512) << 20, least = size_t(128) << 20;
  std::lock_guard lock(mutex);
  if (weightBytes <= smallModel)
    return true;
  const size_t most = std::max(least, weightBytes / 5);
  if (bytes > most)
    return false;
  if (secondBytes + bytes > most)
    prune();
  return secondBytes + bytes <= most;
}

} // namespace tt::runtime
