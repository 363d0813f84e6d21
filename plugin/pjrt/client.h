//===- client.h - the simulated mesh as a client of PJRT ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Every chip of the mesh is a device with its own memory, "device", and two memories of the host, "pinned_host" and
// "unpinned_host".
//
//===----------------------------------------------------------------------===//
#pragma once

#include "common.h"
#include "processes/processes.h"
#include "tt/runtime/run.h"

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

/// Most are ready when they are created: the simulator computes in the calling thread.
struct PJRT_Event {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = true;
  PJRT_Error error{PJRT_Error_Code_OK, ""};
  std::vector<std::pair<PJRT_Event_OnReadyCallback, void *>> callbacks;
};

struct PJRT_DeviceDescription {
  int id = 0;
  int process = 0;
  std::string kind, debug, text;
  std::string arch;
  std::vector<int64_t> coordinates;
  std::vector<PJRT_NamedValue> attributes;
};

namespace tt::pjrt {
enum class MemoryKind : uint8_t { Device, PinnedHost, UnpinnedHost };
inline constexpr std::array<std::string_view, 3> memoryKindNames = {"device", "pinned_host", "unpinned_host"};
inline std::string_view nameOf(MemoryKind kind) { return memoryKindNames[static_cast<size_t>(kind)]; }
} // namespace tt::pjrt

struct PJRT_Memory {
  int id = 0;
  tt::pjrt::MemoryKind kind = tt::pjrt::MemoryKind::Device;
  std::string debug;
  PJRT_Device *device = nullptr;
  bool onHost() const { return kind != tt::pjrt::MemoryKind::Device; }
};

struct PJRT_Device {
  PJRT_Client *client = nullptr;
  PJRT_DeviceDescription *description = nullptr;
  std::array<PJRT_Memory, tt::pjrt::memoryKindNames.size()> memories; // by kind
  std::array<PJRT_Memory *, tt::pjrt::memoryKindNames.size()> pointers{};
  PJRT_Memory &memory(tt::pjrt::MemoryKind kind = tt::pjrt::MemoryKind::Device) {
    return memories[static_cast<size_t>(kind)];
  }
  std::mutex mutex;
  tt::runtime::Device opened;
  /// The chip, opened when it is first used.
  const tt::runtime::Device &chip();
};

struct PJRT_TopologyDescription {
  tt::sim::MeshOptions mesh;
  uint32_t process = 0, processes = 1; // of jax.distributed
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> descriptions;
  std::vector<PJRT_DeviceDescription *> pointers;
};

struct PJRT_Client {
  std::unique_ptr<PJRT_TopologyDescription> topology;
  std::unique_ptr<tt::pjrt::Processes> processes; // null if there is one
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device *> pointers, addressable; // of all processes, of this one
  std::vector<PJRT_Memory *> memories;              // of this process
  /// The chips as a mesh of rows and columns, opened when a program first needs it. Its chips are shared out among the
  /// `members`, processes in this order, which all call it.
  const tt::runtime::Device &mesh(uint32_t rows, uint32_t columns, const std::vector<uint32_t> &members = {});
  bool isAddressable(const PJRT_Device &device) const {
    return device.description->process == static_cast<int>(topology->process);
  }

private:
  std::mutex mutex;
  std::map<std::tuple<uint32_t, uint32_t, std::vector<uint32_t>>, tt::runtime::Device> meshes;
};

namespace tt::pjrt {

inline constexpr std::string_view platformName = "tt";
/// Returns the version of the plugin and of its libraries: caches of compiled programs are valid for one version.
const std::string &platformVersion();

inline PJRT_Event *readyEvent() { return new PJRT_Event; }

/// Gives a pointer and a size out.
inline void give(std::string_view text, const char *&to, size_t &size) { to = text.data(), size = text.size(); }

/// Throws PluginError when there is no such device.
PJRT_Device &deviceById(const PJRT_Client &client, int64_t id);
/// Throws PluginError for a device of another process; `what` is for it.
void requireAddressable(const PJRT_Device &device, const std::string &what);

} // namespace tt::pjrt
