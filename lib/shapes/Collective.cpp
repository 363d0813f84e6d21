//===- Collective.cpp - ops across the chips of a mesh --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <algorithm>
#include <utility>

namespace tt::shapes {

std::optional<int64_t> chipsAlong(const Op &op, std::string_view name) {
  const auto axis = optionalInteger(op, name);
  const auto axes = static_cast<int64_t>(op.mesh().size());
  if (axis && axes && (*axis < 0 || *axis >= axes))
    failAttribute(op, name, "is ", *axis, ", but the mesh is ", op.mesh());
  // Meshes have rows and columns.
  if (axis && (*axis < 0 || *axis > 1))
    failAttribute(op, name, "is ", *axis, "; expected 0 or 1");
  if (op.mesh().empty())
    return std::nullopt;
  return axis ? op.mesh()[static_cast<size_t>(*axis)] : volume(op, op.mesh());
}

namespace {

/// `larger` equals `smaller` except in dimension `dim`, where it is a multiple: all that is known about a declared
/// result without a mesh.
void checkMultiple(const Op &op, View smaller, View larger, size_t dim) {
  if (smaller.size() != larger.size() || !equal(resized(smaller, dim, larger[dim]), larger))
    fail(op, "has input and result of shapes ", smaller, " and ", larger, "; they may differ only in dimension ", dim);
  const int64_t small = smaller[dim], large = larger[dim];
  if (small == 0 ? large != 0 : large % small != 0)
    fail(op, "dimension ", dim, " has sizes ", small, " and ", large, "; expected a multiple, one part per chip");
}

[[noreturn]] void failWithoutMesh(const Op &op) {
  fail(op,
       "has a result that depends on the mesh, which the module does not tell; set ttcore.meshes on it, or give the "
       "result type");
}

/// A dimension in equal parts.
int64_t part(const Op &op, size_t dim, int64_t size, int64_t parts, std::string_view before, std::string_view after) {
  if (parts < 1 || size % parts != 0)
    fail(op, "dimension ", dim, " of size ", size, " does not divide ", before, parts, after);
  return size / parts;
}

/// Values of chips can be reduced by kinds that do not need their number.
void checkReduction(const Op &op) {
  static constexpr std::string_view possible[] = {"sum", "max", "min", "prod"};
  const Attribute found = op.attribute("reduce_type");
  if (found.kind == Attribute::Kind::Text &&
      std::find(std::begin(possible), std::end(possible), found.text) == std::end(possible))
    failAttribute(op, "reduce_type", "is ", found.text, "; expected sum, max, min or prod");
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

void allGather(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t dim = dimension(op, "all_gather_dim", input.size());
  if (const auto chips = chipsAlong(op, "cluster_axis"))
    return results.push_back(resized(input, dim, sizeOr(op, dim, multiply(input[dim], *chips))));
  if (op.declared.empty())
    failWithoutMesh(op);
  checkMultiple(op, input, op.declared[0], dim);
  results.push_back(Sizes(op.declared[0]));
}

void scatterOverMesh(const Op &op, Results &results, std::string_view name) {
  checkReduction(op);
  const View input = shapeOf(op, "input");
  const size_t dim = dimension(op, name, input.size());
  if (const auto chips = chipsAlong(op, "cluster_axis"))
    return results.push_back(resized(input, dim, part(op, dim, input[dim], *chips, "among ", " chips")));
  if (op.declared.empty())
    failWithoutMesh(op);
  checkMultiple(op, op.declared[0], input, dim);
  results.push_back(Sizes(op.declared[0]));
}
void reduceScatter(const Op &op, Results &results) { scatterOverMesh(op, results, "scatter_dim"); }
void meshPartition(const Op &op, Results &results) { scatterOverMesh(op, results, "dim"); }

void allReduce(const Op &op, Results &results) {
  checkReduction(op);
  chipsAlong(op, "cluster_axis");
  results.push_back(Sizes(shapeOf(op, "input")));
}

//===----------------------------------------------------------------------===//
// Between named chips
//===----------------------------------------------------------------------===//

enum class Chips : uint8_t { Pairs, Groups, FullGroups }; // -1 in a group that is not full stands for none

/// Chips in rows of `columns` (0: any number), or one row after another: distinct ones of the mesh, over all groups, or
/// as sources and as targets.
void checkChips(const Op &op, std::string_view name, Chips kind, int64_t columns, std::string_view expected) {
  const bool eachColumn = kind == Chips::Pairs;
  const Attribute found = op.attribute(name);
  const int64_t width = found.columns ? found.columns : columns;
  // There is at least one full group: chips outside of all groups would have no values.
  if (found.kind != Attribute::Kind::Integers || width < 1 || (columns && width != columns) ||
      (kind == Chips::FullGroups && found.integers.empty()) || found.integers.size() % static_cast<size_t>(width) != 0)
    failAttribute(op, name, "is no list of ", expected);
  const int64_t chips = op.mesh().empty() ? INT64_MAX : volume(op, op.mesh());
  const size_t step = eachColumn ? static_cast<size_t>(width) : 1;
  for (size_t first = 0; first < step; ++first) {
    Sizes column;
    for (size_t i = first; i < found.integers.size(); i += step)
      if (kind != Chips::Groups || found.integers[i] != -1)
        column.push_back(found.integers[i]);
    std::sort(column.begin(), column.end());
    const std::string_view what = !eachColumn ? "chip" : first == 0 ? "source" : "target";
    const auto twice = std::adjacent_find(column.begin(), column.end());
    if (twice != column.end())
      failAttribute(op, name, "has ", what, " ", *twice, " twice");
    if (!column.empty() && column[0] < 0)
      failAttribute(op, name, "has ", what, " ", column[0], "; expected 0 or more");
    if (!column.empty() && column.back() >= chips)
      failAttribute(op, name, "has ", what, " ", column.back(), "; the mesh ", op.mesh(), " has chips 0 to ",
                    chips - 1);
  }
}

void allToAll(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t split = dimension(op, "split_dim", input.size()), joined = dimension(op, "concat_dim", input.size());
  const int64_t count = integer(op, "split_count");
  checkChips(op, "replica_groups", Chips::FullGroups, count,
             "groups of " + std::to_string(count) + " chips, as 'split_count' says");
  Sizes shape = resized(input, split, part(op, split, input[split], count, "into ", " parts"));
  shape[joined] = sizeOr(op, joined, multiply(shape[joined], count));
  results.push_back(shape);
}

void collectivePermute(const Op &op, Results &results) {
  checkChips(op, "source_target_pairs", Chips::Pairs, 2, "pairs of chips");
  results.push_back(Sizes(shapeOf(op, "input")));
}

void collectiveBroadcast(const Op &op, Results &results) {
  checkChips(op, "replica_groups", Chips::Groups, 0, "groups of chips");
  results.push_back(Sizes(shapeOf(op, "input")));
}

void pointToPoint(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  for (const std::string_view name : {"sender_coord", "receiver_coord"}) {
    const Sizes coordinate = integers(op, name);
    bool inside = coordinate.size() == 2;
    for (size_t axis = 0; axis < coordinate.size() && inside; ++axis)
      inside = coordinate[axis] >= 0 && (op.mesh().size() != 2 || coordinate[axis] < op.mesh()[axis]);
    if (!inside)
      failAttribute(op, name, "is ", list(coordinate), "; expected row and column of a chip",
                    op.mesh().empty() ? std::string() : " of the mesh " + op.text(op.mesh()));
  }
  expectShape(op, "optional_output_tensor", input);
  results.push_back(Sizes(input));
}

//===----------------------------------------------------------------------===//
// Whole tensors and their parts
//===----------------------------------------------------------------------===//

void meshShard(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const std::string_view type = op.attribute("shard_type").text;
  const Attribute direction = op.attribute("shard_direction");
  if (type == "replicate" || type == "maximal")
    return results.push_back(Sizes(input));
  // Values of an argument that no axis splits: programs have one number for all dimensions, or none.
  const auto isAll = [](const Sizes &numbers, int64_t value) {
    return std::all_of(numbers.begin(), numbers.end(), [value](int64_t each) { return each == value; });
  };
  if (type == "identity" && isAll(integers(op, "shard_dims"), -1) && isAll(integers(op, "shard_shape"), 1))
    return results.push_back(Sizes(input));
  const Sizes counts = integers(op, "shard_shape", input.size());
  const auto rank = static_cast<int64_t>(input.size());
  Sizes shape;
  // Two axes may split one dimension, rows first.
  for (const int64_t dim : integers(op, "shard_dims")) {
    if (dim == -1)
      continue;
    if (dim < 0 || dim >= rank)
      failAttribute(op, "shard_dims", "has ", dim, "; expected -1 to ", rank - 1);
  }
  for (size_t d = 0; d < input.size(); ++d) {
    if (counts[d] < 1)
      failAttribute(op, "shard_shape", "is ", counts[d], " for dimension ", d, "; expected 1 or more");
    shape.push_back(direction.text == "full_to_shard" ? part(op, d, input[d], counts[d], "into ", " shards")
                                                      : sizeOr(op, d, multiply(input[d], counts[d])));
  }
  results.push_back(shape);
}

/// Parts along each axis of the mesh, or of the shape in the config; nothing if no mesh is known.
std::optional<Sizes> axesOf(const Op &op, std::string_view overrideName, size_t axes) {
  if (auto sizes = optionalIntegers(op, overrideName); sizes && !sizes->empty()) {
    for (const int64_t size : *sizes)
      if (size < 1)
        failAttribute(op, overrideName, "has ", size, "; expected 1 or more");
    if (sizes->size() != axes)
      failAttribute(op, overrideName, "has ", sizes->size(), " sizes; expected ", axes);
    return sizes;
  }
  if (op.mesh().empty())
    return std::nullopt;
  if (axes == op.mesh().size())
    return Sizes(op.mesh());
  if (axes == 1)
    return Sizes{volume(op, op.mesh())};
  fail(op, "has ", axes, " mesh axes; expected 1, or 2 as the mesh ", op.mesh(), " has");
}

/// Checks parts if the mesh is unknown to `axesOf`: `whole` equals `parts` except in split `dims`, where it is a
/// multiple.
void checkParts(const Op &op, View whole, View parts, const Sizes &isCut) {
  if (whole.size() != parts.size())
    fail(op, "has input and result of ranks ", shapeOf(op, "input").size(), " and ", op.declared[0].size(),
         "; expected the same");
  for (size_t d = 0; d < whole.size(); ++d)
    if (whole[d] != parts[d] && !(isCut[d] && parts[d] > 0 && whole[d] % parts[d] == 0))
      fail(op, "dimension ", d, " has sizes ", whole[d], " whole and ", parts[d], " per device; ",
           isCut[d] ? "expected a multiple" : "it is not distributed");
}

/// `cuts`: the dimension that each mesh axis splits, or joins (none if it is negative, as in shard_dims).
void distributeOrJoin(const Op &op, Results &results, std::string_view config, std::string_view cuts, bool join) {
  const View input = shapeOf(op, "input");
  const Sizes dims = integers(op, cuts);
  const auto rank = static_cast<int64_t>(input.size());
  if (dims.empty())
    failAttribute(op, config, "names no axis of the mesh");
  const auto counts = axesOf(op, std::string(config) + ".mesh_shape_override", dims.size());
  Sizes shape(input), isCut(input.size(), 0);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == noDimension || (join && dims[axis] < 0))
      continue;
    if (dims[axis] < -rank || dims[axis] >= rank)
      failAttribute(op, config, "names dimension ", dims[axis], "; the tensor has rank ", rank);
    const size_t d = dimension(op, config, dims[axis], input.size());
    isCut[d] = 1;
    if (counts)
      shape[d] = join ? sizeOr(op, d, multiply(shape[d], (*counts)[axis]))
                      : part(op, d, shape[d], (*counts)[axis], "among ", " chips");
  }
  if (counts)
    return results.push_back(shape);
  if (op.declared.empty())
    failWithoutMesh(op);
  join ? checkParts(op, op.declared[0], input, isCut) : checkParts(op, input, op.declared[0], isCut);
  results.push_back(Sizes(op.declared[0]));
}

void distribute(const Op &op, Results &results) {
  distributeOrJoin(op, results, "mapper_config", "mapper_config.placements", false);
}
void aggregate(const Op &op, Results &results) {
  distributeOrJoin(op, results, "composer_config", "composer_config.dims", true);
}

} // namespace

std::span<const Rule> meshRules() {
  static constexpr Rule rows[] = {
      {"aggregate", aggregate},
      {"allGather", allGather},
      {"allReduce", allReduce},
      {"allToAll", allToAll},
      {"collectiveBroadcast", collectiveBroadcast},
      {"collectivePermute", collectivePermute},
      {"distribute", distribute},
      {"meshPartition", meshPartition},
      {"meshShard", meshShard},
      {"pointToPoint", pointToPoint},
      {"reduceScatter", reduceScatter},
  };
  return rows;
}

} // namespace tt::shapes
