//===- collective.cpp - distribution over the mesh and collectives ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Devices are numbered row-major over the mesh. Axis 0 joins devices of one column (their rows vary), axis 1 those of
// one row.
//
//===----------------------------------------------------------------------===//

#include "core/mesh.h"
#include "reduce.h"
#include "tensor/storage.h"
#include "tensor/strided.h"
#include "tt/parallel.h"
#include "tt/sim/formats.h"
#include "tt/ttnn/tensor.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace tt::ttnn {
namespace {

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

struct Mesh {
  Shape shape;     // as the op sees it
  int64_t columns; // of the mesh itself
  bool whole;      // `shape` counts all devices: their numbers are its own

  int64_t devices() const { return volume(shape); }
  /// The device at a row-major position of `shape`.
  int64_t device(int64_t position) const {
    return whole ? position : position / shape.back() * columns + position % shape.back();
  }
  /// Devices from one coordinate along `axis` to the next.
  int64_t stride(size_t axis) const {
    return volume(Shape(shape.begin() + static_cast<int64_t>(axis) + 1, shape.end()));
  }
  int64_t coordinate(int64_t position, size_t axis) const {
    for (size_t d = shape.size() - 1; d > axis; --d)
      position /= shape[d];
    return position % shape[axis];
  }
};

std::vector<int64_t> integerList(const OpCall &call, const Attribute &attribute, std::string_view name) {
  if (const auto *array = std::get_if<std::vector<int64_t>>(&attribute.value))
    return *array;
  std::vector<int64_t> values;
  if (const auto *list = std::get_if<ListAttribute>(&attribute.value))
    for (const Attribute &item : list->items)
      if (const auto *value = std::get_if<int64_t>(&item.value))
        values.push_back(*value);
  const auto *list = std::get_if<ListAttribute>(&attribute.value);
  if (!list || values.size() != list->items.size())
    fail(call, "'" + std::string(name) + "' is not a list of integers");
  return values;
}

/// The mesh with the config's mesh_shape_override, if any; one axis if the config names one.
Mesh meshOf(const OpCall &call, std::string_view config, size_t axes) {
  const int64_t rows = call.meshShape[0], columns = call.meshShape[1];
  Mesh mesh{{rows, columns}, columns, true};
  if (const Attribute *override = field(call, config, "mesh_shape_override")) {
    const std::vector<int64_t> shape = integerList(call, *override, "mesh_shape_override");
    if (!shape.empty()) {
      if (std::ranges::any_of(shape, [](int64_t size) { return size < 1; }) || volume(shape) > rows * columns)
        fail(call, "'mesh_shape_override' is " + quoted(shape) + "; expected at most the " +
                       std::to_string(rows * columns) + " devices of the mesh");
      mesh.shape = shape;
      mesh.whole = volume(shape) == rows * columns;
      if (!mesh.whole && (shape.size() != 2 || shape[0] > rows || shape[1] > columns))
        fail(call, "'mesh_shape_override' is " + quoted(shape) + ", which is no part of the " + std::to_string(rows) +
                       "x" + std::to_string(columns) + " mesh");
    }
  }
  if (axes == 1 && mesh.whole)
    mesh.shape = {mesh.devices()};
  if (axes != mesh.shape.size())
    fail(call, "attribute '" + std::string(config) + "' names " + std::to_string(axes) + " axes of a mesh of shape " +
                   quoted(mesh.shape));
  return mesh;
}

//===----------------------------------------------------------------------===//
// Moving parts of tensors
//===----------------------------------------------------------------------===//

/// A box of a larger tensor.
class Region {
public:
  Region(const Shape &box, const Shape &whole, const std::vector<int64_t> &start, size_t elementBytes)
      : box(box), strides(rowMajorStrides(whole)), bytes(elementBytes),
        copy(box, strides, offsetOf(start, strides), elementBytes), offset(offsetOf(start, strides)) {}
  /// The box out of the whole.
  void extract(const std::byte *whole, std::byte *to) const { copy.run(whole, to); }
  /// The box into the whole.
  void insert(const std::byte *from, std::byte *whole) const {
    const auto row = static_cast<size_t>(box.empty() ? 1 : box.back()) * bytes;
    const int64_t rows = row == 0 ? 0 : volume(box) * static_cast<int64_t>(bytes) / static_cast<int64_t>(row);
    parallelFor(rows, static_cast<int64_t>(1 + 65536 / std::max<size_t>(row, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at = offset, rest = i;
        for (size_t d = box.empty() ? 0 : box.size() - 1; d-- > 0; rest /= box[d])
          at += rest % box[d] * strides[d];
        std::memcpy(whole + static_cast<size_t>(at) * bytes, from + static_cast<size_t>(i) * row, row);
      }
    });
  }

private:
  static int64_t offsetOf(const std::vector<int64_t> &start, const std::vector<int64_t> &strides) {
    int64_t at = 0;
    for (size_t d = 0; d < start.size(); ++d)
      at += start[d] * strides[d];
    return at;
  }
  Shape box;
  std::vector<int64_t> strides;
  size_t bytes;
  StridedCopy copy;
  int64_t offset;
};

/// One copy of a region from a device (or the host) to another.
struct Move {
  size_t from, to;
  Region region;
};

/// Reads values that must be the same on all chips, and checks that they are.
class Agreement {
public:
  explicit Agreement(const OpCall &call) : name(call.name), bytes(operand(call, 0).bytes()) {}
  /// `device` must hold the values of `reference`, which is the one that is read.
  void expect(size_t reference, size_t device) {
    if (reference != device)
      groups[reference].push_back(device);
  }
  /// Every rank checks, so that all of them fail or none.
  void addNeeds(std::vector<MeshKernel::Need> &needs) const {
    for (const auto &[reference, devices] : groups) {
      needs.push_back({0, reference, MeshKernel::everywhere});
      for (size_t device : devices)
        needs.push_back({0, device, MeshKernel::everywhere});
    }
  }
  void check(std::span<const std::byte *const> values) const {
    if (values.size() == 1)
      return;
    for (const auto &[reference, devices] : groups) {
      std::vector<size_t> wrong;
      for (size_t device : devices)
        if (const std::byte *both[] = {values[reference], values[device]}; !chipsThatDiffer(both, bytes).empty())
          wrong.push_back(device);
      if (!wrong.empty())
        throw OpError(name + ": the value of chip " + std::to_string(reference) + " is taken for those of " +
                      chipsText(devices) + ", but " + chipsText(wrong) + (wrong.size() == 1 ? " differs" : " differ") +
                      " from it");
    }
  }

private:
  std::string name;
  size_t bytes;
  std::map<size_t, std::vector<size_t>> groups;
};

/// For values that were divided again, in a block format.
void requantise(const TensorSpec &spec, std::byte *values) {
  if (!values || !sim::isBlockFormat(spec.dtype) || spec.shape.empty() || spec.shape.back() == 0)
    return;
  const auto row = static_cast<size_t>(spec.shape.back()), rows = static_cast<size_t>(volume(spec.shape)) / row;
  sim::quantiseRows(spec.dtype, reinterpret_cast<uint16_t *>(values), rows, row);
}

/// Runs moves between whole tensors and their parts.
class MoveKernel final : public MeshKernel {
public:
  enum Direction : uint8_t { Extract, Insert };
  MoveKernel(std::vector<Move> moves, Direction direction, const TensorSpec &out,
             std::optional<Agreement> agreement = {})
      : moves(std::move(moves)), direction(direction), out(out), agreement(std::move(agreement)) {}

  std::vector<Need> needs() const override {
    std::vector<Need> needs;
    for (const Move &move : moves)
      needs.push_back({0, move.from, out.distributed ? move.to : everywhere});
    if (agreement)
      agreement->addNeeds(needs);
    return needs;
  }
  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    if (agreement)
      agreement->check(ins[0]);
    for (const Move &move : moves) {
      if (outs[0].size() > 1 && !chips.has(move.to))
        continue;
      std::byte *to = outs[0][outs[0].size() == 1 ? 0 : move.to];
      if (direction == Extract)
        move.region.extract(on(ins[0], move.from), to);
      else
        move.region.insert(on(ins[0], move.from), to);
    }
    for (std::byte *values : outs[0])
      requantise(out, values);
  }

private:
  std::vector<Move> moves;
  Direction direction;
  TensorSpec out;
  std::optional<Agreement> agreement;
};

void expectSameType(const OpCall &call) {
  if (operand(call, 0).dtype != result(call).dtype)
    fail(call, "operand and result are of types " + std::string(toString(operand(call, 0).dtype)) + " and " +
                   std::string(toString(result(call).dtype)) + "; expected the same");
}

//===----------------------------------------------------------------------===//
// distribute_tensor, aggregate_tensor
//===----------------------------------------------------------------------===//

/// The dimension that each mesh axis splits, -1 if it replicates.
std::vector<int64_t> placementsOf(const OpCall &call) {
  const Attribute *list = field(call, "mapper_config", "placements");
  const auto *items = list ? std::get_if<ListAttribute>(&list->value) : nullptr;
  if (!items || items->items.empty())
    fail(call, "attribute 'mapper_config' has no placements");
  std::vector<int64_t> dims;
  for (const Attribute &item : items->items) {
    const auto *placement = std::get_if<StructAttribute>(&item.value);
    const Attribute *type = placement ? field(*placement, "type") : nullptr;
    const auto *kind = type ? std::get_if<EnumAttribute>(&type->value) : nullptr;
    if (!kind || (kind->symbol != "replicate" && kind->symbol != "shard"))
      fail(call, "a placement of 'mapper_config' is neither replicate nor shard");
    if (kind->symbol == "replicate") {
      dims.push_back(-1);
      continue;
    }
    const Attribute *dim = field(*placement, "dim");
    const auto *value = dim ? std::get_if<int64_t>(&dim->value) : nullptr;
    if (!value)
      fail(call, "a shard placement of 'mapper_config' has no dimension");
    dims.push_back(wrapDimension(call, "mapper_config", *value, operand(call, 0).shape.size()));
  }
  return dims;
}

/// The position of each device's part in the whole, axis by axis: outer axes split first.
std::vector<int64_t> startOf(const Mesh &mesh, const std::vector<int64_t> &dims, int64_t position, const Shape &part) {
  std::vector<int64_t> start(part.size(), 0), index(part.size(), 0);
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] >= 0) {
      int64_t &at = index[static_cast<size_t>(dims[axis])];
      at = at * mesh.shape[axis] + mesh.coordinate(position, axis);
    }
  for (size_t d = 0; d < part.size(); ++d)
    start[d] = index[d] * part[d];
  return start;
}

std::unique_ptr<MeshKernel> makeDistribute(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const std::vector<int64_t> dims = placementsOf(call);
  const Mesh mesh = meshOf(call, "mapper_config", dims.size());
  expectSameType(call);
  if (!mesh.whole)
    fail(call, "'mesh_shape_override' leaves devices without a shard");
  Shape part = in.shape;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] >= 0) {
      int64_t &size = part[static_cast<size_t>(dims[axis])];
      size = partOf(call, dims[axis], size, mesh.shape[axis]);
    }
  std::vector<Move> moves;
  Agreement agreement(call);
  for (int64_t i = 0; i < mesh.devices(); ++i) {
    const auto device = static_cast<size_t>(mesh.device(i));
    agreement.expect(0, device);
    moves.push_back({0, device, Region(part, in.shape, startOf(mesh, dims, i, part), storageBytes(in.dtype))});
  }
  return std::make_unique<MoveKernel>(std::move(moves), MoveKernel::Extract, out, std::move(agreement));
}

std::unique_ptr<MeshKernel> makeAggregate(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const Attribute *list = field(call, "composer_config", "dims");
  if (!list)
    fail(call, "attribute 'composer_config' has no dims");
  // A negative dimension, as in shard_dims, is an axis that replicates: its first device represents all, which must
  // have equal values. So does the only one that a mesh_shape_override leaves of an axis.
  const std::vector<int64_t> dims = integerList(call, *list, "dims");
  const Mesh mesh = meshOf(call, "composer_config", dims.size());
  expectSameType(call);
  Shape whole = in.shape;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] >= 0) {
      const auto dim = static_cast<size_t>(wrapDimension(call, "composer_config", dims[axis], whole.size()));
      whole[dim] = volume({whole[dim], mesh.shape[axis]});
    }
  std::vector<Move> moves;
  Agreement agreement(call);
  for (int64_t i = 0; i < mesh.devices(); ++i) {
    int64_t first = i; // where the axes that replicate begin
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (dims[axis] < 0)
        first -= mesh.coordinate(i, axis) * mesh.stride(axis);
    agreement.expect(static_cast<size_t>(mesh.device(first)), static_cast<size_t>(mesh.device(i)));
    if (first == i)
      moves.push_back({static_cast<size_t>(mesh.device(i)), 0,
                       Region(in.shape, whole, startOf(mesh, dims, i, in.shape), storageBytes(in.dtype))});
  }
  const int64_t rows = call.meshShape[0], columns = call.meshShape[1];
  const auto cuts = [&](size_t axis, int64_t size) { return mesh.shape[axis] == 1 || mesh.shape[axis] == size; };
  if (!mesh.whole && cuts(0, rows) && cuts(1, columns))
    for (int64_t device = 0; device < rows * columns; ++device) {
      const int64_t row = mesh.shape[0] == 1 ? 0 : device / columns, column = mesh.shape[1] == 1 ? 0 : device % columns;
      agreement.expect(static_cast<size_t>(row * columns + column), static_cast<size_t>(device));
    }
  return std::make_unique<MoveKernel>(std::move(moves), MoveKernel::Insert, out, std::move(agreement));
}

//===----------------------------------------------------------------------===//
// all_gather, mesh_partition
//===----------------------------------------------------------------------===//

std::unique_ptr<MeshKernel> makeAllGather(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto dim = static_cast<size_t>(dimension(call, "all_gather_dim", in.shape.size()));
  const auto groups = groupsOf(call, call.attributes.get<int64_t>("cluster_axis"));
  expectSameType(call);
  Shape whole = in.shape;
  whole[dim] = volume({whole[dim], static_cast<int64_t>(groups[0].size())});
  std::vector<Move> moves;
  for (const auto &group : groups)
    for (size_t to : group)
      for (size_t i = 0; i < group.size(); ++i) {
        std::vector<int64_t> start(whole.size(), 0);
        start[dim] = static_cast<int64_t>(i) * in.shape[dim];
        moves.push_back({group[i], to, Region(in.shape, whole, start, storageBytes(in.dtype))});
      }
  return std::make_unique<MoveKernel>(std::move(moves), MoveKernel::Insert, out);
}

std::unique_ptr<MeshKernel> makeMeshPartition(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  const auto dim = static_cast<size_t>(dimension(call, "dim", in.shape.size()));
  std::vector<std::vector<size_t>> groups;
  if (const auto *axis = call.attributes.find<int64_t>("cluster_axis")) {
    groups = groupsOf(call, *axis);
  } else {
    groups.emplace_back();
    for (size_t device = 0; device < size_t(call.meshShape[0]) * call.meshShape[1]; ++device)
      groups[0].push_back(device);
  }
  expectSameType(call);
  Shape part = in.shape;
  part[dim] = partOf(call, static_cast<int64_t>(dim), part[dim], static_cast<int64_t>(groups[0].size()));
  std::vector<Move> moves;
  for (const auto &group : groups)
    for (size_t i = 0; i < group.size(); ++i) {
      std::vector<int64_t> start(part.size(), 0);
      start[dim] = static_cast<int64_t>(i) * part[dim];
      moves.push_back({group[i], group[i], Region(part, in.shape, start, storageBytes(in.dtype))});
    }
  return std::make_unique<MoveKernel>(std::move(moves), MoveKernel::Extract, out);
}

//===----------------------------------------------------------------------===//
// point_to_point, collective_permute, all_to_all
//===----------------------------------------------------------------------===//

/// Devices that receive the operand of another one. All others keep the optional output tensor, or have zeros.
class SendKernel final : public MeshKernel {
public:
  SendKernel(const OpCall &call, const std::vector<std::vector<size_t>> &pairs) : bytes(result(call).bytes()) {
    for (const auto &pair : pairs)
      sources[pair[1]] = pair[0];
  }
  std::vector<Need> needs() const override {
    std::vector<Need> needs;
    for (const auto &[to, from] : sources)
      needs.push_back({0, from, to});
    return needs;
  }
  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    for (size_t d = 0; d < outs[0].size(); ++d) {
      if ((outs[0].size() > 1 && !chips.has(d)) || bytes == 0)
        continue;
      const auto found = sources.find(d);
      const std::byte *source = found != sources.end()                           ? on(ins[0], found->second)
                                : ins.size() > 1 && !ins[1].empty() && ins[1][0] ? on(ins[1], d)
                                                                                 : nullptr;
      if (source)
        std::memmove(outs[0][d], source, bytes);
      else
        std::memset(outs[0][d], 0, bytes);
    }
  }

private:
  std::map<size_t, size_t> sources; // by target
  size_t bytes;
};

std::unique_ptr<MeshKernel> makePointToPoint(const OpCall &call) {
  expectSameType(call);
  if (const TensorSpec *output = optionalOperand(call, 1))
    if (output->shape != result(call).shape || output->dtype != result(call).dtype)
      fail(call, "the output tensor has shape " + toString(output->shape) + "; expected that of the result");
  auto device = [&](std::string_view name) {
    const auto coordinate = integers(call, name, 2, 0);
    if (coordinate[0] >= call.meshShape[0] || coordinate[1] >= call.meshShape[1])
      fail(call, "attribute '" + std::string(name) + "' is " + quoted(coordinate) + ", outside of the mesh");
    return static_cast<size_t>(coordinate[0]) * call.meshShape[1] + static_cast<size_t>(coordinate[1]);
  };
  return std::make_unique<SendKernel>(
      call, std::vector<std::vector<size_t>>{{device("sender_coord"), device("receiver_coord")}});
}

std::unique_ptr<MeshKernel> makeCollectivePermute(const OpCall &call) {
  expectSameType(call);
  return std::make_unique<SendKernel>(call, rowsOf(call, "source_target_pairs", 2));
}

/// Device i of a group receives part i of each device, and concatenates the parts.
class AllToAllKernel final : public MeshKernel {
public:
  AllToAllKernel(const OpCall &call, std::vector<std::vector<size_t>> groups, size_t split, size_t joined)
      : groups(std::move(groups)), out(result(call)), bytes(storageBytes(out.dtype)) {
    const Shape &whole = operand(call, 0).shape;
    const auto parts = static_cast<int64_t>(this->groups.empty() ? 1 : this->groups[0].size());
    part = whole;
    part[split] = partOf(call, static_cast<int64_t>(split), whole[split], parts);
    for (int64_t i = 0; i < parts; ++i) {
      std::vector<int64_t> from(whole.size(), 0), to(whole.size(), 0);
      from[split] = i * part[split];
      to[joined] = i * part[joined];
      cut.emplace_back(part, whole, from, bytes);
      put.emplace_back(part, out.shape, to, bytes);
    }
  }
  std::vector<Need> needs() const override { return needsOf(groups); }
  void run(DeviceIns ins, DeviceOuts outs, const sim::Chips &chips) const override {
    std::vector<bool> isIn(outs[0].size());
    std::vector<std::byte> piece(static_cast<size_t>(volume(part)) * bytes);
    for (const auto &group : groups)
      for (size_t i = 0; i < group.size(); ++i) {
        isIn[group[i]] = true;
        if (!chips.has(group[i]))
          continue;
        for (size_t source = 0; source < group.size(); ++source) {
          cut[i].extract(on(ins[0], group[source]), piece.data());
          put[source].insert(piece.data(), outs[0][group[i]]);
        }
        requantise(out, outs[0][group[i]]);
      }
    for (size_t d = 0; d < isIn.size(); ++d)
      if (!isIn[d] && chips.has(d) && out.bytes())
        std::memset(outs[0][d], 0, out.bytes());
  }

private:
  std::vector<std::vector<size_t>> groups;
  TensorSpec out;
  size_t bytes;
  Shape part;
  std::vector<Region> cut, put; // by place in the group
};

std::unique_ptr<MeshKernel> makeAllToAll(const OpCall &call) {
  expectSameType(call);
  const size_t rank = operand(call, 0).shape.size();
  return std::make_unique<AllToAllKernel>(call,
                                          rowsOf(call, "replica_groups", call.attributes.get<int64_t>("split_count")),
                                          static_cast<size_t>(dimension(call, "split_dim", rank)),
                                          static_cast<size_t>(dimension(call, "concat_dim", rank)));
}

} // namespace

std::vector<OpInfo> collectiveOps() {
  std::vector<OpInfo> ops = {
      {"ttnn.distribute_tensor", nullptr, makeDistribute}, {"ttnn.aggregate_tensor", nullptr, makeAggregate},
      {"ttnn.all_gather", nullptr, makeAllGather},         {"ttnn.mesh_partition", nullptr, makeMeshPartition},
      {"ttnn.point_to_point", nullptr, makePointToPoint},  {"ttnn.collective_permute", nullptr, makeCollectivePermute},
      {"ttnn.all_to_all", nullptr, makeAllToAll},
  };
  for (OpInfo &op : reducingCollectiveOps())
    ops.push_back(std::move(op));
  return ops;
}

} // namespace tt::ttnn
