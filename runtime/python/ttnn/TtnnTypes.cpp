//===- TtnnTypes.cpp - data types and memory layouts by TTNN's names ------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnBindings.h"
#include "ttmlir/Target/TTNN/Api.h"

#include <algorithm>

namespace tt::python {
namespace {

/// The public names of an enum, by value.
class EnumNames {
public:
  explicit EnumNames(std::string_view type) {
    const ttnn::api::Enum *row = ttnn::api::findEnum(type);
    if (!row)
      throw Error("no op has an enum " + std::string(type));
    for (const auto &each : row->cases)
      names.emplace_back(each.value, each.name);
  }
  const char *operator()(long long value) const {
    const auto it = std::ranges::find(names, value, &std::pair<long long, std::string>::first);
    return it == names.end() ? "?" : it->second.c_str();
  }
  template <class Enum> void bind(nb::module_ &module, const char *name, const char *doc) const {
    nb::enum_<Enum> bound(module, name, doc);
    for (const auto &[value, each] : names)
      bound.value(each.c_str(), static_cast<Enum>(value));
  }

private:
  std::vector<std::pair<long long, std::string>> names;
};

const EnumNames &dataTypes() {
  static const EnumNames names("ttcore.data_type");
  return names;
}
const EnumNames &layouts() {
  static const EnumNames names("ttnn.layout");
  return names;
}
const EnumNames &bufferTypes() {
  static const EnumNames names("ttnn.buffer_type");
  return names;
}
const EnumNames &memoryLayouts() {
  static const EnumNames names("ttnn.tensor_memory_layout");
  return names;
}

std::string text(const CoreCoord &core) {
  return "(x=" + std::to_string(core.x) + ", y=" + std::to_string(core.y) + ")";
}
std::string text(const CoreRange &range) { return "[" + text(range.start) + " - " + text(range.end) + "]"; }
std::string text(const CoreRangeSet &set) {
  std::string ranges;
  for (const CoreRange &range : set.ranges)
    ranges += (ranges.empty() ? "" : ", ") + text(range);
  return "{" + ranges + "}";
}

int64_t coresOf(const CoreRangeSet &set) {
  int64_t cores = 0;
  for (const auto &[start, end] : set.ranges)
    cores += (end.x - start.x + 1) * (end.y - start.y + 1);
  return cores;
}

/// Writes the cores of shards to a memory: their number as rows and columns of shards, and their positions.
void placeShards(const ShardSpec &shard, MemoryConfig &memory) {
  const std::vector<CoreRange> &ranges = shard.grid.ranges;
  const bool block = memory.layout == MemoryLayout::BlockSharded;
  memory.byColumns = shard.orientation == Orientation::ColumnMajor;
  memory.shardShape = shard.shape;
  if (ranges.size() == 1) {
    const auto &[start, end] = ranges[0];
    memory.grid = {end.y - start.y + 1, end.x - start.x + 1};
    if (block && memory.byColumns)
      std::swap(memory.grid[0], memory.grid[1]);
    if (start == CoreCoord{0, 0})
      return;
  } else if (block || ranges.empty()) {
    throw nb::value_error(("ShardSpec: grid " + text(shard.grid) + " has " + std::to_string(ranges.size()) +
                           " rectangles of cores; expected one" + (ranges.empty() ? " or more" : " for blocks"))
                              .c_str());
  } else {
    memory.grid = {1, coresOf(shard.grid)};
  }
  for (const auto &[start, end] : ranges)
    memory.cores.push_back({start.x, start.y, end.x, end.y});
}

MemoryConfig makeMemoryConfig(std::optional<MemoryLayout> layout, BufferType buffer,
                              const std::optional<ShardSpec> &shard) {
  MemoryConfig memory;
  memory.buffer = buffer;
  if (buffer == BufferType::SystemMemory) {
    if (shard || layout.value_or(MemoryLayout::Interleaved) != MemoryLayout::Interleaved)
      throw nb::value_error("MemoryConfig: a tensor in SYSTEM_MEMORY is not sharded");
    return memory;
  }
  memory.layout = layout.value_or(MemoryLayout::Interleaved);
  const bool sharded = memory.layout != MemoryLayout::Interleaved;
  if (shard && !sharded)
    throw nb::value_error(
        (std::string("MemoryConfig: ") + memoryLayoutName(memory.layout) + " takes no shard_spec").c_str());
  if (shard)
    placeShards(*shard, memory);
  return memory;
}

std::optional<ShardSpec> shardSpecOf(const MemoryConfig &memory) {
  if (memory.shardShape.empty())
    return std::nullopt;
  ShardSpec shard;
  shard.shape = memory.shardShape;
  shard.orientation = memory.byColumns ? Orientation::ColumnMajor : Orientation::RowMajor;
  for (const auto &[left, top, right, bottom] : memory.cores)
    shard.grid.ranges.push_back({{left, top}, {right, bottom}});
  if (!memory.cores.empty())
    return shard;
  int64_t rows = memory.grid.empty() ? 1 : memory.grid[0];
  int64_t columns = memory.grid.size() < 2 ? 1 : memory.grid[1];
  if (memory.byColumns && memory.layout == MemoryLayout::BlockSharded)
    std::swap(rows, columns);
  shard.grid.ranges = {{{0, 0}, {columns - 1, rows - 1}}};
  return shard;
}

std::string text(const ShardSpec &shard) {
  return "ShardSpec(grid=" + text(shard.grid) + ", shape=" + toString(shard.shape) +
         ", orientation=" + (shard.orientation == Orientation::RowMajor ? "ROW_MAJOR)" : "COL_MAJOR)");
}

// As Tenstorrent's library prints them.

std::string printed(const CoreCoord &core) { return std::to_string(core.x) + "-" + std::to_string(core.y); }
std::string printed(const CoreRange &range) { return "[" + printed(range.start) + " - " + printed(range.end) + "]"; }
std::string printed(const CoreRangeSet &set) {
  std::string ranges;
  for (const CoreRange &range : set.ranges)
    ranges += (ranges.empty() ? "" : ", ") + printed(range);
  return "{" + ranges + "}";
}
std::string printed(const ShardSpec &shard) {
  const auto corner = [](const CoreCoord &core) {
    return "{\"x\":" + std::to_string(core.x) + ",\"y\":" + std::to_string(core.y) + "}";
  };
  std::string ranges;
  for (const CoreRange &range : shard.grid.ranges)
    ranges += (ranges.empty() ? "" : "}, ") + ("{\"start\":" + corner(range.start) + ",\"end\":" + corner(range.end));
  // The library omits the last brace of the ranges.
  return "ShardSpec{grid=[" + ranges + "], shape=" + toString(shard.shape) + ", orientation=ShardOrientation::" +
         (shard.orientation == Orientation::RowMajor ? "ROW_MAJOR}" : "COL_MAJOR}");
}
std::string printed(const MemoryConfig &memory) {
  const auto shard = shardSpecOf(memory);
  const std::string layout =
      memory.layout == MemoryLayout::Unset
          ? "std::nullopt"
          : std::string("TensorMemoryLayout::") + memoryLayouts()(static_cast<long long>(memory.layout));
  return "MemoryConfig(memory_layout=" + layout +
         ",buffer_type=BufferType::" + bufferTypes()(static_cast<long long>(memory.buffer)) +
         ",shard_spec=" + (shard ? printed(*shard) : "std::nullopt") +
         ",nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0,per_core_allocation=0,range_lockstep_allocation=0)";
}

/// Far more than a chip has, and few enough that cores can be counted.
constexpr int64_t mostCores = 1 << 20;

int64_t coordinate(Int<int64_t> given, const char *name) { return given.in(name, -mostCores, mostCores); }

CoreRange makeRange(CoreCoord start, CoreCoord end) {
  if (start.x < 0 || start.y < 0 || end.x < start.x || end.y < start.y)
    throw nb::value_error(("CoreRange: from " + text(start) + " to " + text(end) + " is not a rectangle").c_str());
  return {start, end};
}

ShardSpec makeShardSpec(CoreRangeSet grid, Ints<int64_t> given, Orientation orientation) {
  std::vector<int64_t> shape = given.in("ShardSpec: shape");
  if (shape.size() < 2 || std::ranges::any_of(shape, [](int64_t size) { return size < 1; }))
    throw nb::value_error(
        ("ShardSpec: shape " + toString(shape) + "; expected two positive sizes, (height, width)").c_str());
  return {std::move(grid), std::move(shape), orientation};
}

} // namespace

const char *dataTypeName(DataType type) { return dataTypes()(static_cast<long long>(type)); }
const char *memoryLayoutName(MemoryLayout layout) { return memoryLayouts()(static_cast<long long>(layout)); }
const char *bufferTypeName(BufferType type) { return bufferTypes()(static_cast<long long>(type)); }
const char *layoutName(tt::Layout layout) { return layouts()(static_cast<long long>(layout)); }

std::string text(const MemoryConfig &memory) {
  std::string result = "MemoryConfig(";
  if (memory.layout != MemoryLayout::Unset)
    result += std::string("memory_layout=") + memoryLayoutName(memory.layout) + ", ";
  result += std::string("buffer_type=") + bufferTypeName(memory.buffer);
  if (const auto shard = shardSpecOf(memory))
    result += ", shard_spec=" + text(*shard);
  return result + ")";
}

void bindTtnnTypes(nb::module_ &module) {
  dataTypes().bind<DataType>(module, "DataType",
                             "Element types of tensors. In those with _B, 16 values of a row share an exponent.");
  layouts().bind<tt::Layout>(module, "Layout", "How values follow one another: row by row, or in tiles of 32x32.");
  bufferTypes().bind<BufferType>(module, "BufferType", "The memory that a tensor lies in.");
  memoryLayouts().bind<MemoryLayout>(module, "TensorMemoryLayout", "The distribution of a tensor over banks or cores.");
  EnumNames("ttnn.shard_orientation").bind<Orientation>(module, "ShardOrientation", "Order of shards over cores.");
  nb::enum_<TensorStorage>(module, "StorageType", "Where the values of a tensor are.")
      .value("HOST", TensorStorage::Host)
      .value("DEVICE", TensorStorage::Device);

  nb::class_<CoreCoord>(module, "CoreCoord", "A core of a chip, or a number of columns and rows.")
      .def(
          "__init__",
          [](CoreCoord *self, Int<int64_t> x, Int<int64_t> y) {
            new (self) CoreCoord{coordinate(x, "CoreCoord: x"), coordinate(y, "CoreCoord: y")};
          },
          nb::arg("x"), nb::arg("y"))
      .def_ro("x", &CoreCoord::x, "Column.")
      .def_ro("y", &CoreCoord::y, "Row.")
      .def(
          "__eq__", [](const CoreCoord &self, const CoreCoord &other) { return self == other; }, nb::is_operator())
      .def("__hash__", [](const CoreCoord &self) { return self.y << 16 ^ self.x; })
      .def("__repr__", [](const CoreCoord &self) { return printed(self); });
  nb::class_<CoreRange>(module, "CoreRange", "A rectangle of cores, both corners included.")
      .def(
          "__init__",
          [](CoreRange *self, CoreCoord start, CoreCoord end) { new (self) CoreRange(makeRange(start, end)); },
          nb::arg("start"), nb::arg("end"))
      .def_ro("start", &CoreRange::start)
      .def_ro("end", &CoreRange::end)
      .def(
          "__eq__", [](const CoreRange &self, const CoreRange &other) { return self == other; }, nb::is_operator())
      .def("__hash__", [](const CoreRange &self) { return self.end.y << 16 ^ self.end.x; })
      .def("__repr__", [](const CoreRange &self) { return printed(self); });
  nb::class_<CoreGrid>(module, "CoreGrid", "Rows (y) and columns (x) of cores, from the first core on.")
      .def(
          "__init__",
          [](CoreGrid *self, Int<int64_t> yGiven, Int<int64_t> xGiven) {
            const int64_t y = coordinate(yGiven, "CoreGrid: y"), x = coordinate(xGiven, "CoreGrid: x");
            if (y < 1 || x < 1)
              throw nb::value_error(("CoreGrid: y is " + std::to_string(y) + " and x " + std::to_string(x) +
                                     "; expected positive numbers")
                                        .c_str());
            new (self) CoreGrid{y, x};
          },
          nb::arg("y"), nb::arg("x"))
      .def_ro("y", &CoreGrid::y)
      .def_ro("x", &CoreGrid::x)
      .def_prop_ro("num_cores", [](const CoreGrid &self) { return self.x * self.y; })
      .def(
          "__eq__", [](const CoreGrid &self, const CoreGrid &other) { return self == other; }, nb::is_operator())
      .def("__hash__", [](const CoreGrid &self) { return self.y << 16 ^ self.x; })
      .def("__repr__", [](const CoreGrid &self) {
        return "ttnn.CoreGrid(x=" + std::to_string(self.x) + ", y=" + std::to_string(self.y) + ")";
      });
  nb::class_<CoreRangeSet>(module, "CoreRangeSet", "Rectangles of cores.")
      .def(
          "__init__",
          [](CoreRangeSet *self, const nb::iterable &ranges) {
            std::vector<CoreRange> list;
            for (nb::handle range : ranges) {
              if (!nb::isinstance<CoreRange>(range))
                throw nb::type_error(("CoreRangeSet: ranges[" + std::to_string(list.size()) + "] is " + reprOf(range) +
                                      "; expected a CoreRange")
                                         .c_str());
              list.push_back(nb::cast<CoreRange>(range));
            }
            new (self) CoreRangeSet{std::move(list)};
          },
          nb::arg("ranges"), nb::sig("def __init__(self, ranges: collections.abc.Iterable[CoreRange]) -> None"))
      .def(
          "__init__",
          [](CoreRangeSet *self, const CoreGrid &grid) {
            new (self) CoreRangeSet{{{{0, 0}, {grid.x - 1, grid.y - 1}}}};
          },
          nb::arg("grid"))
      .def("ranges", [](const CoreRangeSet &self) { return self.ranges; })
      .def("num_cores", [](const CoreRangeSet &self) { return coresOf(self); })
      .def(
          "__eq__", [](const CoreRangeSet &self, const CoreRangeSet &other) { return self == other; },
          nb::is_operator())
      .def("__hash__", [](const CoreRangeSet &self) { return self.ranges.size(); })
      .def("__repr__", [](const CoreRangeSet &self) { return printed(self); });
  nb::implicitly_convertible<CoreGrid, CoreRangeSet>();
  nb::class_<ShardSpec>(module, "ShardSpec", "How a sharded tensor is cut: cores, and what each of them holds.")
      .def(
          "__init__",
          [](ShardSpec *self, CoreRangeSet grid, Ints<int64_t> shape, Orientation orientation) {
            new (self) ShardSpec(makeShardSpec(std::move(grid), shape, orientation));
          },
          nb::arg("grid"), nb::arg("shape"), nb::arg("orientation"), "shape: (height, width) of a shard in elements.")
      .def_ro("grid", &ShardSpec::grid)
      .def_ro("shape", &ShardSpec::shape)
      .def_ro("orientation", &ShardSpec::orientation)
      .def("num_cores", [](const ShardSpec &self) { return coresOf(self.grid); })
      .def(
          "__eq__", [](const ShardSpec &self, const ShardSpec &other) { return self == other; }, nb::is_operator())
      .def("__hash__", [](const ShardSpec &self) { return self.shape.front() << 20 ^ self.shape.back(); })
      .def("__repr__", [](const ShardSpec &self) { return printed(self); });
  nb::class_<MemoryConfig>(module, "MemoryConfig",
                           "The memory of a tensor, and its distribution over the banks of that memory.")
      .def(
          "__init__",
          [](MemoryConfig *self, std::optional<MemoryLayout> layout, BufferType buffer,
             const std::optional<ShardSpec> &shard) {
            new (self) MemoryConfig(makeMemoryConfig(layout, buffer, shard));
          },
          nb::arg("memory_layout") = MemoryLayout::Interleaved, nb::arg("buffer_type") = BufferType::DRAM,
          nb::arg("shard_spec") = nb::none())
      .def_prop_ro(
          "memory_layout",
          [](const MemoryConfig &self) {
            return self.layout == MemoryLayout::Unset ? std::nullopt : std::optional(self.layout);
          },
          "None on the host.")
      .def_ro("buffer_type", &MemoryConfig::buffer)
      .def_prop_ro("shard_spec", &shardSpecOf, "None unless sharded; of a layout alone, too: ops choose it.")
      .def("is_sharded",
           [](const MemoryConfig &self) {
             return self.layout != MemoryLayout::Interleaved && self.layout != MemoryLayout::Unset;
           })
      .def(
          "__eq__", [](const MemoryConfig &self, const MemoryConfig &other) { return self == other; },
          nb::is_operator())
      .def("__hash__",
           [](const MemoryConfig &self) {
             return static_cast<int64_t>(self.buffer) << 8 ^ static_cast<int64_t>(self.layout) ^
                    (self.shardShape.empty() ? 0 : self.shardShape.back() << 16);
           })
      .def("__repr__", [](const MemoryConfig &self) { return printed(self); });
}

} // namespace tt::python
