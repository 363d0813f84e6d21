//===- ranks.h - processes that share one mesh --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Several processes, started together by mpirun, simulate one mesh: each of them,
// a rank, has a contiguous range of its chips. All run the same program and make
// the same calls in the same order. What one has and another needs is exchanged
// between two of them at a time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tt::sim {

/// A contiguous range of chips; all of them unless told otherwise.
struct Chips {
  uint32_t first = 0, last = ~0u;
  bool has(size_t chip) const { return chip >= first && chip < last; }
  uint32_t count() const { return last - first; }
};

/// Carries bytes between the ranks. Errors of transport end all ranks with a message; they are not thrown, because the
/// others would wait.
class Ranks {
public:
  struct Send {
    uint32_t to;
    std::span<const std::byte> bytes;
  };
  struct Receive {
    uint32_t from;
    std::span<std::byte> bytes;
  };

  Ranks(uint32_t rank, uint32_t size) : number(rank), count(size) {}
  virtual ~Ranks() = default;
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  uint32_t rank() const { return number; }
  uint32_t size() const { return count; }

  /// Returns when everything was received and may be written again. Between two ranks, what is sent is received in the
  /// same order. All ranks call it, also with nothing to send; `what` names the call in messages and is the same on
  /// all.
  virtual void exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) = 0;
  /// Ends all ranks.
  [[noreturn]] virtual void abort(const std::string &message) = 0;

  //===- Combined exchanges; every rank calls them --------------------------===//

  /// Returns the value that each rank gave.
  std::vector<std::string> gather(std::string_view mine, std::string_view what);
  void barrier(std::string_view what) { (void)gather("", what); }
  bool all(bool mine, std::string_view what);
  /// Throws DeviceError on every rank, naming the rank, the field and both values, unless all gave the same value.
  void agree(std::string_view field, std::string_view value);

private:
  const uint32_t number, count;
};

/// The assignment of a mesh's chips to ranks.
class Partition {
public:
  Partition(std::shared_ptr<Ranks> ranks, uint32_t chips) : world(std::move(ranks)), chips(chips) {}
  Ranks &ranks() const { return *world; }
  Chips of(uint32_t rank) const {
    return {static_cast<uint32_t>(uint64_t(chips) * rank / world->size()),
            static_cast<uint32_t>(uint64_t(chips) * (rank + 1) / world->size())};
  }
  Chips own() const { return of(world->rank()); }
  uint32_t owner(uint32_t chip) const;
  /// Fills in the values of chips of other ranks: `shards` has a place for every chip. Every rank calls it.
  void gather(std::span<std::byte *const> shards, size_t bytes, std::string_view what) const;

private:
  std::shared_ptr<Ranks> world;
  uint32_t chips;
};

/// The ranks that mpirun started this process with, nullptr when there are no others. Throws DeviceError that says what
/// to install when the library that talks to them is missing.
std::shared_ptr<Ranks> worldRanks();

/// The entry of the library of a transport, under the name of ranksEntry. Returns ranks that exist until the process
/// ends, or nullptr when the process is alone. `version` is compared with the library's own. Throws Error.
using OpenRanks = Ranks *(const char *version);
inline constexpr const char *ranksEntry = "ttrtOpenRanks";
/// Changes whenever this header does.
inline constexpr const char *ranksVersion = "1";

/// The runtime's version and the hash of the library's file: two builds differ.
const std::string &runtimeBuild();

} // namespace tt::sim
