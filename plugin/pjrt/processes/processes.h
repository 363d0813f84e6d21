//===- processes.h - the processes of jax.distributed ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each process has a contiguous range of the mesh's chips. The processes find each other through JAX's key-value store
// when their clients are created, and are connected in pairs by TCP. While a program runs that spans several of them,
// they are the ranks of its mesh.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "common.h"

#include "tt/sim/ranks.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tt::pjrt {

/// The functions of JAX's key-value store, which all processes share.
struct KeyValueStore {
  PJRT_KeyValueGetCallback get = nullptr;
  void *getArgument = nullptr;
  PJRT_KeyValuePutCallback put = nullptr;
  void *putArgument = nullptr;
};

/// A program that runs on the chips of several processes. Errors name it.
struct Spanning {
  std::string name, fingerprint;
};

class Processes {
public:
  /// Connects this process to the others, and waits for them. Throws PluginError that names a process that does not
  /// come, or whose `settings` differ.
  static std::unique_ptr<Processes> join(uint32_t index, uint32_t count, const std::string &settings,
                                         const KeyValueStore &store);
  virtual ~Processes() = default;

  virtual uint32_t index() const = 0;
  /// Returns some of the processes, this one among them, as ranks in this order; nullptr for this process alone. The
  /// ranks throw DeviceError, where others end the process, and must not outlive this object.
  virtual std::shared_ptr<sim::Ranks> ranks(const std::vector<uint32_t> &members) = 0;

  /// Held while a program runs that spans processes: they run such programs one after another, in the same order. If
  /// the program fails here, `failed` notifies the other processes, which then fail, too.
  class Run {
  public:
    Run(Processes &processes, Spanning program) : processes(processes), lock(processes.mutex) {
      before = std::exchange(processes.running, std::move(program));
    }
    ~Run() { processes.running = std::move(before); }
    Run(const Run &) = delete;
    void failed(const std::string &message) { processes.fail(message); }

  private:
    Processes &processes;
    std::lock_guard<std::recursive_mutex> lock; // a function of the host may run another program
    std::optional<Spanning> before;
  };

protected:
  std::optional<Spanning> running;

private:
  virtual void fail(const std::string &message) = 0;
  std::recursive_mutex mutex;
};

} // namespace tt::pjrt
