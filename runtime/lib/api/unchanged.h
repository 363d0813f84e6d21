//===- unchanged.h - weights that turn out not to change ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/running.h"
#include "tt/ttnn/kernel.h"

#include <map>
#include <memory>
#include <vector>

namespace tt::ttnn {

/// Kernels for the values of an operand that they would pack in every run, and that was not written for some calls, and
/// the packed forms that these kernels share. The forms of a process have a limit (docs/runtime.md). Belongs to
/// Contents::kept, whose mutex guards it.
class Unchanged final : public ConstantStore {
public:
  Unchanged() = default;
  Unchanged(const Unchanged &) = delete;
  ~Unchanged() { forget(); }

  /// Counts a call; values of another version than before are not kept any more. Returns whether these were the same
  /// often enough: twice, and eight times as often after each form that was dropped before it was worth its creation.
  bool count(uint64_t version);
  /// The kernel for these values in place of `plain`, or null. data: their address; tensors that share contents may
  /// begin at different offsets.
  std::shared_ptr<PreparedCall> find(const PreparedCall *plain, const std::byte *data);
  /// Whether the process may have `bytes` more of packed forms.
  bool affordsForm(size_t bytes) const;
  /// Does not share the values, which their owner may write in place. bytes: of the form that `packed` has, if no other
  /// kernel had it before.
  void add(std::shared_ptr<PreparedCall> plain, const std::shared_ptr<std::byte> &values,
           std::shared_ptr<PreparedCall> packed, size_t bytes);

  void release(std::span<const std::byte>) const override {} // whoever has the tensor may read it
  std::shared_ptr<std::byte> sharedForm(const std::byte *operand, const Form &form) const override;
  void shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &made) const override;
  size_t formCount() const { return forms.size(); }

private:
  void forget();

  struct Kept {
    std::shared_ptr<PreparedCall> plain; // lives, so that no other is at its address
    const std::byte *data;
    std::weak_ptr<std::byte> values; // at `data`
    std::shared_ptr<PreparedCall> packed;
  };
  uint64_t version = 0;
  uint64_t calls = 0, before = 2; // of this version; those that a form waits for
  size_t bytes = 0;
  std::vector<Kept> kept;
  mutable std::map<std::pair<const std::byte *, Form>, std::shared_ptr<std::byte>> forms;
};

/// The most bytes of packed forms that a process keeps in this way: TTRT_PACKED_MB. Throws Error for a wrong one.
size_t mostPackedBytes();
/// The bytes of packed forms that the process keeps in this way.
size_t unchangedBytes() noexcept;

} // namespace tt::ttnn
