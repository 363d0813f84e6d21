//===- System.cpp - descriptions of machines for Python -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "tt/ttnn/kernel.h"
#include "ttmlir/Target/OutputFile.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <tuple>

namespace tt::python {
namespace {

using sim::ChipDesc;

/// Figures of a chip, by their names in files.
struct FigureRow {
  const char *name;
  int64_t ChipDesc::*figure;
};
constexpr std::array<FigureRow, 8> figureRows = {{
    {"l1_size", &ChipDesc::l1Size},
    {"num_dram_channels", &ChipDesc::dramChannels},
    {"dram_channel_size", &ChipDesc::dramChannelSize},
    {"noc_l1_address_align_bytes", &ChipDesc::l1Alignment},
    {"noc_dram_address_align_bytes", &ChipDesc::dramAlignment},
    {"l1_unreserved_base", &ChipDesc::l1UnreservedBase},
    {"dram_unreserved_base", &ChipDesc::dramUnreservedBase},
    {"dram_unreserved_end", &ChipDesc::dramUnreservedEnd},
}};

/// The description of a system for the compiler.
struct SystemDesc {
  uint32_t rows, columns;
  std::vector<ChipDesc> chips;
};

SystemDesc describe(const sim::MeshOptions &options) {
  return {options.rows, options.columns, {options.rows * options.columns, sim::chip(options.arch)}};
}

std::string figuresOf(const ChipDesc &chip) {
  std::string text;
  for (const FigureRow &row : figureRows)
    text += std::string(", \"") + row.name + "\": " + std::to_string(chip.*row.figure);
  return text;
}

template <class Text> std::string list(size_t count, Text text) {
  std::string items;
  for (size_t i = 0; i < count; ++i)
    items += (i ? ", " : "") + text(i);
  return "[" + items + "]";
}

/// Writes the system for the compiler, and under "system_desc" with the names of the ecosystem's flatbuffer of systems.
std::string toJson(const SystemDesc &system) {
  const size_t count = system.chips.size();
  const auto number = [](size_t i) { return std::to_string(i); };
  const auto grid = [](const ChipDesc &chip, const char *first, const char *second) {
    return first + std::to_string(chip.gridRows) + ", " + second + std::to_string(chip.gridColumns);
  };
  const std::string chips = list(count, [&](size_t i) {
    const ChipDesc &chip = system.chips[i];
    return "{\"arch\": \"" + std::string(toString(chip.arch)) + "\", \"grid\": [" + grid(chip, "", "") + "]" +
           figuresOf(chip) + "}";
  });
  const std::string descs = list(count, [&](size_t i) {
    std::string arch(toString(system.chips[i].arch));
    arch.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(arch.front())));
    return "{\"arch\": \"" + arch + "\", \"grid_size\": {" + grid(system.chips[i], "\"y\": ", "\"x\": ") + "}" +
           figuresOf(system.chips[i]) + "}";
  });
  return "{\"mesh_shape\": [" + number(system.rows) + ", " + number(system.columns) + "], \"chips\": " + chips +
         ", \"system_desc\": {\"chip_descs\": " + descs + ", \"chip_desc_indices\": " + list(count, number) +
         ", \"chip_capabilities\": " + list(count, [](size_t) { return std::string("\"HostMMIO\""); }) + "}}";
}

/// The machine in the JSON that toJson writes. Throws nb::python_error for invalid text.
SystemDesc fromJson(const std::string &text) {
  const nb::object json = nb::module_::import_("json").attr("loads")(text);
  const auto mesh = nb::cast<std::vector<uint32_t>>(json["mesh_shape"]);
  if (mesh.size() != 2)
    throw Error("has a mesh_shape of " + std::to_string(mesh.size()) + " numbers, not of rows and columns");
  SystemDesc system{mesh[0], mesh[1], {}};
  for (const nb::handle each : json["chips"]) {
    ChipDesc chip = sim::chip(sim::parseArch(nb::cast<std::string>(each["arch"])));
    const auto grid = nb::cast<std::pair<int64_t, int64_t>>(nb::tuple(each["grid"]));
    chip.gridRows = grid.first, chip.gridColumns = grid.second;
    for (const FigureRow &row : figureRows)
      chip.*row.figure = nb::cast<int64_t>(each[row.name]);
    system.chips.push_back(chip);
  }
  return system;
}

/// The machine in a #ttcore.system_desc, as `ttrt query` writes it; it does not contain the shape of the mesh.
SystemDesc fromAttribute(const std::string &text) {
  static const std::regex archPattern(R"(\{arch = <(\w+)>, grid = (\d+)x(\d+)([^{}]*)\})"),
      indexPattern(R"(\}\], \[([\d, ]*)\])");
  std::vector<ChipDesc> kinds;
  for (std::sregex_iterator at(text.begin(), text.end(), archPattern), end; at != end; ++at) {
    ChipDesc chip = sim::chip(sim::parseArch((*at)[1].str()));
    chip.gridRows = std::atoll((*at)[2].str().c_str()), chip.gridColumns = std::atoll((*at)[3].str().c_str());
    const std::string figures = (*at)[4];
    for (const FigureRow &row : figureRows) {
      const std::string name = std::string(", ") + row.name + " = ";
      if (const size_t place = figures.find(name); place != std::string::npos)
        chip.*row.figure = std::atoll(figures.c_str() + place + name.size());
    }
    kinds.push_back(chip);
  }
  // The list after that of the chips: the chip of each device.
  std::smatch indices;
  const std::string behind = text.substr(std::min(text.rfind("arch = <"), text.size()));
  if (kinds.empty() || !std::regex_search(behind, indices, indexPattern))
    throw Error("has no chips");
  SystemDesc system{1, 0, {}};
  std::istringstream numbers(indices[1].str());
  for (std::string number; std::getline(numbers, number, ',');) {
    const size_t kind = std::strtoul(number.c_str(), nullptr, 10);
    if (kind >= kinds.size())
      throw Error("names chip " + std::to_string(kind) + " of " + std::to_string(kinds.size()));
    system.chips.push_back(kinds[kind]);
  }
  system.columns = static_cast<uint32_t>(system.chips.size());
  return system;
}

SystemDesc load(const std::filesystem::path &path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file)
    throw BinaryError(path.string() + ": cannot be read; expected the description of a machine");
  const size_t start = text.find_first_not_of(" \t\r\n");
  const auto refuse = [&](const std::string &why) -> BinaryError {
    return BinaryError(path.string() + ": " + why + "; expected what SystemDesc.store or `ttrt query --save` writes");
  };
  try {
    if (start != std::string::npos && text[start] == '{')
      return fromJson(text);
    if (start != std::string::npos && text.compare(start, 19, "#ttcore.system_desc") == 0)
      return fromAttribute(text);
  } catch (const nb::python_error &error) {
    const std::string trace = error.what(); // which ends with a line that says what is wrong
    throw refuse("is not the description of a machine: " + trace.substr(trace.rfind('\n') + 1));
  } catch (const nb::cast_error &) {
    throw refuse("is not the description of a machine: a field has another type than it should");
  } catch (const Error &error) {
    throw refuse(error.what());
  }
  throw refuse("is not the description of a machine");
}

/// Returns the properties of a chip of this architecture, by name; sizes in bytes.
nb::dict figuresByName(const std::string &arch) {
  const ChipDesc &chip = sim::chip(sim::parseArch(arch));
  nb::dict figures;
  figures["grid"] = nb::make_tuple(chip.gridRows, chip.gridColumns);
  figures["clock_ghz"] = chip.speed.clockGHz;
  figures["host_ns_per_program"] = chip.speed.hostNs;
  for (const FigureRow &row : figureRows)
    figures[row.name] = chip.*row.figure;
  return figures;
}

/// Nanoseconds of work on this many cores: computing, L1, DRAM, fabric, launch.
std::tuple<double, double, double, double, double> timesByName(const std::string &arch, double cores,
                                                               const sim::Cost &work) {
  if (!(cores > 0))
    throw Error("estimate_times: cores is " + std::to_string(cores) + "; expected more than 0");
  if (work.phases < 1 || work.phases > 4)
    throw Error("estimate_times: phases is " + std::to_string(work.phases) + "; expected 1 to 4");
  const ttmlir::cost::Times times = ttmlir::cost::timesOf(sim::chip(sim::parseArch(arch)).speed, cores, work);
  return {times.computeNs, times.l1Ns, times.dramNs, times.fabricNs, times.launchNs};
}

/// The work of an op on tiled tensors of one data type that are interleaved in L1.
sim::Cost workOfOp(const std::string &arch, const std::string &op, const std::vector<Ints<int64_t>> &operands,
                   const std::vector<Ints<int64_t>> &results, HostType type) {
  const ttnn::OpInfo *info = ttnn::findOp(op);
  if (!info)
    throw Error("estimate_op: there is no op " + op + "; expected one of list_ops()");
  const auto atMost = [&](const char *what, size_t count, int most) {
    if (most >= 0 && static_cast<int>(count) > most)
      throw Error("estimate_op: " + op + " has " + std::to_string(count) + " " + what + "; expected at most " +
                  std::to_string(most));
  };
  atMost("operands", operands.size(), info->maxIns);
  atMost("results", results.size(), info->outs);
  const auto specOf = [&](const Ints<int64_t> &shape, const char *what) {
    TensorSpec spec;
    spec.dtype = deviceType(type);
    spec.shape = shape.in(what, 0);
    spec.layout = Layout::Tile;
    spec.memory.buffer = BufferType::L1;
    spec.memory.layout = MemoryLayout::Interleaved;
    return spec;
  };
  ttnn::OpCall call;
  call.name = op;
  for (const Ints<int64_t> &shape : operands)
    call.ins.push_back(specOf(shape, "operands"));
  for (const Ints<int64_t> &shape : results)
    call.outs.push_back(specOf(shape, "results"));
  return estimateOf(sim::chip(sim::parseArch(arch)), *info, call, ttnn::Origin::Program).cost;
}

void writeFile(const std::filesystem::path &path, const std::string &text) {
  ttmlir::OutputFile file(path.string());
  file.write(text + "\n");
  if (file.keep() != 0)
    throw Error("cannot write " + path.string() + ": " + file.message());
}

} // namespace

void bindSystem(nb::module_ &runtime, nb::module_ &binary) {
  nb::class_<SystemDesc>(binary, "SystemDesc", "The chips of a system.")
      .def("as_json", &toJson)
      .def(
          "store", [](const SystemDesc &self, const std::filesystem::path &path) { writeFile(path, toJson(self)); },
          nb::arg("path"), "Writes it as JSON.")
      .def(
          "check_schema_hash", [](const SystemDesc &) { return true; }, "True: another schema is refused at load.")
      .def("__repr__",
           [](const SystemDesc &self) { return "<SystemDesc: " + std::to_string(self.chips.size()) + " chips>"; });
  runtime.attr("SystemDesc") = binary.attr("SystemDesc");
  binary.def("load_system_desc_from_path", &load, nb::arg("path"),
             "Reads what `SystemDesc.store` or `ttrt query --save` wrote; raises BinaryError.");
  runtime.def(
      "get_current_system_desc",
      [](nb::handle, const std::shared_ptr<sim::MeshDevice> &device) {
        return describe(device ? device->options() : sim::MeshOptions());
      },
      nb::arg("dispatch_core_type") = nb::none(), nb::arg("mesh_device").none() = nb::none(),
      nb::sig("def get_current_system_desc(dispatch_core_type: DispatchCoreType | None = None, "
              "mesh_device: Device | None = None) -> SystemDesc"),
      "Of an open device, or else of one wormhole_b0 chip.");
  runtime.def("chip_figures", &figuresByName, nb::arg("arch"),
              "Grid, clock and memory of a chip of an architecture (\"wormhole_b0\"), by name; sizes in bytes.");
  runtime.def(
      "estimate_uncertainties",
      [] {
        nb::dict shares;
        for (const ttmlir::cost::KindRow &row : ttmlir::cost::kinds)
          shares[nb::str(row.name.data(), row.name.size())] = row.uncertainty;
        return shares;
      },
      "Of estimated times of ops, by kind of op: one standard deviation, as a share of the time (docs/cost-model.md).");
  runtime.def(
      "estimate_times",
      [](const std::string &arch, double cores, int64_t matmulTiles, int64_t sfpuTiles, int64_t sfpuCycles,
         int64_t fpuTiles, int64_t l1Bytes, int64_t dramBytes, int64_t fabricBytes, int phases) {
        sim::Cost work;
        work.matmulTiles = matmulTiles, work.sfpuTiles = sfpuTiles, work.fpuTiles = fpuTiles;
        work.sfpuCycles = sfpuCycles;
        work.l1Bytes = l1Bytes, work.dramBytes = dramBytes, work.fabricBytes = fabricBytes, work.phases = phases;
        return timesByName(arch, cores, work);
      },
      nb::arg("arch"), nb::arg("cores"), nb::kw_only(), nb::arg("matmul_tiles") = 0, nb::arg("sfpu_tiles") = 0,
      nb::arg("sfpu_cycles") = 0, nb::arg("fpu_tiles") = 0, nb::arg("l1_bytes") = 0, nb::arg("dram_bytes") = 0,
      nb::arg("fabric_bytes") = 0, nb::arg("phases") = 4,
      "What work takes on so many cores of a chip, by the cost model, in ns: computing, L1, DRAM, fabric, launch. "
      "sfpu_cycles: of all sfpu_tiles, where they are known.");
  runtime.def(
      "estimate_op",
      [](const std::string &arch, const std::string &op, const std::vector<Ints<int64_t>> &operands,
         const std::vector<Ints<int64_t>> &results, double cores, HostType dataType, int phases) {
        sim::Cost work = workOfOp(arch, op, operands, results, dataType);
        work.phases = phases;
        return timesByName(arch, cores, work);
      },
      nb::arg("arch"), nb::arg("op"), nb::arg("operands"), nb::arg("results"), nb::kw_only(), nb::arg("cores") = 1,
      nb::arg("data_type") = HostType::BFloat16, nb::arg("phases") = 4,
      "What an op (\"ttnn.add\") on tiled tensors of these shapes in L1 takes on so many cores of a chip, by its cost "
      "rule, in ns: computing, L1, DRAM, fabric, launch. Operands that are left out count nothing.");
}

} // namespace tt::python
