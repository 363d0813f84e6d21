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

/// Calls with the same values before a form of them is kept: a program that runs once or twice keeps none.
constexpr int before = 2;
/// Kernels for one operand's values: as many shapes of the other operand.
constexpr size_t mostKernels = 64;

size_t limitOfProcess() {
  static const size_t limit = [] {
    constexpr size_t otherwise = 256;
    size_t megabytes = otherwise;
    if (const char *text = std::getenv("TTRT_PACKED_MB"); text && *text) {
      const char *end = text + std::strlen(text);
      const auto [last, error] = std::from_chars(text, end, megabytes);
      if (error != std::errc() || last != end || megabytes > (~size_t(0) >> 20))
        throw Error("TTRT_PACKED_MB is '" + std::string(text) + "'; expected a number of MiB");
    }
    return megabytes << 20;
  }();
  return limit;
}

} // namespace

bool Unchanged::count(uint64_t now) {
  if (now != version) {
    forget();
    version = now;
    calls = 0;
  }
  calls = std::min(calls + 1, before + 1);
  return calls > before;
}

void Unchanged::forget() {
  kept.clear();
  forms.clear();
  ofProcess.fetch_sub(bytes, std::memory_order_relaxed);
  bytes = 0;
}

std::shared_ptr<PreparedCall> Unchanged::find(const PreparedCall *plain, const std::byte *data) const {
  const auto found =
      std::ranges::find_if(kept, [&](const Kept &each) { return each.plain.get() == plain && each.data == data; });
  return found == kept.end() ? nullptr : found->packed;
}

bool Unchanged::affordsForm(size_t more) const {
  const size_t limit = limitOfProcess(), now = ofProcess.load(std::memory_order_relaxed);
  return now <= limit && more <= limit - now;
}

void Unchanged::add(std::shared_ptr<PreparedCall> plain, const std::byte *data, std::shared_ptr<PreparedCall> packed,
                    size_t more) {
  if (kept.size() >= mostKernels)
    kept.clear();
  kept.push_back({std::move(plain), data, std::move(packed)});
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
