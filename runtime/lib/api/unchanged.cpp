//===- unchanged.cpp - weights that turn out not to change ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/unchanged.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tt::ttnn {
namespace {

std::atomic<size_t> ofProcess{0};

/// Calls that a form serves to be worth its creation. Values that were written earlier wait longer the next time.
constexpr uint64_t worthwhile = 32;
constexpr uint64_t longer = 8, longest = uint64_t(1) << 32;
/// Kernels for one operand's values: as many shapes of the other operand.
constexpr size_t mostKernels = 64;

} // namespace

size_t mostPackedBytes() {
  static const size_t limit = [] {
    constexpr size_t otherwise = 256, most = ~size_t(0) >> 20;
    size_t megabytes = otherwise;
    if (const char *text = std::getenv("TTRT_PACKED_MB"); text && *text) {
      const char *end = text + std::strlen(text);
      const auto [last, error] = std::from_chars(text, end, megabytes);
      if (error != std::errc() || last != end || megabytes > most)
        throw Error("the environment variable TTRT_PACKED_MB is '" + std::string(text) +
                    "'; expected a whole number of MiB from 0 to " + std::to_string(most));
    }
    return megabytes << 20;
  }();
  return limit;
}

bool Unchanged::count(uint64_t now) {
  if (now != version) {
    if (!kept.empty() && calls - before < worthwhile)
      before = std::min(before * longer, longest);
    forget();
    version = now;
    calls = 0;
  }
  return ++calls > before;
}

void Unchanged::forget() {
  kept.clear();
  forms.clear();
  ofProcess.fetch_sub(bytes, std::memory_order_relaxed);
  bytes = 0;
}

std::shared_ptr<PreparedCall> Unchanged::find(const PreparedCall *plain, const std::byte *data) {
  if (std::ranges::any_of(kept, [](const Kept &each) { return each.values.expired(); }))
    forget(); // others may be where these were
  const auto found =
      std::ranges::find_if(kept, [&](const Kept &each) { return each.plain.get() == plain && each.data == data; });
  return found == kept.end() ? nullptr : found->packed;
}

bool Unchanged::affordsForm(size_t more) const {
  const size_t limit = mostPackedBytes(), now = ofProcess.load(std::memory_order_relaxed);
  return now <= limit && more <= limit - now;
}

void Unchanged::add(std::shared_ptr<PreparedCall> plain, const std::shared_ptr<std::byte> &values,
                    std::shared_ptr<PreparedCall> packed, size_t more) {
  if (kept.size() >= mostKernels)
    kept.clear();
  kept.push_back({std::move(plain), values.get(), values, std::move(packed)});
  bytes += more;
  ofProcess.fetch_add(more, std::memory_order_relaxed);
}

std::shared_ptr<std::byte> Unchanged::sharedForm(const std::byte *operand, const Form &form) const {
  const auto found = forms.find({operand, form});
  return found == forms.end() ? nullptr : found->second;
}

void Unchanged::shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &made) const {
  forms[{operand, std::move(form)}] = made;
}

size_t unchangedBytes() noexcept { return ofProcess.load(std::memory_order_relaxed); }

} // namespace tt::ttnn
