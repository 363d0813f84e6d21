//===- prepared.h - prepared weights of a process ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The form in which kernels keep constants (panels, other orders of elements) belongs to the values and the form. All
// programs of a process share it as long as one of them uses it. They also share the results of equal calls
// (ttcore.load_cached): their memory on the device, and on the host the values that kernels read as they are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/fork.h"
#include "tt/sim/device.h"
#include "tt/ttnn/kernel.h"

#include <compare>
#include <map>
#include <memory>
#include <mutex>

namespace tt::runtime {

/// Identifies the values of a constant by a hash of 128 bits and their size: a hash of the values, or for the result of
/// a call, of the call. The owner of the values does not count: it may write them between two programs without notice.
struct Identity {
  uint64_t low = 0, high = 0;
  size_t bytes = 0;
  auto operator<=>(const Identity &) const = default;
};
/// Reads the values on all threads. The result does not depend on their number.
Identity identityOf(std::span<const std::byte> values);

/// The forms that kernels keep of constants, and the maximum number of their bytes.
class PreparedForms {
public:
  using Form = ttnn::ConstantStore::Form;

  static PreparedForms &ofProcess();

  /// The form of the values that a kernel keeps, or nullptr.
  std::shared_ptr<std::byte> find(const Identity &values, const Form &form);
  /// Registers a form. `isSecond`: the values stay as well, in memory of another owner.
  void keep(const Identity &values, Form form, const std::shared_ptr<std::byte> &made, bool isSecond);

  /// The weights of a program that another owner has, by address: they are counted once, however many programs use
  /// them, until the last of these releases the return value.
  std::shared_ptr<const void> enter(std::vector<std::span<const std::byte>> entered);
  /// Whether `bytes` more of weights of another owner may be kept. Up to 512 MiB of weights all of them have a second
  /// form; above that, a fifth, so that the parameters of a large model are not held twice. Products that pack theirs
  /// in each run take about a tenth longer.
  bool affords(size_t bytes);
  /// Records that a program reads values of such weights in place, as long as programs have the weights.
  void markInPlace(std::span<const std::byte> values);
  bool isInPlace(std::span<const std::byte> values);

private:
  struct Entry {
    std::weak_ptr<std::byte> form;
    size_t bytes = 0; // of the values, where it is a second form
  };
  class Lease;
  struct Weight {
    size_t programs = 0; // that have it
    bool isInPlace = false;
  };
  /// The weight that has the values, or nullptr.
  Weight *weightOf(std::span<const std::byte> values);
  void leave(const std::vector<std::span<const std::byte>> &left);
  void prune();

  ForkMutex mutex{3};
  std::map<std::pair<Identity, Form>, Entry> entries;
  size_t pruneAt = 256;                                           // entries
  std::map<std::pair<const std::byte *, size_t>, Weight> weights; // by address and size
  size_t weightBytes = 0, secondBytes = 0;
};

/// Values of one tensor, by shard. Values without an owner are in the binary or in memory of the caller.
using Shards = std::vector<std::shared_ptr<const std::byte>>;

/// The results of calls, by what is called and with which values. Programs own them: what the last one releases is
/// gone.
class CallResults {
public:
  struct Result {
    Shards values; // null where no program has them: kernels keep forms of their own, or another rank has the chip
    std::shared_ptr<const sim::Allocation> allocation; // on the device that asks; may be null
  };

  static CallResults &ofProcess();

  /// Returns the buffers and values of result `index` that programs have.
  Result find(const Identity &call, uint32_t index, const sim::MeshDevice &device);
  void keep(const Identity &call, uint32_t index, const sim::MeshDevice &device, const Result &result);

private:
  struct Entry {
    std::vector<std::weak_ptr<const std::byte>> values;
    std::map<uint32_t, std::weak_ptr<const sim::Allocation>> allocations; // by device
    bool isGone() const;
  };
  ForkMutex mutex{3};
  std::map<std::pair<Identity, uint32_t>, Entry> entries;
  size_t pruneAt = 256; // entries
};

} // namespace tt::runtime
