//===- client.cpp - client, devices, memories and events ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "client.h"
#include "functions.h"
#include "tt/runtime/runtime.h"
#include "tt/sim/published.h"
#include "tt/sim/ranks.h"

#include <cstdlib>
#include <optional>

using namespace tt;
using namespace tt::pjrt;

/// Opens a mesh without the ranks of mpirun: processes of JAX make calls of their own.
static runtime::Device open(const sim::MeshOptions &options, std::shared_ptr<sim::Ranks> ranks) {
  runtime::Device device = sim::MeshDevice::open(options, std::move(ranks));
  sim::publish(*device);
  return device;
}

const runtime::Device &PJRT_Device::chip() {
  std::lock_guard lock(mutex);
  if (!opened) {
    sim::MeshOptions options;
    options.arch = client->topology->mesh.arch;
    opened = open(options, nullptr);
  }
  return opened;
}

const runtime::Device &PJRT_Client::mesh(uint32_t rows, uint32_t columns, const std::vector<uint32_t> &members) {
  std::lock_guard lock(mutex);
  runtime::Device &opened = meshes[{rows, columns, members}];
  if (!opened) {
    sim::MeshOptions options;
    options.arch = topology->mesh.arch;
    options.rows = rows, options.columns = columns;
    opened = open(options, members.empty() ? nullptr : processes->ranks(members));
  }
  return opened;
}

namespace tt::pjrt {

const std::string &platformVersion() {
  static const std::string version = std::string("ttmlir ") + TTMLIR_VERSION + ", PJRT API " + apiVersion();
  return version;
}

PJRT_Device &deviceById(const PJRT_Client &client, int64_t id) {
  if (id < 0 || static_cast<size_t>(id) >= client.devices.size())
    invalid("there is no device " + std::to_string(id) + "; the mesh has " + std::to_string(client.devices.size()) +
            " chips");
  return *client.devices[id];
}

void requireAddressable(const PJRT_Device &device, const std::string &what) {
  if (!device.client->isAddressable(device))
    invalid(what + " is for " + device.description->debug + " of process " +
            std::to_string(device.description->process) + ", and this is process " +
            std::to_string(device.client->topology->process));
}

namespace {

//===- The mesh that is simulated -----------------------------------------===//

struct Requested {
  std::string value, where;
};

/// "2x4", "2,4" or "[2, 4]"
std::optional<std::pair<uint32_t, uint32_t>> parseShape(std::string_view text) {
  std::vector<uint32_t> numbers;
  bool inNumber = false;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      if (!inNumber)
        numbers.push_back(0);
      if (numbers.back() > sim::maxChips)
        return std::nullopt;
      numbers.back() = numbers.back() * 10 + static_cast<uint32_t>(c - '0');
    } else if (std::string_view("x,[]() ").find(c) == std::string_view::npos)
      return std::nullopt;
    inNumber = c >= '0' && c <= '9';
  }
  if (numbers.size() != 2)
    return std::nullopt;
  return std::pair(numbers[0], numbers[1]);
}

Requested option(std::span<const PJRT_NamedValue> given, std::string_view name, const char *variable) {
  for (const PJRT_NamedValue &row : given) {
    if (std::string_view(row.name, row.name_size) != name)
      continue;
    const std::string where = "option " + std::string(name);
    if (row.type == PJRT_NamedValue_kString)
      return {std::string(row.string_value, row.value_size), where};
    if (row.type == PJRT_NamedValue_kInt64List) {
      std::string text;
      for (size_t i = 0; i < row.value_size; ++i)
        text += (i ? "x" : "") + std::to_string(row.int64_array_value[i]);
      return {text, where};
    }
    invalid(where + " is neither text nor a list of integers");
  }
  const char *set = std::getenv(variable);
  return {set ? set : "", std::string("environment variable ") + variable};
}

/// Reads the process and the number of processes, which jax.distributed adds.
std::pair<uint32_t, uint32_t> processesOf(std::span<const PJRT_NamedValue> given) {
  int64_t process = 0, processes = 1;
  for (const PJRT_NamedValue &row : given) {
    const std::string_view name(row.name, row.name_size);
    if (name == "node_id" || name == "num_nodes") {
      if (row.type != PJRT_NamedValue_kInt64)
        invalid("option " + std::string(name) + " is no integer");
      (name == "node_id" ? process : processes) = row.int64_value;
    } else if (name != "mesh" && name != "arch")
      invalid("option " + std::string(name) + " is not known; known: arch, mesh, node_id, num_nodes");
  }
  if (processes < 1 || processes > sim::maxChips || process < 0 || process >= processes)
    invalid("jax.distributed has process " + std::to_string(process) + " of " + std::to_string(processes) +
            "; expected one below the number of processes, and 1 to " + std::to_string(sim::maxChips) + " processes");
  return {static_cast<uint32_t>(process), static_cast<uint32_t>(processes)};
}

sim::MeshOptions meshOf(std::span<const PJRT_NamedValue> given, uint32_t processes) {
  sim::MeshOptions mesh;
  mesh.columns = processes; // one chip for each, unless told otherwise
  const Requested shape = option(given, "mesh", "TTMLIR_MESH"), arch = option(given, "arch", "TTMLIR_ARCH");
  try {
    if (!shape.value.empty()) {
      if (const auto size = parseShape(shape.value))
        mesh.rows = size->first, mesh.columns = size->second;
      else
        mesh = sim::meshOptions(shape.value);
    }
  } catch (const Error &error) {
    invalid(shape.where + " is '" + shape.value + "'; expected rows and columns as in 2x4, or a name: " + error.what());
  }
  try {
    if (!arch.value.empty())
      mesh.arch = sim::parseArch(arch.value);
  } catch (const Error &error) {
    invalid(arch.where + ": " + error.what());
  }
  const uint64_t chips = uint64_t(mesh.rows) * mesh.columns;
  if (!chips || chips > sim::maxChips)
    invalid(shape.where + " is '" + shape.value + "': a mesh has 1 to " + std::to_string(sim::maxChips) + " chips");
  if (chips < processes || chips % processes != 0)
    invalid(shape.where + " is '" + shape.value + "': " + std::to_string(chips) + " chips for the " +
            std::to_string(processes) +
            " processes of jax.distributed; expected one for each at least, and as many for each");
  return mesh;
}

PJRT_NamedValue named(std::string_view name) {
  PJRT_NamedValue value{};
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name.data(), value.name_size = name.size();
  return value;
}

/// Each process has a contiguous range of the chips.
uint32_t processOf(uint32_t chip, uint32_t chips, uint32_t processes) { return chip / (chips / processes); }

std::unique_ptr<PJRT_TopologyDescription> topologyOf(std::span<const PJRT_NamedValue> given) {
  auto topology = std::make_unique<PJRT_TopologyDescription>();
  std::tie(topology->process, topology->processes) = processesOf(given);
  topology->mesh = meshOf(given, topology->processes);
  const uint32_t chips = topology->mesh.rows * topology->mesh.columns;
  const std::string arch(toString(topology->mesh.arch));
  const int64_t columns = topology->mesh.columns;
  for (int64_t i = 0; i < topology->mesh.rows * columns; ++i) {
    auto &made = topology->descriptions.emplace_back(std::make_unique<PJRT_DeviceDescription>());
    made->id = static_cast<int>(i);
    made->process = static_cast<int>(processOf(static_cast<uint32_t>(i), chips, topology->processes));
    made->kind = made->arch = arch;
    made->coordinates = {i / columns, i % columns};
    made->text = "TtDevice(id=" + std::to_string(i) +
                 (topology->processes > 1 ? ", process_index=" + std::to_string(made->process) : "") + ")";
    made->debug = "tt:" + std::to_string(i) + " (simulated " + arch + ", row " + std::to_string(i / columns) +
                  ", column " + std::to_string(i % columns) + ")";
    PJRT_NamedValue coordinates = named("coords"), name = named("arch");
    coordinates.type = PJRT_NamedValue_kInt64List;
    coordinates.int64_array_value = made->coordinates.data(), coordinates.value_size = 2;
    name.type = PJRT_NamedValue_kString;
    name.string_value = made->arch.data(), name.value_size = made->arch.size();
    made->attributes = {coordinates, name};
    topology->pointers.push_back(made.get());
  }
  return topology;
}

} // namespace

//===- Events -------------------------------------------------------------===//

namespace {
PJRT_Error *errorOf(const PJRT_Event &event) {
  return event.error.code == PJRT_Error_Code_OK ? nullptr : new PJRT_Error(event.error);
}
void throwErrorOf(const PJRT_Event &event) {
  if (event.error.code != PJRT_Error_Code_OK)
    throw PluginError(event.error.code, event.error.message);
}
} // namespace

void eventDestroy(PJRT_Event_Destroy_Args &args) { delete args.event; }

void eventIsReady(PJRT_Event_IsReady_Args &args) {
  std::lock_guard lock(args.event->mutex);
  args.is_ready = args.event->ready;
}

void eventError(PJRT_Event_Error_Args &args) {
  std::lock_guard lock(args.event->mutex);
  throwErrorOf(*args.event);
}

void eventAwait(PJRT_Event_Await_Args &args) {
  std::unique_lock lock(args.event->mutex);
  args.event->changed.wait(lock, [&] { return args.event->ready; });
  throwErrorOf(*args.event);
}

void eventOnReady(PJRT_Event_OnReady_Args &args) {
  {
    std::lock_guard lock(args.event->mutex);
    if (!args.event->ready) {
      args.event->callbacks.emplace_back(args.callback, args.user_arg);
      return;
    }
  }
  args.callback(errorOf(*args.event), args.user_arg);
}

void eventCreate(PJRT_Event_Create_Args &args) {
  args.event = new PJRT_Event;
  args.event->ready = false;
}

void eventSet(PJRT_Event_Set_Args &args) {
  decltype(PJRT_Event::callbacks) callbacks;
  {
    std::lock_guard lock(args.event->mutex);
    if (args.event->ready)
      throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION, "PJRT_Event_Set: the event is set already");
    args.event->ready = true;
    args.event->error = {args.error_code, std::string(args.error_message ? args.error_message : "",
                                                      args.error_message ? args.error_message_size : 0)};
    callbacks.swap(args.event->callbacks);
    args.event->changed.notify_all();
  }
  for (auto [callback, argument] : callbacks)
    callback(errorOf(*args.event), argument);
}

//===- Client -------------------------------------------------------------===//

void clientCreate(PJRT_Client_Create_Args &args) {
  auto client = std::make_unique<PJRT_Client>();
  client->topology = topologyOf({args.create_options, args.num_options});
  PJRT_TopologyDescription &topology = *client->topology;
  if (topology.processes > 1) {
    const sim::MeshOptions &mesh = topology.mesh;
    const std::string settings = "mesh " + std::to_string(mesh.rows) + "x" + std::to_string(mesh.columns) + " of " +
                                 std::string(toString(mesh.arch)) + ", " + std::to_string(topology.processes) +
                                 " processes, " + platformVersion();
    client->processes =
        Processes::join(topology.process, topology.processes, settings,
                        {args.kv_get_callback, args.kv_get_user_arg, args.kv_put_callback, args.kv_put_user_arg});
  } else if (const auto ranks = sim::worldRanks())
    unimplemented("mpirun started " + std::to_string(ranks->size()) +
                  " processes, and JAX knows of one; call jax.distributed.initialize() before other functions of JAX");
  for (PJRT_DeviceDescription *description : client->topology->pointers) {
    auto &device = client->devices.emplace_back(std::make_unique<PJRT_Device>());
    device->client = client.get();
    device->description = description;
    for (size_t kind = 0; kind < device->memories.size(); ++kind) {
      PJRT_Memory &memory = device->memories[kind];
      memory.id = description->id + static_cast<int>(kind * client->topology->pointers.size());
      memory.kind = static_cast<MemoryKind>(kind);
      memory.device = device.get();
      memory.debug = std::string(nameOf(memory.kind)) + " memory of " + description->debug;
      device->pointers[kind] = &memory;
      if (client->isAddressable(*device))
        client->memories.push_back(&memory);
    }
    client->pointers.push_back(device.get());
    if (client->isAddressable(*device))
      client->addressable.push_back(device.get());
  }
  args.client = client.release();
}

void clientDestroy(PJRT_Client_Destroy_Args &args) { delete args.client; }

void clientPlatformName(PJRT_Client_PlatformName_Args &args) {
  give(platformName, args.platform_name, args.platform_name_size);
}

void clientProcessIndex(PJRT_Client_ProcessIndex_Args &args) {
  args.process_index = static_cast<int>(args.client->topology->process);
}

void clientPlatformVersion(PJRT_Client_PlatformVersion_Args &args) {
  give(platformVersion(), args.platform_version, args.platform_version_size);
}

void clientTopology(PJRT_Client_TopologyDescription_Args &args) { args.topology = args.client->topology.get(); }

void clientDevices(PJRT_Client_Devices_Args &args) {
  args.devices = args.client->pointers.data(), args.num_devices = args.client->pointers.size();
}

void clientAddressableDevices(PJRT_Client_AddressableDevices_Args &args) {
  args.addressable_devices = args.client->addressable.data();
  args.num_addressable_devices = args.client->addressable.size();
}

void clientLookupDevice(PJRT_Client_LookupDevice_Args &args) { args.device = &deviceById(*args.client, args.id); }

void clientLookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args &args) {
  const std::vector<PJRT_Device *> &own = args.client->addressable;
  if (args.local_hardware_id < 0 || static_cast<size_t>(args.local_hardware_id) >= own.size())
    invalid("there is no device " + std::to_string(args.local_hardware_id) + " of this process, which has " +
            std::to_string(own.size()));
  args.addressable_device = own[static_cast<size_t>(args.local_hardware_id)];
}

void clientAddressableMemories(PJRT_Client_AddressableMemories_Args &args) {
  args.addressable_memories = args.client->memories.data();
  args.num_addressable_memories = args.client->memories.size();
}

void clientUpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args &) {}

void clientDefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args &args) {
  const size_t expected = static_cast<size_t>(args.num_replicas) * static_cast<size_t>(args.num_partitions);
  if (args.num_replicas < 1 || args.num_partitions < 1 || expected > args.client->devices.size())
    invalid("a program of " + std::to_string(args.num_replicas) + " replicas and " +
            std::to_string(args.num_partitions) + " partitions does not fit a mesh of " +
            std::to_string(args.client->devices.size()) + " chips");
  if (args.default_assignment_size < expected)
    invalid("the device assignment has room for " + std::to_string(args.default_assignment_size) + " of " +
            std::to_string(expected) + " devices");
  // Chips of this process where they suffice.
  const std::vector<PJRT_Device *> &own = args.client->addressable;
  const std::vector<PJRT_Device *> &from = expected <= own.size() ? own : args.client->pointers;
  for (size_t i = 0; i < expected; ++i)
    args.default_assignment[i] = from[i]->description->id;
}

//===- Devices and memories -----------------------------------------------===//

void descriptionId(PJRT_DeviceDescription_Id_Args &args) { args.id = args.device_description->id; }
void descriptionProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args &args) {
  args.process_index = args.device_description->process;
}
void descriptionAttributes(PJRT_DeviceDescription_Attributes_Args &args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
}
void descriptionKind(PJRT_DeviceDescription_Kind_Args &args) {
  give(args.device_description->kind, args.device_kind, args.device_kind_size);
}
void descriptionDebugString(PJRT_DeviceDescription_DebugString_Args &args) {
  give(args.device_description->debug, args.debug_string, args.debug_string_size);
}
void descriptionToString(PJRT_DeviceDescription_ToString_Args &args) {
  give(args.device_description->text, args.to_string, args.to_string_size);
}
void deviceGetDescription(PJRT_Device_GetDescription_Args &args) { args.device_description = args.device->description; }
void deviceIsAddressable(PJRT_Device_IsAddressable_Args &args) {
  args.is_addressable = args.device->client->isAddressable(*args.device);
}
void deviceLocalHardwareId(PJRT_Device_LocalHardwareId_Args &args) {
  const std::vector<PJRT_Device *> &own = args.device->client->addressable;
  const auto found = std::ranges::find(own, args.device);
  args.local_hardware_id = found == own.end() ? -1 : static_cast<int>(found - own.begin());
}
void deviceAddressableMemories(PJRT_Device_AddressableMemories_Args &args) {
  args.memories = args.device->pointers.data(), args.num_memories = args.device->pointers.size();
}
void deviceDefaultMemory(PJRT_Device_DefaultMemory_Args &args) { args.memory = &args.device->memory(); }

void deviceMemoryStats(PJRT_Device_MemoryStats_Args &args) {
  requireAddressable(*args.device, "the request for statistics of memory");
  const sim::MemoryView view = args.device->chip()->memoryView(sim::Memory::DRAM);
  args.bytes_in_use = view.allocated * view.banks;
  args.peak_bytes_in_use = view.peak * view.banks;
  args.num_allocs = static_cast<int64_t>(view.blocks.size());
  args.bytes_limit = view.total * view.banks;
  args.largest_free_block_bytes = view.largestFree * view.banks;
  args.peak_bytes_in_use_is_set = args.num_allocs_is_set = args.bytes_limit_is_set = true;
  args.largest_free_block_bytes_is_set = true;
  args.largest_alloc_size_is_set = args.bytes_reserved_is_set = args.peak_bytes_reserved_is_set = false;
  args.bytes_reservable_limit_is_set = args.pool_bytes_is_set = args.peak_pool_bytes_is_set = false;
}

void memoryId(PJRT_Memory_Id_Args &args) { args.id = args.memory->id; }
void memoryKind(PJRT_Memory_Kind_Args &args) { give(nameOf(args.memory->kind), args.kind, args.kind_size); }
void memoryKindId(PJRT_Memory_Kind_Id_Args &args) { args.kind_id = static_cast<int>(args.memory->kind); }
void memoryDebugString(PJRT_Memory_DebugString_Args &args) {
  give(args.memory->debug, args.debug_string, args.debug_string_size);
}
void memoryToString(PJRT_Memory_ToString_Args &args) { give(args.memory->debug, args.to_string, args.to_string_size); }
void memoryAddressableByDevices(PJRT_Memory_AddressableByDevices_Args &args) {
  args.devices = &args.memory->device, args.num_devices = 1;
}

//===- Topology -----------------------------------------------------------===//

void topologyCreate(PJRT_TopologyDescription_Create_Args &args) {
  args.topology = topologyOf({args.create_options, args.num_options}).release();
}
void topologyDestroy(PJRT_TopologyDescription_Destroy_Args &args) { delete args.topology; }
void topologyPlatformName(PJRT_TopologyDescription_PlatformName_Args &args) {
  give(platformName, args.platform_name, args.platform_name_size);
}
void topologyPlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args &args) {
  give(platformVersion(), args.platform_version, args.platform_version_size);
}
void topologyDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args &args) {
  args.descriptions = args.topology->pointers.data(), args.num_descriptions = args.topology->pointers.size();
}
void topologyAttributes(PJRT_TopologyDescription_Attributes_Args &args) {
  args.attributes = nullptr, args.num_attributes = 0;
}

} // namespace tt::pjrt
