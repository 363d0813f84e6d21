//===- DataMovement.cpp - data movement and creation ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <limits>
#include <utility>

namespace tt::shapes {
namespace {

//===----------------------------------------------------------------------===//
// The same values in another order
//===----------------------------------------------------------------------===//

void reshape(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Sizes shape = integers(op, "shape");
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < 0)
      failAttribute(op, "shape", "has ", shape[i], " at position ", i, "; every size must be given");
  const int64_t from = volume(op, input), to = volume(op, shape);
  if (from != to)
    failAttribute(op, "shape", "is ", shape, " with ", to, " elements, but the input is ", input, " with ", from);
  results.push_back(shape);
}

void permute(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const auto rank = static_cast<int64_t>(input.size());
  const Sizes order = integers(op, "permutation");
  if (order.size() != input.size())
    failAttribute(op, "permutation", "has ", order.size(), " dimensions, but the input has rank ", rank);
  Sizes seen(input.size(), 0), shape;
  for (const int64_t dim : order) {
    if (dim < 0 || dim >= rank)
      failAttribute(op, "permutation", "has ", dim, "; expected 0 to ", rank - 1);
    if (std::exchange(seen[static_cast<size_t>(dim)], 1))
      failAttribute(op, "permutation", "has ", dim, " twice");
    shape.push_back(input[static_cast<size_t>(dim)]);
  }
  results.push_back(shape);
}

void transpose(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  const size_t first = dimension(op, "dim0", shape.size()), second = dimension(op, "dim1", shape.size());
  std::swap(shape[first], shape[second]);
  results.push_back(shape);
}

void reverse(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  Sizes seen(input.size(), 0);
  for (const int64_t dim : integers(op, "dimensions")) {
    const size_t at = dimension(op, "dimensions", dim, input.size());
    if (std::exchange(seen[at], 1))
      failAttribute(op, "dimensions", "names dimension ", at, " twice");
  }
  results.push_back(Sizes(input));
}

void roll(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Sizes shifts = integers(op, "shifts"), dims = integers(op, "dims");
  if (shifts.size() != dims.size())
    failAttribute(op, "shifts", "has ", shifts.size(), " numbers; expected one per number of 'dims', ", dims.size());
  for (const int64_t dim : dims)
    dimension(op, "dims", dim, input.size());
  results.push_back(Sizes(input));
}

void squeeze(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  const size_t dim = dimension(op, "dim", shape.size());
  if (shape[dim] != 1)
    fail(op, "dimension ", dim, " has size ", shape[dim], "; only one of size 1 can be removed");
  shape.erase(dim);
  results.push_back(shape);
}

void unsqueeze(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  // The position is one in the result.
  shape.insert(dimension(op, "dim", shape.size() + 1), 1);
  results.push_back(shape);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The size of begin, begin + step, … up to end; negative positions count from the end.
int64_t sliceSize(const Op &op, size_t dim, int64_t size, int64_t begin, int64_t end, int64_t step,
                  std::string_view beginName, std::string_view endName, bool isForward = true) {
  if (step < 1 && (isForward || step == 0 || step == std::numeric_limits<int64_t>::min()))
    failAttribute(op, "step", "is ", step, " in dimension ", dim, "; expected ",
                  isForward ? "1 or more" : "a number other than 0");
  const auto from = begin < 0 ? add(begin, size) : begin, to = end < 0 ? add(end, size) : end;
  if (!from || *from < 0 || *from > size)
    failAttribute(op, beginName, "is ", begin, " in dimension ", dim, " of size ", size);
  if (!to || *to < 0 || *to > size)
    failAttribute(op, endName, "is ", end, " in dimension ", dim, " of size ", size);
  if (step > 0 ? *to < *from : *to > *from)
    failAttribute(op, endName, "is ", end, step > 0 ? ", before " : ", after ", Name{beginName}, " ", begin,
                  ", in dimension ", dim, " of size ", size);
  if (step < 0 && *from == size && *to < size)
    failAttribute(op, beginName, "is ", begin, " in dimension ", dim, " of size ", size, "; expected less, as ",
                  Name{"step"}, " is ", step);
  return ceilDivide(step > 0 ? *to - *from : *from - *to, step > 0 ? step : -step);
}

Sizes sliced(const Op &op, View input, const Sizes &begins, const Sizes &ends, const Sizes &steps,
             bool isForward = true) {
  Sizes shape;
  for (size_t d = 0; d < input.size(); ++d)
    shape.push_back(sliceSize(op, d, input[d], begins[d], ends[d], steps[d], "begins", "ends", isForward));
  return shape;
}

void slice(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t rank = input.size();
  results.push_back(sliced(op, input, integers(op, "begins", rank), integers(op, "ends", rank),
                           integers(op, "step", rank),
                           /*isForward=*/false));
}

/// Begins and ends are values: the shape is that of the declared result unless they are known.
void sliceDynamic(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  for (const std::string_view name : {"begins", "ends"}) {
    const Operand &positions = operand(op, name, 1);
    if (positions.shape[0] != static_cast<int64_t>(input.size()) || positions.element != Element::Integer)
      failOperand(op, name, op.describe(positions), "; expected one integer per dimension, ", input.size());
  }
  Sizes steps(input.size(), 1);
  if (op.attribute("step").kind != Attribute::Kind::Absent)
    steps = integers(op, "step", input.size());
  for (const int64_t step : steps)
    if (step < 1)
      failAttribute(op, "step", "has ", step, "; expected 1 or more");
  const auto begins = op.values("begins"), ends = op.values("ends");
  if (begins && ends)
    return results.push_back(sliced(op, input, *begins, *ends, steps));
  if (op.declared.empty())
    fail(op, "has a result that depends on the values of its operands; give its type");
  const View part = op.declared[0];
  if (!std::equal(part.begin(), part.end(), input.begin(), input.end(), std::less_equal<int64_t>()))
    fail(op, "has a result of shape ", part, "; expected a part of ", input);
  results.push_back(Sizes(part));
}

void index(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t dim = dimension(op, "dim", input.size());
  results.push_back(resized(
      input, dim,
      sliceSize(op, dim, input[dim], integer(op, "begin"), integer(op, "end"), integer(op, "step"), "begin", "end")));
}

void indexSelect(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t dim = dimension(op, "dim", input.size());
  const int64_t size = input[dim], begin = integer(op, "begin"), length = integer(op, "length"),
                stride = optionalInteger(op, "stride").value_or(0);
  if (begin < 0 || begin >= size)
    failAttribute(op, "begin", "is ", begin, "; expected 0 to ", size - 1, ", inside dimension ", dim);
  if (length < 1 || length > size - begin)
    failAttribute(op, "length", "is ", length, "; expected 1 to ", size - begin, ", what is left of dimension ", dim);
  if (stride < 0 || (stride > 0 && stride < length))
    failAttribute(op, "stride", "is ", stride, "; expected 0, or ", length, " (the length) or more");
  const int64_t parts = stride == 0 ? 1 : ceilDivide(size - begin, stride);
  const int64_t last = std::min(length, size - begin - (parts - 1) * stride);
  results.push_back(resized(input, dim, (parts - 1) * length + last));
}

//===----------------------------------------------------------------------===//
// Values several times, or with others
//===----------------------------------------------------------------------===//

/// Each dimension times its factor.
Sizes scaled(const Op &op, View input, std::string_view name, const Sizes &factors) {
  if (factors.size() != input.size())
    failAttribute(op, name, "has ", factors.size(), " numbers; expected one per dimension, ", input.size());
  Sizes shape;
  for (size_t d = 0; d < input.size(); ++d) {
    if (factors[d] < 1)
      failAttribute(op, name, "is ", factors[d], " for dimension ", d, "; expected 1 or more");
    shape.push_back(sizeOr(op, d, multiply(input[d], factors[d])));
  }
  return shape;
}

void broadcastTo(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Sizes factors = integers(op, "broadcast_dimensions");
  for (size_t d = 0; d < std::min(input.size(), factors.size()); ++d)
    if (input[d] != 1 && factors[d] != 1)
      failAttribute(op, "broadcast_dimensions", "is ", factors[d], " for dimension ", d, " of size ", input[d],
                    "; only dimensions of size 1 can be broadcast");
  results.push_back(scaled(op, input, "broadcast_dimensions", factors));
}

/// If there are more numbers than dimensions, the first ones belong to new leading dimensions, as in PyTorch's repeat.
void repeat(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const Sizes factors = integers(op, "repeat_dims");
  if (factors.size() < input.size())
    failAttribute(op, "repeat_dims", "has ", factors.size(), " numbers; expected one per dimension or more, ",
                  input.size());
  Sizes padded;
  for (size_t d = input.size(); d < factors.size(); ++d)
    padded.push_back(1);
  for (const int64_t size : input)
    padded.push_back(size);
  results.push_back(scaled(op, padded, "repeat_dims", factors));
}
void repeatDimensions(const Op &op, Results &results) {
  results.push_back(scaled(op, shapeOf(op, "input"), "repeat_dimensions", integers(op, "repeat_dimensions")));
}

void repeatInterleave(const Op &op, Results &results) {
  const View input = shapeOf(op, "input");
  const size_t dim = dimension(op, "dim", input.size());
  const int64_t repeats = integer(op, "repeats");
  if (repeats < 1)
    failAttribute(op, "repeats", "is ", repeats, "; expected 1 or more");
  results.push_back(resized(input, dim, sizeOr(op, dim, multiply(input[dim], repeats))));
}

void concat(const Op &op, Results &results) {
  if (op.operands.empty())
    fail(op, "has no inputs; expected one or more");
  const View first = operandAt(op, 0).shape;
  const size_t dim = dimension(op, "dim", first.size());
  Sizes shape(first);
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const View other = operandAt(op, i).shape;
    if (other.size() != first.size() || !equal(resized(other, dim, first[dim]), first))
      fail(op, "operands '0' and '", i, "' have shapes ", first, " and ", other, "; they may differ only in dimension ",
           dim);
    shape[dim] = sizeOr(op, dim, add(shape[dim], other[dim]));
  }
  results.push_back(shape);
}

/// Numbers of elements before and after each dimension.
Sizes paddingOf(const Op &op, size_t rank) {
  const Sizes padding = integers(op, "padding");
  if (padding.size() != 2 * rank)
    failAttribute(op, "padding", "has ", padding.size(), " numbers; expected two per dimension, ", 2 * rank);
  return padding;
}

void pad(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  const Sizes padding = paddingOf(op, shape.size());
  for (size_t i = 0; i < padding.size(); ++i) {
    if (padding[i] < 0)
      failAttribute(op, "padding", "is ", padding[i], " at position ", i, "; expected 0 or more");
    shape[i / 2] = sizeOr(op, i / 2, add(shape[i / 2], padding[i]));
  }
  results.push_back(shape);
}

/// Infers as `pad` does; a negative number removes that many elements.
void padOrCrop(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  const Sizes padding = paddingOf(op, shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t before = padding[2 * d], after = padding[2 * d + 1];
    // They are numbers of 32 bits.
    const int64_t cropped = std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    if (shape[d] + cropped < 0)
      failAttribute(op, "padding", "takes ", -cropped, " elements of dimension ", d, ", which has ", shape[d]);
    shape[d] = sizeOr(op, d, add(shape[d], before + after));
  }
  results.push_back(shape);
}

void upsample(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  expectChoice(op, "mode", "nearest", "bilinear");
  const Attribute scale = op.attribute("scale_factor");
  Sizes factors = {1, scale.integer, scale.integer, 1};
  if (scale.kind == Attribute::Kind::Integers) {
    if (scale.integers.size() != 2)
      failAttribute(op, "scale_factor", "has ", scale.integers.size(), " numbers; expected one, or height and width");
    factors = {1, scale.integers[0], scale.integers[1], 1};
  } else if (scale.kind != Attribute::Kind::Integer) {
    failAttribute(op, "scale_factor", "is neither an integer nor two");
  }
  results.push_back(scaled(op, input, "scale_factor", factors));
}

//===----------------------------------------------------------------------===//
// Values at positions
//===----------------------------------------------------------------------===//

/// Index and input have the same rank, and the index is within the input except along `dim`.
View checkedIndex(const Op &op, View input) {
  const Operand &index = operand(op, "index");
  expectIntegers(op, index);
  const size_t dim = dimension(op, "dim", input.size());
  if (index.shape.size() != input.size())
    fail(op, "operands ", Name{"input"}, " and ", Name{"index"}, " have ranks ", input.size(), " and ",
         index.shape.size(), "; expected the same");
  for (size_t d = 0; d < input.size(); ++d)
    if (d != dim && index.shape[d] > input[d])
      failOperand(op, "index", "has size ", index.shape[d], " in dimension ", d, ", the input only ", input[d]);
  if (input[dim] == 0 && volume(op, index.shape) != 0)
    failOperand(op, "index", "has shape ", index.shape, ", but dimension ", dim, " of the input is empty");
  return index.shape;
}

void gather(const Op &op, Results &results) { results.push_back(Sizes(checkedIndex(op, shapeOf(op, "input")))); }

void scatter(const Op &op, Results &results) {
  const View input = shapeOf(op, "input"), index = checkedIndex(op, input),
             source = shapeOf(op, "source", input.size());
  for (size_t d = 0; d < input.size(); ++d)
    if (index[d] > source[d])
      failOperand(op, "index", "has size ", index[d], " in dimension ", d, ", the source only ", source[d]);
  results.push_back(Sizes(input));
}

/// [rows, size], or the same with leading dimensions of size 1.
View embeddingTable(const Op &op) {
  const Operand &weight = operand(op, "weight");
  const View shape = weight.shape;
  if (shape.size() < 2 || std::any_of(shape.begin(), shape.end() - 2, [](int64_t size) { return size != 1; }))
    failOperand(op, "weight", op.describe(weight), "; expected a matrix of one row per index");
  return shape;
}

void embedding(const Op &op, Results &results) {
  Sizes shape(shapeOf(op, "input"));
  const View table = embeddingTable(op);
  if (table[table.size() - 2] == 0 && volume(op, shape) != 0)
    failOperand(op, "weight", "has shape ", table, ": no row for an index of ", shape);
  shape.push_back(table.back());
  results.push_back(shape);
}

void embeddingBackward(const Op &op, Results &results) {
  const int64_t rows = volume(op, shapeOf(op, "input"));
  const View table = embeddingTable(op);
  const Operand &gradient = operand(op, "in_gradient");
  const View shape = gradient.shape;
  if (shape.empty() || shape.back() != table.back() || volume(op, shape.first(shape.size() - 1)) != rows)
    failOperand(op, "in_gradient", op.describe(gradient), "; expected ", rows, " rows of ", table.back());
  results.push_back(Sizes(table));
}

void dimensionSize(const Op &op, Results &results) {
  dimension(op, "dimension", shapeOf(op, "operand").size());
  results.push_back({1});
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

void create(const Op &op, Results &results, std::string_view name) {
  const Sizes shape = integers(op, name);
  for (const int64_t size : shape)
    if (size < 0)
      failAttribute(op, name, "is ", list(shape), "; sizes cannot be negative");
  results.push_back(shape);
}
void creation(const Op &op, Results &results) { create(op, results, "shape"); }
void creationOfSize(const Op &op, Results &results) { create(op, results, "size"); }

void constant(const Op &op, Results &results) {
  Attribute shape = op.attribute("value.shape");
  if (shape.kind != Attribute::Kind::Integers)
    failAttribute(op, "value", "is no ranked tensor");
  results.push_back(std::move(shape.integers));
}

int64_t sequenceLength(const Op &op) {
  const int64_t start = integer(op, "start"), end = integer(op, "end"), step = integer(op, "step");
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
  if (step == 0)
    failAttribute(op, "step", "is 0");
  if (step > 0 ? end < start : end > start)
    failAttribute(op, "step", "is ", step, ", which does not lead from ", start, " to ", end);
  int64_t distance;
  if (step == lowest || __builtin_sub_overflow(end, start, &distance) || distance == lowest)
    fail(op, "the sequence from ", start, " to ", end, " does not fit into 64 bits");
  return ceilDivide(std::abs(distance), std::abs(step));
}

void arange(const Op &op, Results &results) { results.push_back({sequenceLength(op)}); }

/// The other dimensions of the result repeat the sequence, so the declared result determines them.
void arangeAlong(const Op &op, Results &results) {
  const int64_t length = sequenceLength(op), dim = integer(op, "arange_dimension");
  if (op.declared.empty()) {
    // A tensor of higher rank than anyone needs would only cost memory.
    constexpr int64_t mostDimensions = 64;
    if (dim < 0 || dim >= mostDimensions)
      failAttribute(op, "arange_dimension", "is ", dim, "; expected 0 to ", mostDimensions - 1);
    Sizes shape(static_cast<size_t>(dim) + 1, 1);
    shape.back() = length;
    return results.push_back(shape);
  }
  const View shape = op.declared[0];
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    failAttribute(op, "arange_dimension", "is ", dim, ", but the result has shape ", shape);
  if (const int64_t size = shape[static_cast<size_t>(dim)]; size != length)
    fail(op, "result has size ", size, " in dimension ", dim, ", but the sequence has ", length, " values");
  results.push_back(Sizes(shape));
}

void loadTensor(const Op &op, Results &results) {
  if (op.declared.empty())
    fail(op, "has a result whose shape is in the file");
  results.push_back(Sizes(op.declared[0]));
}

/// Written in place, or to another tensor of the same shape.
void copy(const Op &op, Results &) {
  const Operand &from = operandAt(op, 0), &to = operandAt(op, 1);
  if (!equal(from.shape, to.shape))
    fail(op, "cannot write a tensor of shape ", from.shape, " to one of ", to.shape, "; the shapes differ");
}

} // namespace

std::span<const Rule> movementRules() {
  static constexpr Rule rows[] = {
      {"arange", arange},
      {"arangeAlong", arangeAlong},
      {"broadcastTo", broadcastTo},
      {"concat", concat},
      {"constant", constant},
      {"copy", copy},
      {"creation", creation},
      {"creationOfSize", creationOfSize},
      {"dimensionSize", dimensionSize},
      {"embedding", embedding},
      {"embeddingBackward", embeddingBackward},
      {"gather", gather},
      {"index", index},
      {"indexSelect", indexSelect},
      {"loadTensor", loadTensor},
      {"pad", pad},
      {"padOrCrop", padOrCrop},
      {"permute", permute},
      {"rearrange", rearrange},
      {"repeat", repeat},
      {"repeatDimensions", repeatDimensions},
      {"repeatInterleave", repeatInterleave},
      {"reshape", reshape},
      {"reverse", reverse},
      {"roll", roll},
      {"scatter", scatter},
      {"slice", slice},
      {"sliceDynamic", sliceDynamic},
      {"squeeze", squeeze},
      {"transpose", transpose},
      {"unsqueeze", unsqueeze},
      {"upsample", upsample},
  };
  return rows;
}

} // namespace tt::shapes
