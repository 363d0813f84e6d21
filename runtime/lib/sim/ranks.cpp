//===- ranks.cpp - processes that share one mesh --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/ranks.h"
#include "tt/types.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace tt::sim {

//===- Combined exchanges -------------------------------------------------===//

std::vector<std::string> Ranks::gather(std::string_view mine, std::string_view what) {
  std::vector<uint64_t> lengths(count, mine.size());
  std::vector<Send> sends;
  std::vector<Receive> receives;
  const auto others = [&](auto f) {
    for (uint32_t other = 0; other < count; ++other)
      if (other != number)
        f(other);
  };
  others([&](uint32_t other) {
    sends.push_back({other, std::as_bytes(std::span(&lengths[number], 1))});
    receives.push_back({other, std::as_writable_bytes(std::span(&lengths[other], 1))});
  });
  exchange(sends, receives, what);
  sends.clear();
  receives.clear();
  std::vector<std::string> result(count, std::string(mine));
  others([&](uint32_t other) {
    result[other].resize(lengths[other]);
    if (!mine.empty())
      sends.push_back({other, std::as_bytes(std::span(mine))});
    if (lengths[other])
      receives.push_back({other, std::as_writable_bytes(std::span(result[other]))});
  });
  exchange(sends, receives, what);
  return result;
}

bool Ranks::all(bool mine, std::string_view what) {
  for (const std::string &other : gather(mine ? "1" : "0", what))
    if (other != "1")
      return false;
  return true;
}

void Ranks::agree(std::string_view field, std::string_view value) {
  const std::vector<std::string> values = gather(value, field);
  for (uint32_t rank = 1; rank < count; ++rank)
    if (values[rank] != values[0])
      throw DeviceError("rank " + std::to_string(rank) + " of " + std::to_string(count) + ": " + std::string(field) +
                        " is " + values[rank] + "; expected " + values[0] + ", as on rank 0");
}

uint32_t Partition::owner(uint32_t chip) const {
  uint32_t rank = 0;
  while (!of(rank).has(chip))
    ++rank;
  return rank;
}

void Partition::gather(std::span<std::byte *const> shards, size_t bytes, std::string_view what) const {
  std::vector<Ranks::Send> sends;
  std::vector<Ranks::Receive> receives;
  const Chips mine = own();
  for (uint32_t rank = 0; rank < world->size() && bytes; ++rank) {
    if (rank == world->rank())
      continue;
    for (uint32_t chip = mine.first; chip < mine.last; ++chip)
      sends.push_back({rank, {shards[chip], bytes}});
    const Chips theirs = of(rank);
    for (uint32_t chip = theirs.first; chip < theirs.last; ++chip)
      receives.push_back({rank, {shards[chip], bytes}});
  }
  world->exchange(sends, receives, what);
}

//===- The ranks of this process ------------------------------------------===//

namespace {

/// The file that this code was loaded from.
std::string ownFile() {
  Dl_info info;
  static const int here = 0;
  if (!dladdr(&here, &info) || !info.dli_fname)
    return "";
  std::error_code none;
  const auto path = std::filesystem::canonical(info.dli_fname, none); // there may be links to it elsewhere
  return none ? info.dli_fname : path.string();
}

/// The variables in which launchers state how many processes they started: OpenMPI, and PMI of MPICH and Slurm.
uint32_t launchedProcesses() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *text = std::getenv(name))
      return static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  return 1;
}

std::shared_ptr<Ranks> openRanks() {
  const uint32_t processes = launchedProcesses();
  if (processes < 2)
    return nullptr;
  const std::string own = ownFile();
  const std::string path = own.substr(0, own.rfind('/') + 1) + "libttrt_mpi.so";
  const std::string context = "this process is one of " + std::to_string(processes) + " that share a mesh over MPI";
  // Plugins of MPI search for its symbols among those of the process.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *why = dlerror();
    throw DeviceError(context + ", but " + path + " cannot be loaded (" + (why ? why : "unknown error") +
                      "); install OpenMPI (apt-get install openmpi-bin libopenmpi-dev) and build again");
  }
  auto *const open = reinterpret_cast<OpenRanks *>(dlsym(library, ranksEntry));
  if (!open)
    throw DeviceError(context + ", but " + path + " has no " + ranksEntry + "; it is not of this runtime");
  return {std::shared_ptr<void>(), open(ranksVersion)};
}

} // namespace

std::shared_ptr<Ranks> worldRanks() {
  // One for the process, never destroyed: threads may still use it at exit.
  static std::mutex mutex;
  static auto *known = new std::shared_ptr<Ranks>;
  static bool isOpen = false;
  std::lock_guard lock(mutex);
  if (!isOpen) {
    *known = openRanks();
    isOpen = true;
  }
  return *known;
}

const std::string &runtimeBuild() {
  static const auto *text = new std::string([] {
    std::ifstream file(ownFile(), std::ios::binary);
    std::array<char, size_t(1) << 16> block;
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over words
    while (file.read(block.data(), block.size()) || file.gcount() > 0) {
      const auto bytes = static_cast<size_t>(file.gcount());
      std::memset(block.data() + bytes, 0, block.size() - bytes);
      for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, block.data() + at, sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
      }
      hash = (hash ^ bytes) * 0x100000001b3u;
    }
    char build[32];
    std::snprintf(build, sizeof build, "%016llx", static_cast<unsigned long long>(hash));
    return std::string(TTRT_VERSION) + ", build " + build;
  }());
  return *text;
}

} // namespace tt::sim
