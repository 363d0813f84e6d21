//===- shapes.cpp - shapes of results ---------------------------------------===//

#include "api/shapes.h"
#include "core/op.h"

#include <algorithm>
#include <cmath>

namespace tt::ttnn {

//===----------------------------------------------------------------------===//
// What a rule asks
//===----------------------------------------------------------------------===//

void ShapeQuery::fail(const std::string &message) const {
  throw OpError("ttnn." + std::string(callable.function->name) + ": " + message);
}

void ShapeQuery::fail(std::string_view ods, const std::string &message) const {
  const api::Parameter *parameter = callable.function->findOds(ods);
  fail(std::string(parameter ? parameter->name : ods) + ": " + message);
}

const Shape *ShapeQuery::optionalShape(size_t index) const {
  return index < ins.size() && ins[index] ? &ins[index]->shape : nullptr;
}

const Shape &ShapeQuery::shape(size_t index) const {
  if (const Shape *found = optionalShape(index))
    return *found;
  const auto &names = callable.operands;
  if (names.empty())
    fail("operand " + std::to_string(index) + " is missing");
  fail(names[std::min(index, names.size() - 1)]->ods, "the tensor is missing");
}

std::optional<int64_t> ShapeQuery::optionalInteger(std::string_view ods) const {
  for (const auto &[name, attribute] : attributes.all())
    if (name == ods) {
      if (const auto *value = std::get_if<int64_t>(&attribute.value))
        return *value;
      fail(ods, "expected an integer");
    }
  return std::nullopt;
}

int64_t ShapeQuery::integer(std::string_view ods) const {
  if (const auto value = optionalInteger(ods))
    return *value;
  fail(ods, "the integer is missing");
}

bool ShapeQuery::boolean(std::string_view ods) const {
  const bool *value = attributes.find<bool>(ods);
  return value && *value;
}

const std::vector<int64_t> &ShapeQuery::integers(std::string_view ods) const {
  if (const auto *values = attributes.find<std::vector<int64_t>>(ods))
    return *values;
  fail(ods, "expected a list of integers");
}

size_t ShapeQuery::dimension(std::string_view ods, int64_t value, size_t rank) const {
  const auto r = static_cast<int64_t>(rank);
  if (value < -r || value >= r)
    fail(ods, "dimension " + std::to_string(value) + " of a tensor of rank " + std::to_string(r));
  return static_cast<size_t>(value < 0 ? value + r : value);
}

int64_t ShapeQuery::product(std::string_view ods, int64_t a, int64_t b) const {
  int64_t result = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result))
    fail(ods, "a size of " + std::to_string(a) + " times " + std::to_string(b));
  return result;
}

namespace shapes {
namespace {

using Shapes = std::vector<Shape>;

/// `from` joins what other operands broadcast to; the dimensions are aligned at the end.
void broadcastInto(const ShapeQuery &query, Shape &shape, std::span<const int64_t> from, const Shape &whole) {
  if (from.size() > shape.size())
    shape.insert(shape.begin(), from.size() - shape.size(), 1);
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t &size = shape[d + shape.size() - from.size()];
    if (size != from[d] && size != 1 && from[d] != 1)
      query.fail("shapes " + toString(query.shape(0)) + " and " + toString(whole) + " do not broadcast");
    size = size == 1 ? from[d] : size;
  }
}

/// The dimension `dim` with another size.
Shape resized(Shape shape, size_t dim, int64_t size) {
  shape[dim] = size;
  return shape;
}

/// Devices along a mesh axis.
int64_t clusterSize(const ShapeQuery &query, std::string_view ods, int64_t axis) {
  if (axis < 0 || axis > 1)
    query.fail(ods, "cluster axis " + std::to_string(axis) + "; expected 0 (rows vary) or 1");
  return query.mesh.size() == 2 ? query.mesh[static_cast<size_t>(axis)] : 1;
}

int64_t part(const ShapeQuery &query, std::string_view ods, int64_t size, int64_t parts) {
  if (parts < 1 || size % parts != 0)
    query.fail(ods,
               "a size of " + std::to_string(size) + " cannot be cut into " + std::to_string(parts) + " equal parts");
  return size / parts;
}

//===- Slices -------------------------------------------------------------------===//

Shape sliced(const ShapeQuery &query, std::span<const int64_t> begins, std::span<const int64_t> ends,
             std::span<const int64_t> steps) {
  Shape shape = query.shape(0);
  const auto check = [&](std::string_view ods, std::span<const int64_t> values) {
    if (values.size() != shape.size())
      query.fail(ods, std::to_string(values.size()) + " numbers for a tensor of rank " + std::to_string(shape.size()));
  };
  check("begins", begins);
  check("ends", ends);
  if (!steps.empty())
    check("step", steps);
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t step = steps.empty() ? 1 : steps[d];
    if (step < 1)
      query.fail("step", "a step of " + std::to_string(step) + "; expected at least 1");
    const int64_t begin = begins[d] < 0 ? begins[d] + shape[d] : begins[d];
    const int64_t end = std::min(ends[d] < 0 ? ends[d] + shape[d] : ends[d], shape[d]);
    if (begin < 0 || begin > shape[d])
      query.fail("begins", std::to_string(begins[d]) + " in a dimension of size " + std::to_string(shape[d]));
    shape[d] = end <= begin ? 0 : (end - begin - 1) / step + 1;
  }
  return shape;
}

/// Empty: steps of 1.
std::span<const int64_t> stepsOf(const ShapeQuery &query) {
  const auto *steps = query.attributes.find<std::vector<int64_t>>("step");
  return steps ? std::span<const int64_t>(*steps) : std::span<const int64_t>();
}

/// The values of a small integer tensor, where they are at hand.
std::vector<int64_t> numbersOf(const ShapeQuery &query, size_t index, std::string_view ods) {
  if (index >= query.values.size() || !query.values[index])
    query.fail(ods, "the shape of the result follows from values that are not known yet");
  const Tensor &tensor = query.values[index];
  std::vector<int64_t> numbers;
  const int64_t count = volume(tensor.shape());
  const auto read = [&]<class T>(T) {
    const auto *data = reinterpret_cast<const T *>(tensor.data());
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<int64_t>(data[i]));
  };
  if (count > 0)
    switch (storageType(tensor.dtype())) {
    case StorageType::I32:
      read(int32_t());
      break;
    case StorageType::U32:
      read(uint32_t());
      break;
    case StorageType::U16:
      read(uint16_t());
      break;
    case StorageType::U8:
      read(uint8_t());
      break;
    default:
      query.fail(ods, "expected a tensor of integers; found " + std::string(toString(tensor.dtype())));
    }
  return numbers;
}

} // namespace

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

Shapes nothing(const ShapeQuery &) { return {}; }
Shapes sameAsFirst(const ShapeQuery &query) { return {query.shape(0)}; }
Shapes likeIndex(const ShapeQuery &query) { return {query.shape(1)}; }
Shapes toDevice(const ShapeQuery &query) { return sameAsFirst(query); }
Shapes fromDevice(const ShapeQuery &query) { return sameAsFirst(query); }
Shapes loadTensor(const ShapeQuery &query) { query.fail("the shape is in the file"); }

Shapes elementwise(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  for (size_t i = 1; i < query.ins.size(); ++i)
    if (const Shape *other = query.optionalShape(i))
      broadcastInto(query, shape, *other, *other);
  return {shape};
}

Shapes creation(const ShapeQuery &query) {
  const std::string_view ods = query.callable.function->findOds("size") ? "size" : "shape";
  const Shape &shape = query.integers(ods);
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }))
    query.fail(ods, "negative size in " + toString(shape));
  return {shape};
}

Shapes arange(const ShapeQuery &query) {
  const int64_t start = query.integer("start"), end = query.integer("end"), step = query.integer("step");
  if (step == 0)
    query.fail("step", "a step of 0");
  const double count = std::ceil((static_cast<double>(end) - static_cast<double>(start)) / static_cast<double>(step));
  return {{static_cast<int64_t>(std::clamp(count, 0.0, 0x1p53))}};
}

Shapes reduction(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const std::string_view ods = query.callable.function->findOds("dim_arg") ? "dim_arg" : "dim";
  std::vector<int64_t> dims;
  if (const auto *several = query.attributes.find<std::vector<int64_t>>(ods))
    dims = *several;
  else if (const auto one = query.optionalInteger(ods))
    dims = {*one};
  std::vector<bool> reduced(in.size(), dims.empty());
  for (int64_t dim : dims)
    reduced[query.dimension(ods, dim, in.size())] = true;
  Shape shape;
  for (size_t d = 0; d < in.size(); ++d)
    if (!reduced[d])
      shape.push_back(in[d]);
    else if (query.boolean("keep_dim"))
      shape.push_back(1);
  return {shape};
}

Shapes matmul(const ShapeQuery &query) {
  Shape a = query.shape(0), b = query.shape(1);
  if (a.empty() || b.empty())
    query.fail("operands have shapes " + toString(a) + " and " + toString(b) + "; expected at least one dimension");
  const bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  if (vectorA)
    a.insert(a.begin(), 1);
  if (vectorB)
    b.push_back(1);
  const bool transposeA = query.boolean("transpose_a") && !vectorA,
             transposeB = query.boolean("transpose_b") && !vectorB;
  const int64_t m = a[a.size() - (transposeA ? 1 : 2)], n = b[b.size() - (transposeB ? 2 : 1)];
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  Shape shape = a;
  broadcastInto(query, shape, b, query.shape(1));
  if (!vectorA)
    shape.push_back(m);
  if (!vectorB)
    shape.push_back(n);
  // A bias may have more dimensions than the product.
  if (const Shape *bias = query.optionalShape(2))
    broadcastInto(query, shape, *bias, *bias);
  return {shape};
}

Shapes upsample(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  if (in.size() != 4)
    query.fail("input", "shape " + toString(in) + "; expected [batch, height, width, channels]");
  std::vector<int64_t> scale;
  if (const auto *both = query.attributes.find<std::vector<int64_t>>("scale_factor"))
    scale = *both;
  else
    scale = {query.integer("scale_factor")};
  if (scale.empty() || scale.size() > 2)
    query.fail("scale_factor", "expected one or two integers; found " + quoted(scale));
  return {{in[0], query.product("scale_factor", in[1], scale.front()),
           query.product("scale_factor", in[2], scale.back()), in[3]}};
}

Shapes reshape(const ShapeQuery &query) {
  Shape shape = query.integers("shape");
  const int64_t elements = volume(query.shape(0));
  const auto open = std::ranges::find(shape, -1);
  if (open != shape.end()) {
    int64_t known = 1;
    for (auto it = shape.begin(); it != shape.end(); ++it)
      known = it == open ? known : query.product("shape", known, *it);
    if (known == 0 || elements % known != 0)
      query.fail("shape", toString(query.integers("shape")) + " for " + std::to_string(elements) + " elements of " +
                              toString(query.shape(0)));
    *open = elements / known;
  }
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }) || volume(shape) != elements)
    query.fail("shape", toString(shape) + " has not the " + std::to_string(elements) + " elements of " +
                            toString(query.shape(0)));
  return {shape};
}

Shapes permute(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const auto &order = query.integers("permutation");
  std::vector<bool> seen(in.size(), false);
  Shape shape;
  for (int64_t dim : order) {
    const size_t d = query.dimension("permutation", dim, in.size());
    if (seen[d])
      query.fail("permutation", "dimension " + std::to_string(dim) + " twice in " + quoted(order));
    seen[d] = true;
    shape.push_back(in[d]);
  }
  if (order.size() != in.size())
    query.fail("permutation", quoted(order) + " for a tensor of rank " + std::to_string(in.size()));
  return {shape};
}

Shapes transpose(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  std::swap(shape[query.dimension("dim0", shape.size())], shape[query.dimension("dim1", shape.size())]);
  return {shape};
}

Shapes slice(const ShapeQuery &query) {
  return {sliced(query, query.integers("begins"), query.integers("ends"), stepsOf(query))};
}

Shapes sliceDynamic(const ShapeQuery &query) {
  return {sliced(query, numbersOf(query, 1, "begins"), numbersOf(query, 2, "ends"), stepsOf(query))};
}

Shapes repeat(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const auto &times = query.integers("repeat_dims");
  if (times.size() > shape.size())
    shape.insert(shape.begin(), times.size() - shape.size(), 1);
  for (size_t d = 0; d < times.size(); ++d) {
    int64_t &size = shape[d + shape.size() - times.size()];
    size = query.product("repeat_dims", size, times[d]);
  }
  return {shape};
}

Shapes repeatInterleave(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const size_t dim = query.dimension("dim", in.size());
  return {resized(in, dim, query.product("repeats", in[dim], query.integer("repeats")))};
}

Shapes concat(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const size_t dim = query.dimension("dim", shape.size());
  for (size_t i = 1; i < query.ins.size(); ++i) {
    const Shape &other = query.shape(i);
    if (other.size() != shape.size() || resized(other, dim, shape[dim]) != shape)
      query.fail("inputs", "tensors of shapes " + toString(query.shape(0)) + " and " + toString(other) +
                               " cannot be joined along dimension " + std::to_string(dim));
    if (__builtin_add_overflow(shape[dim], other[dim], &shape[dim]))
      query.fail("inputs", "too large together");
  }
  return {shape};
}

Shapes pad(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const auto &padding = query.integers("padding");
  if (padding.size() != 2 * shape.size())
    query.fail("padding", std::to_string(padding.size()) + " numbers for a tensor of rank " +
                              std::to_string(shape.size()) + "; expected low and high of each dimension");
  for (size_t d = 0; d < shape.size(); ++d)
    for (const int64_t more : {padding[2 * d], padding[2 * d + 1]}) {
      if (more < 0 || more > INT32_MAX)
        query.fail("padding", quoted(padding) + "; expected sizes of at least 0");
      shape[d] += more;
    }
  return {shape};
}

Shapes embedding(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const Shape &weight = query.shape(1);
  if (weight.empty())
    query.fail("weight", "a tensor of rank 0; expected rows");
  shape.push_back(weight.back());
  return {shape};
}

Shapes embeddingBackward(const ShapeQuery &query) { return {query.shape(1)}; }

Shapes valuesAndIndices(const ShapeQuery &query) { return Shapes(2, query.shape(0)); }

Shapes topk(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const size_t dim = query.dimension("dim", in.size());
  const int64_t k = query.integer("k");
  if (k < 0 || k > in[dim])
    query.fail("k", std::to_string(k) + " of a dimension of size " + std::to_string(in[dim]));
  return Shapes(2, resized(in, dim, k));
}

Shapes splitHeads(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const Shape *other = query.optionalShape(1);
  const int64_t heads = query.integer("num_heads"), keyHeads = query.optionalInteger("num_kv_heads").value_or(heads);
  if (in.size() != 3)
    query.fail("input_tensor", "shape " + toString(in) + "; expected [batch, length, size of all heads]");
  if (other && other->size() != 3)
    query.fail("kv_input_tensor", "shape " + toString(*other) + "; expected [batch, length, size of all heads]");
  if (heads < 1 || heads > INT32_MAX)
    query.fail("num_heads", std::to_string(heads) + " heads");
  if (keyHeads < 1 || keyHeads > INT32_MAX)
    query.fail("num_kv_heads", std::to_string(keyHeads) + " heads");
  const int64_t parts = other ? heads : heads + 2 * keyHeads;
  const int64_t size = part(query, "input_tensor", in[2], parts), keyLength = other ? (*other)[1] : in[1];
  const Shape key = {in[0], keyHeads, keyLength, size};
  return {
      {in[0], heads, in[1], size}, query.boolean("transpose_key") ? Shape{in[0], keyHeads, size, keyLength} : key, key};
}

Shapes latentAttention(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const int64_t size = query.integer("head_dim_v");
  if (shape.size() != 4)
    query.fail("query", "shape " + toString(shape) + "; expected four dimensions");
  if (size < 1 || size > shape[3])
    query.fail("head_dim_v", std::to_string(size) + " of " + std::to_string(shape[3]) + " elements");
  shape[3] = size;
  return {shape};
}

Shapes decodedHeads(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const int64_t heads = query.integer("num_heads"), keyHeads = query.optionalInteger("num_kv_heads").value_or(heads);
  if (in.size() != 4)
    query.fail("input", "shape " + toString(in) + "; expected [1, 1, batch, size of all heads]");
  for (const auto &[ods, count] : {std::pair("num_heads", heads), std::pair("num_kv_heads", keyHeads)})
    if (count < 1 || count > INT32_MAX)
      query.fail(ods, std::to_string(count) + " heads");
  const int64_t users = query.optionalInteger("slice_size").value_or(in[2]), size = in[3] / (heads + 2 * keyHeads);
  if (users < 0)
    query.fail("slice_size", std::to_string(users) + " users");
  const Shape key = {1, users, keyHeads, size};
  return {{1, users, heads, size}, key, key};
}

Shapes joinDecodedHeads(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const int64_t heads = query.integer("num_heads");
  if (in.size() != 4)
    query.fail("input", "shape " + toString(in) + "; expected [1, batch, heads, size]");
  if (heads < 1 || heads > in[2])
    query.fail("num_heads", std::to_string(heads) + " of " + std::to_string(in[2]) + " heads");
  return {{1, 1, in[1], query.product("num_heads", heads, in[3])}};
}

/// Sums of rows, each in the first column of a tile.
static Shapes rowSums(const ShapeQuery &query, int64_t sums) {
  Shape shape = query.shape(0);
  if (shape.empty())
    query.fail("input", "a scalar; expected at least one dimension");
  shape.back() = 32 * sums;
  return {shape};
}
Shapes rowSquares(const ShapeQuery &query) { return rowSums(query, 1); }
Shapes rowMoments(const ShapeQuery &query) { return rowSums(query, 2); }

Shapes concatenateHeads(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  if (in.size() != 4)
    query.fail("input", "shape " + toString(in) + "; expected [batch, heads, length, size]");
  return {{in[0], in[2], query.product("input", in[1], in[3])}};
}

Shapes nlpConcatHeads(const ShapeQuery &query) {
  const Shape joined = concatenateHeads(query).front();
  return {{joined[0], 1, joined[1], joined[2]}};
}

//===- The mesh -----------------------------------------------------------------===//

Shapes allGather(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const size_t dim = query.dimension("all_gather_dim", in.size());
  const int64_t devices = clusterSize(query, "cluster_axis", query.integer("cluster_axis"));
  return {resized(in, dim, query.product("all_gather_dim", in[dim], devices))};
}

Shapes reduceScatter(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const size_t dim = query.dimension("scatter_dim", in.size());
  const int64_t devices = clusterSize(query, "cluster_axis", query.integer("cluster_axis"));
  return {resized(in, dim, part(query, "scatter_dim", in[dim], devices))};
}

Shapes meshPartition(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  const size_t dim = query.dimension("dim", in.size());
  int64_t devices = query.mesh.size() == 2 ? int64_t(query.mesh[0]) * query.mesh[1] : 1;
  if (const auto axis = query.optionalInteger("cluster_axis"))
    devices = clusterSize(query, "cluster_axis", *axis);
  return {resized(in, dim, part(query, "dim", in[dim], devices))};
}

namespace {

/// Devices along axis `axis` of `axes`, where a config may give the mesh another shape.
int64_t axisSize(const ShapeQuery &query, const StructAttribute &config, size_t axis, size_t axes) {
  if (const Attribute *shape = field(config, "mesh_shape_override"))
    if (const auto *sizes = std::get_if<std::vector<int64_t>>(&shape->value))
      return axis < sizes->size() ? (*sizes)[axis] : 1;
  if (axes == 1)
    return query.mesh.size() == 2 ? int64_t(query.mesh[0]) * query.mesh[1] : 1;
  return axis < query.mesh.size() ? query.mesh[axis] : 1;
}

const StructAttribute &config(const ShapeQuery &query, std::string_view ods) {
  if (const auto *value = query.attributes.find<StructAttribute>(ods))
    return *value;
  query.fail(ods, "the config is missing");
}

} // namespace

Shapes distribute(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const StructAttribute &mapper = config(query, "mapper_config");
  const Attribute *placements = field(mapper, "placements");
  const auto *list = placements ? std::get_if<ListAttribute>(&placements->value) : nullptr;
  if (!list)
    query.fail("mapper_config", "expected placements");
  for (size_t axis = 0; axis < list->items.size(); ++axis) {
    const auto *placement = std::get_if<StructAttribute>(&list->items[axis].value);
    const Attribute *dim = placement ? field(*placement, "dim") : nullptr;
    if (!dim)
      continue;
    const auto *value = std::get_if<int64_t>(&dim->value);
    if (!value)
      query.fail("mapper_config", "expected an integer as the dimension of a placement");
    int64_t &size = shape[query.dimension("mapper_config", *value, shape.size())];
    size = part(query, "mapper_config", size, axisSize(query, mapper, axis, list->items.size()));
  }
  return {shape};
}

Shapes aggregate(const ShapeQuery &query) {
  Shape shape = query.shape(0);
  const StructAttribute &composer = config(query, "composer_config");
  const Attribute *found = field(composer, "dims");
  const auto *dims = found ? std::get_if<std::vector<int64_t>>(&found->value) : nullptr;
  if (!dims)
    query.fail("composer_config", "expected dims");
  for (size_t axis = 0; axis < dims->size(); ++axis)
    if ((*dims)[axis] >= 0) {
      int64_t &size = shape[query.dimension("composer_config", (*dims)[axis], shape.size())];
      size = query.product("composer_config", size, axisSize(query, composer, axis, dims->size()));
    }
  return {shape};
}

} // namespace shapes
} // namespace tt::ttnn
