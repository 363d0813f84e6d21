//===- host_call.cpp - functions of the host of emitted programs ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttnn/host_call.hpp"

#include "core/native_code.h"
#include "tt/interrupt.h"
#include "tt/sim/published.h"
#include "tt/ttnn/trace.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

namespace tt::ttnn {
namespace {

constexpr const char *action = "ttnn.host_call";

struct Library {
  std::filesystem::file_time_type time;
  uintmax_t size = 0;
  uint64_t hash = 0;
};

std::vector<std::byte> contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes;
  std::array<char, 1 << 16> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    const auto *data = reinterpret_cast<const std::byte *>(part.data());
    bytes.insert(bytes.end(), data, data + file.gcount());
  }
  if (bytes.empty())
    throw Error(std::string(action) + ": library: \"" + path + "\" cannot be read");
  return bytes;
}

/// The hash by which the process knows a library; it is read when the library is new, or has changed.
uint64_t hashOf(const std::string &path) {
  static std::mutex mutex;
  static std::map<std::string, Library> known;
  std::error_code failed;
  Library library{std::filesystem::last_write_time(path, failed), 0, 0};
  if (!failed)
    library.size = std::filesystem::file_size(path, failed);
  if (failed)
    throw Error(std::string(action) + ": library: \"" + path + "\" cannot be read: " + failed.message());
  std::lock_guard lock(mutex);
  const auto found = known.find(path);
  if (found != known.end() && found->second.time == library.time && found->second.size == library.size)
    return found->second.hash;
  const std::vector<std::byte> code = contentsOf(path);
  library.hash = target::hashOfCode(code.data(), code.size());
  addNativeCode(library.hash, code, std::string(nativeMachine()));
  // It belongs to the running program.
  allowNativeCode(library.hash);
  known[path] = library;
  return library.hash;
}

std::string nameOf(uint64_t hash, const std::string &function) {
  std::array<char, 16> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), hash, 16).ptr;
  return "native:" + std::string(text.data(), end) + ":" + function;
}

/// The addresses of the tensors of a call.
struct Place {
  Device device;
  size_t shards = 1;
  std::vector<uint32_t> meshShape;
  std::shared_ptr<const sim::Partition> partition;
};

Place placeOf(const std::vector<Tensor> &tensors, const Device &device) {
  Place place{device, 1, {}, nullptr};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = tensors[i];
    if (!tensor)
      throw Error(std::string(action) + ": tensors[" + std::to_string(i) + "] is missing");
    tensor.requireAllocated(action);
    if (tensor.isOnDevice()) {
      if (place.device && place.device != tensor.device())
        throw DeviceError(std::string(action) + ": tensors lie on devices " + std::to_string(place.device->id()) +
                          " and " + std::to_string(tensor.device()->id()));
      place.device = tensor.device();
    }
    if (tensor.shards() == 1)
      continue;
    if (place.shards > 1 && place.shards != tensor.shards())
      throw Error(std::string(action) + ": tensors of " + std::to_string(place.shards) + " and " +
                  std::to_string(tensor.shards()) + " shards");
    place.shards = tensor.shards();
    place.meshShape = tensor.meshShape();
    place.partition = tensor.description()->partition;
  }
  if (place.device) {
    place.device->requireOpen(action);
    if (place.shards > 1 && place.shards != place.device->devices())
      throw Error(std::string(action) + ": tensors of " + std::to_string(place.shards) + " shards, for a device of " +
                  std::to_string(place.device->devices()) + " chips");
  }
  return place;
}

Tensor created(const HostResult &result, const Place &place, size_t index) {
  TensorSpec spec;
  spec.shape.assign(result.shape.begin(), result.shape.end());
  spec.dtype = result.dtype;
  spec.layout = result.layout;
  spec.memory = result.memory_config;
  spec.distributed = place.shards > 1;
  if (spec.memory.buffer == BufferType::SystemMemory)
    return Tensor::onHost(std::move(spec), place.meshShape, place.partition);
  if (!place.device)
    throw DeviceError(std::string(action) + ": results[" + std::to_string(index) +
                      "] lies on a device, and no device was given");
  return Tensor::onDevice(std::move(spec), place.device, "result of " + std::string(action));
}

void runOnShards(const NativeFunction &called, const std::vector<Tensor> &tensors, const std::vector<Tensor> &outs,
                 const Place &place) {
  std::optional<sim::Busy> busy;
  if (place.device)
    busy.emplace(*place.device);
  for (size_t shard = 0; shard < place.shards; ++shard) {
    std::vector<void *> values;
    const auto has = [&](const Tensor &tensor) { return tensor.shards() == 1 || tensor.has(shard); };
    if (!std::ranges::all_of(tensors, has))
      continue; // of another rank
    for (const auto *list : {&tensors, static_cast<const std::vector<Tensor> *>(&outs)})
      for (const Tensor &tensor : *list)
        values.push_back(tensor.data(tensor.shards() == 1 ? 0 : shard));
    called(values.data());
  }
}

} // namespace

void detail::checkHostResults(size_t count, size_t given) {
  if (count != given)
    throw Error(std::string(action) + ": results describes " + std::to_string(given) + " tensors; expected " +
                std::to_string(count));
}

std::vector<Tensor> detail::hostCall(const std::string &library, const std::string &function,
                                     const std::vector<Tensor> &tensors, const std::vector<HostResult> &results,
                                     const Device &device) {
  checkInterrupt();
  const Place place = placeOf(tensors, device);
  std::vector<Tensor> outs;
  std::vector<uint64_t> bytes;
  for (const Tensor &tensor : tensors)
    bytes.push_back(tensor.bytes());
  for (const HostResult &result : results) {
    outs.push_back(created(result, place, outs.size()));
    bytes.push_back(outs.back().bytes());
  }
  const NativeFunction called = nativeFunction(nameOf(hashOf(library), function), bytes);
  runOnShards(called, tensors, outs, place);
  Trace::record(place.device, [=] {
    const std::vector<Tensor> again = hostCall(library, function, tensors, results, device);
    for (size_t i = 0; i < again.size(); ++i)
      copyValues(again[i], outs[i], "host_call");
  });
  return outs;
}

} // namespace tt::ttnn
