//===- Device.cpp - simulated devices for Python --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "tt/ttnn/call.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include <array>

namespace tt::python {
namespace {

using sim::MeshDevice;

/// The options that Python sets before it opens a device. Some affect hardware only and are stored unchanged.
struct Options {
  std::vector<uint32_t> meshOffset = {0, 0};
  std::vector<int> deviceIds;
  size_t commandQueues = 1;
  bool programCache = true;
  std::optional<std::vector<uint32_t>> meshShape;
  std::optional<int64_t> l1SmallSize, traceRegionSize;
  nb::object dispatchCoreType = nb::none();
  std::string arch = "wormhole_b0";
  bool exact = false, strict = false, libraryMemory = false;

  sim::MeshOptions native() const {
    sim::MeshOptions options;
    options.arch = sim::parseArch(arch);
    const std::vector<uint32_t> shape = meshShape.value_or(std::vector<uint32_t>{1, 1});
    if (shape.empty() || shape.size() > 2)
      throw DeviceError("mesh_shape has " + std::to_string(shape.size()) + " dimensions; expected (rows, columns)");
    options.rows = shape.size() == 2 ? shape[0] : 1;
    options.columns = shape.back();
    options.l1SmallSize = l1SmallSize.value_or(0);
    options.traceRegionSize = traceRegionSize.value_or(0);
    options.programCache = programCache;
    options.exact = exact;
    options.strict = strict;
    options.libraryMemory = libraryMemory;
    return options;
  }
};

std::optional<int64_t> bytesOf(const std::optional<Int<int64_t>> &given, const char *name) {
  return given ? std::optional(given->in(name, 0)) : std::nullopt;
}

/// Rows and columns of a property of a mesh.
std::array<uint32_t, 2> pair(const Ints<uint32_t> &given, const char *name) {
  const std::vector<uint32_t> values = given.in(name);
  if (values.size() != 2)
    throw DeviceError(std::string(name) + " has " + std::to_string(values.size()) +
                      " dimensions; expected (rows, columns)");
  return {values[0], values[1]};
}

using BlockTable = std::vector<std::map<std::string, std::string>>;

/// Used and free blocks of a bank in order of address.
BlockTable blockTable(const sim::MemoryView &view) {
  BlockTable table;
  auto used = view.blocks.begin();
  auto free = view.freeBlocks.begin();
  while (used != view.blocks.end() || free != view.freeBlocks.end()) {
    const bool isUsed =
        free == view.freeBlocks.end() || (used != view.blocks.end() && used->block.address < free->address);
    const sim::Block block = isUsed ? used->block : *free;
    const std::string id = std::to_string(table.size());
    table.push_back({{"blockID", id},
                     {"address", std::to_string(block.address)},
                     {"size", std::to_string(block.bytes)},
                     {"prevID", table.empty() ? "" : std::to_string(table.size() - 1)},
                     {"nextID", std::to_string(table.size() + 1)},
                     {"allocated", isUsed ? "yes" : "no"},
                     {"label", isUsed ? used->label : ""}});
    isUsed ? (void)++used : (void)++free;
  }
  if (!table.empty())
    table.back()["nextID"] = "";
  return table;
}

} // namespace

void bindDevice(nb::module_ &module) {
  nb::class_<Options>(module, "MeshDeviceOptions", "What to open: a mesh_shape (rows, columns) of chips of an arch.")
      .def(
          "__init__",
          [](Options *self, bool exact) {
            new (self) Options();
            self->exact = exact;
          },
          nb::kw_only(), nb::arg("exact") = false)
      .def_prop_rw(
          "mesh_offset", [](const Options &self) { return self.meshOffset; },
          [](Options &self, Ints<uint32_t> offset) { self.meshOffset = offset.in("mesh_offset"); })
      .def_prop_rw(
          "device_ids", [](const Options &self) { return self.deviceIds; },
          [](Options &self, Ints<int> ids) { self.deviceIds = ids.in("device_ids"); })
      .def_prop_rw(
          "num_hw_cqs", [](const Options &self) { return self.commandQueues; },
          [](Options &self, Int<uint32_t> count) { self.commandQueues = count.in("num_hw_cqs"); })
      .def_rw("enable_program_cache", &Options::programCache,
              "False prepares programs again at each submit, which is slow.")
      .def_prop_rw(
          "mesh_shape", [](const Options &self) { return self.meshShape; },
          [](Options &self, std::optional<Ints<uint32_t>> shape) {
            self.meshShape = shape ? std::optional(shape->in("mesh_shape")) : std::nullopt;
          },
          nb::for_setter(nb::arg("value").none()))
      .def_prop_rw(
          "l1_small_size", [](const Options &self) { return self.l1SmallSize; },
          [](Options &self, std::optional<Int<int64_t>> bytes) { self.l1SmallSize = bytesOf(bytes, "l1_small_size"); },
          nb::for_setter(nb::arg("value").none()), "Bytes per core.")
      .def_prop_rw(
          "trace_region_size", [](const Options &self) { return self.traceRegionSize; },
          [](Options &self, std::optional<Int<int64_t>> bytes) {
            self.traceRegionSize = bytesOf(bytes, "trace_region_size");
          },
          nb::for_setter(nb::arg("value").none()), "Bytes of DRAM.")
      .def_rw("dispatch_core_type", &Options::dispatchCoreType, nb::arg().none())
      .def_rw("arch", &Options::arch, "\"wormhole_b0\" or \"blackhole\".")
      .def_rw("strict", &Options::strict, "Refuse calls that Tenstorrent's library refuses.")
      .def_rw("library_memory", &Options::libraryMemory,
              "Begin L1 and DRAM where Tenstorrent's library does, and not where the compiler assumes.")
      .def_rw("exact", &Options::exact,
              "Compute with the chip's arithmetic, bit for bit where it is published (docs/numerics.md). Slow.")
      .def_static(
          "from_preset",
          [](std::string_view name) {
            const sim::MeshPreset &preset = sim::meshPreset(name);
            Options options;
            options.arch = toString(preset.arch);
            options.meshShape = {preset.rows, preset.columns};
            return options;
          },
          nb::arg("name"), "A board or box by name: n150, n300, llmbox (box), tg (galaxy), p150, p300.");

  nb::class_<sim::MemoryView>(module, "MemoryView", "One memory of a device; figures in bytes, per bank.")
      .def_ro("num_banks", &sim::MemoryView::banks)
      .def_ro("total_bytes_per_bank", &sim::MemoryView::total)
      .def_ro("total_bytes_allocated_per_bank", &sim::MemoryView::allocated)
      .def_ro("total_bytes_free_per_bank", &sim::MemoryView::free)
      .def_ro("largest_contiguous_bytes_free_per_bank", &sim::MemoryView::largestFree)
      .def_ro("peak_bytes_allocated_per_bank", &sim::MemoryView::peak, "High-water mark.")
      .def_prop_ro("block_table", &blockTable);

  nb::class_<sim::BankAllocator>(module, "BankAllocator", "Allocates blocks of a bank, each in the lowest free piece.")
      .def(
          "__init__",
          [](sim::BankAllocator *self, int64_t base, int64_t end, int64_t alignment) {
            if (base < 0 || end < base || alignment < 1)
              throw Error("BankAllocator: base is " + std::to_string(base) + ", end " + std::to_string(end) +
                          ", alignment " + std::to_string(alignment) + "; expected 0 <= base <= end, 1 <= alignment");
            new (self) sim::BankAllocator(base, end, alignment, sim::Fit::Lowest);
          },
          nb::arg("base"), nb::arg("end"), nb::arg("alignment"), "Bytes.")
      .def(
          "allocate",
          [](sim::BankAllocator &self, int64_t bytes, std::string label) {
            if (bytes < 0)
              throw Error("BankAllocator.allocate: bytes is " + std::to_string(bytes) + "; expected 0 or more");
            std::optional<sim::Block> block;
            if (bytes <= self.capacity())
              block = self.allocate(bytes, std::move(label));
            return block ? std::optional(block->address) : std::nullopt;
          },
          nb::arg("bytes"), nb::arg("label"), "The address; None if there is no free piece of that size.")
      .def_prop_ro("allocated", &sim::BankAllocator::allocated)
      .def_prop_ro("free", &sim::BankAllocator::free);

  const auto view = [](const MeshDevice &self) {
    nb::object type = nb::module_::import_("_ttmlir_runtime").attr("runtime").attr("MemoryBufferType");
    nb::dict views;
    for (size_t i = 0; i < sim::memoryCount; ++i)
      views[type(i)] = self.memoryView(static_cast<sim::Memory>(i));
    return views;
  };
  nb::class_<MeshDevice>(module, "Device", "A mesh of simulated chips.")
      .def_prop_ro("arch", [](const MeshDevice &self) { return toString(self.chip().arch); })
      .def_prop_ro("id", &MeshDevice::id)
      .def_prop_ro("is_open", &MeshDevice::isOpen)
      .def("get_mesh_shape", &MeshDevice::meshShape)
      .def(
          "get_mesh_offset",
          [](const MeshDevice &self) { return std::vector<uint32_t>{self.place().firstRow, self.place().firstColumn}; },
          "Of a sub-mesh, in its mesh.")
      .def_prop_ro("parent_mesh", &MeshDevice::parent, "The mesh that this is a part of, or None.")
      .def("get_device_ids",
           [](const MeshDevice &self) {
             std::vector<int> ids(self.devices());
             for (size_t i = 0; i < ids.size(); ++i)
               ids[i] = static_cast<int>(i);
             return ids;
           })
      .def(
          "get_local_device_ids",
          [](const MeshDevice &self) {
            std::vector<uint32_t> ids;
            for (uint32_t i = self.chips().first; i < self.chips().last; ++i)
              ids.push_back(i);
            return ids;
          },
          "The chips that this process simulates; all of them unless several share the mesh.")
      .def("get_num_hw_cqs", [](const MeshDevice &) { return 1; })
      .def("is_program_cache_enabled", [](const MeshDevice &self) { return self.options().programCache; })
      .def("clear_program_cache", &MeshDevice::clearProgramCache)
      .def(
          "disable_and_clear_program_cache",
          [](MeshDevice &self) {
            self.clearProgramCache();
            ttnn::clearKernelCache();
          },
          "Drops prepared programs of the device, and kernels of calls; those of later calls are kept again.")
      .def(
          "num_program_cache_entries", [](const MeshDevice &) { return ttnn::cachedKernels(); },
          "Kernels of calls that are kept, for all devices of the process.")
      .def_prop_ro(
          "grid", [](const MeshDevice &self) { return std::pair(self.chip().gridRows, self.chip().gridColumns); },
          "Rows and columns of a chip's worker cores.")
      .def_prop_ro("exact", [](const MeshDevice &self) { return self.options().exact; })
      .def_prop_ro(
          "strict", [](const MeshDevice &self) { return self.options().strict; },
          "Whether calls that Tenstorrent's library refuses are errors.")
      .def("get_l1_small_size", [](const MeshDevice &self) { return self.options().l1SmallSize; })
      .def("get_trace_region_size", [](const MeshDevice &self) { return self.options().traceRegionSize; })
      .def("get_num_dram_channels", [](const MeshDevice &self) { return self.chip().dramChannels; })
      .def("get_dram_size_per_channel", [](const MeshDevice &self) { return self.chip().dramChannelSize; })
      .def("get_l1_size_per_core", [](const MeshDevice &self) { return self.chip().l1Size; })
      .def("deallocate_buffers", &MeshDevice::deallocateAll, "Frees all device memory; tensors on it become unusable.")
      .def("get_memory_view", view, nb::sig("def get_memory_view(self) -> dict[MemoryBufferType, MemoryView]"))
      .def("memory_report", &MeshDevice::memoryReport, "All buffers in all memories, as a table.")
      .def(
          "dump_memory_report", [](const MeshDevice &self) { nb::print(self.memoryReport().c_str()); },
          "Prints memory_report().")
      .def("reset_memory_peaks", &MeshDevice::resetPeaks)
      .def("__enter__", [](std::shared_ptr<MeshDevice> self) { return self; })
      .def("__exit__",
           [](const std::shared_ptr<MeshDevice> &self, nb::args) {
             if (self->isOpen())
               runtime::closeMeshDevice(self);
           })
      .def("__repr__", [](const MeshDevice &self) {
        return "<Device " + std::to_string(self.id()) + ": " + std::to_string(self.rows()) + "x" +
               std::to_string(self.columns()) + " " + std::string(toString(self.chip().arch)) +
               (self.isOpen() ? ">" : ", closed>");
      });

  module.def(
      "get_rank",
      [] {
        const auto ranks = sim::worldRanks();
        return ranks ? ranks->rank() : 0;
      },
      "Of this process among those that mpirun started.");
  module.def(
      "get_num_ranks",
      [] {
        const auto ranks = sim::worldRanks();
        return ranks ? ranks->size() : 1;
      },
      "Processes that share meshes.");
  module.def(
      "gather_from_ranks",
      [](const std::string &text) {
        const auto ranks = sim::worldRanks();
        return ranks ? ranks->gather(text, "gather_from_ranks") : std::vector<std::string>{text};
      },
      nb::arg("text"), nb::call_guard<nb::gil_scoped_release>(), "What each rank gave; all of them must call it.");
  module.def("get_num_available_devices", [] { return sim::maxChips; }, "Chips that can be open at once.");
  module.def("get_available_archs", [] {
    std::vector<std::string_view> names;
    for (const sim::ChipDesc &chip : sim::allChips())
      names.push_back(toString(chip.arch));
    return names;
  });
  module.def(
      "get_clock_mhz", [](std::string_view arch) { return sim::chip(sim::parseArch(arch)).speed.clockGHz * 1000; },
      nb::arg("arch"), "That the clock of the chips of an architecture counts with.");
  module.def(
      "get_mesh_presets",
      [] {
        nb::dict presets;
        for (const sim::MeshPreset &preset : sim::meshPresets())
          presets[nb::cast(preset.name)] = nb::make_tuple(toString(preset.arch), preset.rows, preset.columns);
        return presets;
      },
      nb::sig("def get_mesh_presets() -> dict[str, tuple[str, int, int]]"),
      "Boards and boxes by name: (arch, rows, columns).");
  module.def(
      "open_mesh_device",
      [](const std::optional<Options> &options) {
        const sim::MeshOptions native = options.value_or(Options()).native();
        nb::gil_scoped_release unlocked; // other ranks may take their time
        return runtime::openMeshDevice(native);
      },
      nb::arg("options") = nb::none(), "Opens a mesh of simulated chips; raises DeviceError.");
  module.def("close_mesh_device", &runtime::closeMeshDevice, nb::arg("parent_mesh"),
             nb::call_guard<nb::gil_scoped_release>(), "Frees its memory; tensors on it become unusable.");
  module.def(
      "create_sub_mesh_device",
      [](const std::shared_ptr<MeshDevice> &parent, const Ints<uint32_t> &givenShape,
         const std::optional<Ints<uint32_t>> &givenOffset) {
        const auto shape = pair(givenShape, "mesh_shape");
        const auto offset = givenOffset ? pair(*givenOffset, "mesh_offset") : std::array<uint32_t, 2>{0, 0};
        nb::gil_scoped_release unlocked; // a run may be under way
        return runtime::createSubMeshDevice(parent, {shape[0], shape[1], offset[0], offset[1]});
      },
      nb::arg("parent_mesh"), nb::arg("mesh_shape"), nb::arg("mesh_offset").none() = nb::none(),
      nb::sig("def create_sub_mesh_device(parent_mesh: Device, mesh_shape: collections.abc.Sequence[int], mesh_offset: "
              "collections.abc.Sequence[int] | None = None) -> Device"),
      "A rectangle of the chips of a mesh as a device of its own, from mesh_offset on ((0, 0) when it is not given); "
      "raises DeviceError where it leaves the mesh or overlaps with another.");
  module.def("get_sub_mesh_devices", &runtime::subMeshDevices, nb::arg("parent_mesh"),
             "The open rectangles of a mesh that something still holds, in the order of their making.");
  module.def("release_sub_mesh_device", &runtime::releaseSubMeshDevice, nb::arg("sub_mesh"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Gives its chips back to the mesh; tensors on it become unusable.");
  module.def(
      "reshape_mesh_device",
      [](MeshDevice &device, Ints<uint32_t> given) {
        const auto shape = pair(given, "mesh_shape");
        device.reshape(shape[0], shape[1]);
      },
      nb::arg("mesh_device"), nb::arg("mesh_shape"));
}

} // namespace tt::python
