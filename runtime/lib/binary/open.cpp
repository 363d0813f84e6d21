//===- open.cpp - files that leave sizes open -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/open.h"
#include "binary/image.h"
#include "core/shapes.h"

#include "tensor/storage.h"
#include "tt/sim/formats.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>

namespace tt::runtime {
namespace {

using files::count;
using files::numbers;
using files::text;

constexpr size_t maxSizes = 256;
constexpr int64_t largestSize = int64_t(1) << 44;

//===- Reading ------------------------------------------------------------===//

OpenSize readSize(const target::OpenSize &from, const files::Place &place, const std::string &field) {
  OpenSize size{text(from.name()), from.least(), from.most(), from.written()};
  if (size.name.empty())
    place.fail(field + ".name", "is empty", "a name");
  if (size.least < 0 || size.least > size.written || size.written > size.most || size.most > largestSize)
    place.fail(field,
               "goes from " + std::to_string(size.least) + " to " + std::to_string(size.most) + " and is written as " +
                   std::to_string(size.written),
               "0 <= least <= written <= most <= 2^44");
  return size;
}

/// The value at a path: an integer, a real number or a constant.
struct Found {
  int64_t *integer = nullptr;
  double *real = nullptr;
  ttnn::ConstantAttribute *constant = nullptr;
  explicit operator bool() const { return integer || real || constant; }
};

Found numberAt(ttnn::Attribute &attribute, std::span<const uint32_t> path) {
  if (path.empty())
    return {std::get_if<int64_t>(&attribute.value), std::get_if<double>(&attribute.value),
            std::get_if<ttnn::ConstantAttribute>(&attribute.value)};
  const uint32_t first = path.front();
  if (auto *integers = std::get_if<std::vector<int64_t>>(&attribute.value))
    return {path.size() == 1 && first < integers->size() ? &(*integers)[first] : nullptr};
  if (auto *list = std::get_if<ttnn::ListAttribute>(&attribute.value))
    return first < list->items.size() ? numberAt(list->items[first], path.subspan(1)) : Found();
  if (auto *fields = std::get_if<ttnn::StructAttribute>(&attribute.value))
    return first < fields->fields.size() ? numberAt(fields->fields[first].attribute, path.subspan(1)) : Found();
  return {};
}

Found numberIn(std::vector<ttnn::NamedAttribute> &attributes, std::span<const uint32_t> path) {
  return !path.empty() && path.front() < attributes.size()
             ? numberAt(attributes[path.front()].attribute, path.subspan(1))
             : Found();
}

std::vector<ttnn::NamedAttribute> copyOf(const ttnn::Attributes &attributes) {
  return {attributes.all().begin(), attributes.all().end()};
}

//===- Binding ------------------------------------------------------------===//

/// Whether the shape of a value is known.
bool isTold(const Open::OfProgram &own, uint32_t value) {
  const auto found = std::ranges::lower_bound(own.dimensions, value, {}, &Open::Dimension::value);
  return found != own.dimensions.end() && found->value == value;
}

class Binder {
public:
  Binder(const Open &open, const SharedList<Program> &programs, std::span<const int64_t> sizes,
         std::deque<TensorSpec> &specs, std::deque<std::shared_ptr<std::byte>> &constants)
      : open(open), created(programs), sizes(sizes), specs(specs), constants(constants), changed(created.size()),
        resized(created.size()), bound(created.size()) {}

  SharedList<Program> bind(size_t program) {
    const auto &own = open.programs[program].dimensions;
    for (auto dimension = own.begin(); dimension != own.end();) {
      const uint32_t value = dimension->value;
      Shape shape = created[program].spec(value).shape;
      const bool isInput = std::ranges::find(created[program].inputs, value) != created[program].inputs.end();
      for (; dimension != own.end() && dimension->value == value; ++dimension)
        if (isInput)
          shape[dimension->dimension] = number(dimension->code, {}, "an input");
      resize(program, value, std::move(shape));
    }
    bindOperations(program);
    return std::move(created);
  }

private:
  int64_t number(shapes::CodeView code, std::span<const shapes::View> operands, const std::string &what) const {
    const auto value = shapes::evaluate(code, {sizes, operands});
    if (!value)
      throw OpError(what + " has a number, " + shapes::toText(code, open.names()) + ", that has no value for " +
                    describe());
    return *value;
  }

  /// "batch 3, length 17"
  std::string describe() const {
    std::string all;
    for (size_t i = 0; i < sizes.size(); ++i)
      all += (i ? ", " : "") + std::string(open.sizes[i].name) + " " + std::to_string(sizes[i]);
    return all;
  }

  /// The program with what changes in it.
  Program &own(size_t index) {
    if (!changed[index]) {
      changed[index] = std::make_shared<Program>(created[index]);
      created.replace(index, changed[index]);
    }
    return *changed[index];
  }

  /// Values share descriptions, so a changed value gets a new one.
  void resize(size_t index, uint32_t value, Shape shape) {
    const TensorSpec *const old = created[index].values[value].spec;
    if (old->shape == shape)
      return;
    Value &resizedValue = own(index).values[value];
    auto &flags = resized[index];
    flags.resize(created[index].values.size(), false);
    flags[value] = true;
    const auto [first, last] = resizedSpecs.equal_range(old);
    for (auto known = first; known != last; ++known)
      if (known->second->shape == shape) {
        resizedValue.spec = known->second;
        return;
      }
    // As a loader requires of written values.
    bool fits = true;
    int64_t elements = 1;
    for (const int64_t size : shape)
      fits = fits && size >= 0 && !__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) &&
             elements <= largestSize;
    if (!fits)
      throw OpError("a value of shape " + toString(shape) + "; expected sizes from 0, of 2^44 elements at most, with " +
                    describe());
    TensorSpec spec = *old;
    spec.shape = std::move(shape);
    specs.push_back(std::move(spec));
    resizedValue.spec = &specs.back();
    resizedSpecs.emplace(old, &specs.back());
  }

  /// Layers of a model have the same ops with the same shapes: results for one apply to the following ones.
  struct Bound {
    const Operation *operation;
    size_t program;
    std::vector<const TensorSpec *> written; // of the results
  };
  static constexpr size_t mostRepeated = 16;

  std::vector<const TensorSpec *> resultsOf(size_t index, const Operation &operation) const {
    std::vector<const TensorSpec *> all;
    for (const uint32_t out : operation.outs)
      all.push_back(created[index].values[out].spec);
    return all;
  }

  /// Whether the op repeats one of the last ones, whose results have been reused.
  bool repeats(size_t index, const Operation &operation) {
    const auto specOf = [&](uint32_t in) { return in == absentOperand ? nullptr : created[index].values[in].spec; };
    const auto sameSpec = [&](uint32_t a, uint32_t b) { return specOf(a) == specOf(b); };
    for (const Bound &other : recent) {
      if (other.program != index || other.operation->info != operation.info ||
          !std::ranges::equal(operation.ins, other.operation->ins, sameSpec) ||
          resultsOf(index, operation) != other.written || !areSame(operation.attributes, other.operation->attributes))
        continue;
      for (size_t i = 0; i < operation.outs.size(); ++i)
        setSpec(index, operation.outs[i], created[index].values[other.operation->outs[i]].spec);
      return true;
    }
    return false;
  }

  void setSpec(size_t index, uint32_t value, const TensorSpec *spec) {
    if (created[index].values[value].spec == spec)
      return;
    auto &flags = resized[index];
    flags.resize(created[index].values.size(), false);
    flags[value] = true;
    own(index).values[value].spec = spec;
  }

  void bindOperations(size_t index) {
    bound[index] = true;
    const Open::OfProgram &written = open.programs[index];
    // A value with the shape stated in the file, and without a number that depends on sizes, is as written.
    std::vector<bool> &flags = resized[index];
    flags.resize(created[index].values.size(), false);
    auto next = written.numbers.begin();
    for (const auto &[i, isByShapes, operands] : written.operations) {
      if (isByShapes && std::ranges::none_of(operands, [&](uint32_t value) { return flags[value]; }))
        continue;
      const auto first = next;
      while (next != written.numbers.end() && next->operation == i)
        ++next;
      const Operation &operation = created[index].operations[i];
      if (isByShapes && repeats(index, operation))
        continue;
      try {
        Bound known{&operation, index, resultsOf(index, operation)};
        bindOperation(index, i, {first, next});
        if (isByShapes) {
          if (recent.size() == mostRepeated)
            recent.pop_back();
          recent.push_front(std::move(known));
        }
      } catch (const OpError &error) {
        throw OpError("program \"" + std::string(created[index].name) + "\": op " + std::to_string(i) + " (" +
                      std::string(operation.info->name) + ")" +
                      (operation.loc.empty() ? "" : " at " + std::string(operation.loc)) + " with " + describe() +
                      ": " + error.what());
      }
    }
  }

  void bindOperation(size_t index, uint32_t at, std::span<const Open::Number> numbers) {
    const Operation &written = created[index].operations[at];
    std::vector<shapes::View> operands;
    for (const uint32_t in : written.ins)
      operands.push_back(in == absentOperand ? shapes::View() : shapes::View(created[index].spec(in).shape));
    std::vector<ttnn::NamedAttribute> attributes;
    std::vector<std::pair<ttnn::ConstantAttribute *, std::optional<double>>> filled;
    if (!numbers.empty())
      attributes = copyOf(written.attributes);
    for (const Open::Number &each : numbers) {
      const Found found = numberIn(attributes, each.path);
      if (each.code.empty()) {
        filled.emplace_back(found.constant, std::nullopt);
        continue;
      }
      const int64_t value = number(each.code, operands, "attribute " + attributes[each.path[0]].name);
      const auto real = each.reciprocal ? 1 / static_cast<double>(value) : static_cast<double>(value);
      if (found.integer)
        *found.integer = value;
      else if (found.real)
        *found.real = real;
      else
        filled.emplace_back(found.constant, real);
    }
    ttnn::OpCall call = created[index].call(written);
    const auto setAttributes = [&] {
      auto operation = std::make_shared<Operation>(written);
      operation->attributes = call.attributes =
          ttnn::Attributes(std::string(written.info->name), std::move(attributes));
      own(index).operations.replace(at, std::move(operation));
    };
    if (!numbers.empty() && filled.empty())
      setAttributes();
    std::vector<Shape> results;
    for (const TensorSpec &out : call.outs)
      results.push_back(out.shape);
    if (!written.callees.empty())
      bindCallees(index, written, results);
    else if (!infer(*written.info, call, results))
      for (size_t i = 0; i < results.size(); ++i)
        for (const Open::Dimension &dimension :
             std::ranges::equal_range(open.programs[index].dimensions, written.outs[i], {}, &Open::Dimension::value))
          results[i][dimension.dimension] = number(dimension.code, operands, "result " + std::to_string(i));
    for (size_t i = 0; i < results.size(); ++i) {
      call.outs[i].shape = results[i];
      resize(index, written.outs[i], std::move(results[i]));
    }
    if (!filled.empty()) {
      for (const auto &[constant, value] : filled)
        constant->bytes = fill(call.outs[0], constant->bytes, value);
      setAttributes();
    }
    ttnn::check(*written.info, call);
    for (const TensorSpec &out : call.outs)
      if (!out.memory.shardShape.empty() && out.memory.layout != MemoryLayout::Interleaved)
        throw OpError("its result is sharded for other sizes");
    for (const auto &[name, attribute] : call.attributes.all())
      if (const auto *constant = std::get_if<ttnn::ConstantAttribute>(&attribute.value);
          constant && (call.outs.empty() || constant->bytes.size() != call.outs[0].bytes()))
        throw OpError("its constant has " + std::to_string(constant->bytes.size()) + " bytes, for other sizes");
  }

  /// A splat constant, or one with a single value.
  std::span<const std::byte> fill(const TensorSpec &spec, std::span<const std::byte> old, std::optional<double> value) {
    if (sim::isBlockFormat(spec.dtype))
      throw OpError("its constant is of type " + std::string(toString(spec.dtype)) + " and depends on sizes");
    const size_t bytes = spec.bytes(), width = storageBytes(spec.dtype);
    const auto memory = sim::allocateHost(bytes, "a constant");
    constants.push_back(memory);
    if (!value && old.size() < width)
      throw OpError("its constant has no value for other sizes");
    const auto real = static_cast<float>(value.value_or(0));
    const auto integer = static_cast<int64_t>(value.value_or(0));
    for (size_t at = 0; at < bytes; at += width)
      if (at)
        std::memcpy(memory.get() + at, memory.get(), width);
      else if (!value)
        std::memcpy(memory.get(), old.data(), width);
      else if (ttnn::isInteger(spec.dtype))
        ttnn::storer<int64_t>(spec.dtype)(&integer, memory.get(), 1);
      else
        ttnn::storer<float>(spec.dtype)(&real, memory.get(), 1);
    return {memory.get(), bytes};
  }

  /// The shapes that follow from operands and attributes alone; false if the op leaves them open.
  static bool infer(const ttnn::OpInfo &info, const ttnn::OpCall &call, std::vector<Shape> &results) {
    const ttnn::ShapeRule *rule = ttnn::findShapeRule(info);
    if (!rule)
      return false;
    const ttnn::CallOp op(*rule, call.ins, call.attributes, call.meshShape);
    shapes::Results found;
    if (shapes::infer(*rule->rule, op, found) || found.size() != results.size())
      return false;
    for (size_t i = 0; i < results.size(); ++i)
      results[i].assign(found[i].begin(), found[i].end());
    return true;
  }

  /// A program that an op runs receives the op's operands, and the op returns the program's results.
  void bindCallees(size_t index, const Operation &operation, std::vector<Shape> &results) {
    const size_t first = operation.call == Operation::Call::Case ? 1 : 0;
    for (const uint32_t callee : operation.callees) {
      if (!bound[callee]) {
        for (size_t i = 0; i < created[callee].inputs.size() && first + i < operation.ins.size(); ++i)
          resize(callee, created[callee].inputs[i], created[index].spec(operation.ins[first + i]).shape);
        bindOperations(callee);
      }
      const Program &other = created[callee];
      // The last program of a loop is its body; branches return the same types.
      for (size_t i = 0; i < results.size() && i < other.outputs.size(); ++i)
        results[i] = other.spec(other.outputs[i]).shape;
    }
  }

  const Open &open;
  SharedList<Program> created;
  const std::span<const int64_t> sizes;
  std::deque<TensorSpec> &specs;
  std::deque<std::shared_ptr<std::byte>> &constants;
  std::unordered_multimap<const TensorSpec *, const TensorSpec *> resizedSpecs; // by what they were
  std::vector<std::shared_ptr<Program>> changed;                                // per program, or null
  std::vector<std::vector<bool>> resized;                                       // per program and value
  std::vector<bool> bound;                                                      // per program
  std::deque<Bound> recent;                                                     // the last ones first
};

/// Finds the ops that sizes may change: those with a number, a result of known shape, or an operand that comes from
/// such an op or from an input whose shape depends on sizes.
void findOperations(std::span<Open::OfProgram> programs, const SharedList<Program> &all, size_t index, bool isCalled) {
  Open::OfProgram &own = programs[index];
  const Program &program = all[index];
  // A program that is called without changed operands changes only by its own numbers.
  const auto isFixed = [&](uint32_t callee) {
    return programs[callee].dimensions.empty() && programs[callee].numbers.empty() &&
           std::ranges::all_of(all[callee].operations,
                               [](const Operation &operation) { return operation.callees.empty(); });
  };
  std::vector<bool> changes(program.values.size(), false);
  for (const uint32_t input : program.inputs)
    changes[input] = isCalled || isTold(own, input);
  auto number = own.numbers.begin();
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    const Operation &operation = program.operations[i];
    const auto first = number;
    while (number != own.numbers.end() && number->operation == i)
      ++number;
    const bool tells =
        number != first || std::ranges::any_of(operation.outs, [&](uint32_t out) { return isTold(own, out); });
    std::vector<uint32_t> resized;
    for (const uint32_t in : operation.ins)
      if (in != absentOperand && changes[in] && std::ranges::find(resized, in) == resized.end())
        resized.push_back(in);
    if (!tells && std::ranges::all_of(operation.callees, isFixed) && resized.empty())
      continue;
    own.operations.push_back({i, !tells && operation.callees.empty(), std::move(resized)});
    for (const uint32_t out : operation.outs)
      changes[out] = true;
  }
}

} // namespace

std::vector<std::string_view> Open::names() const {
  std::vector<std::string_view> all;
  for (const OpenSize &size : sizes)
    all.push_back(size.name);
  return all;
}

Open readOpen(const target::Open &from, const SharedList<Program> &programs, files::Place &place) {
  Open open;
  if (!count(from.sizes()) || from.sizes()->size() > maxSizes)
    place.fail("open.sizes", "has " + std::to_string(count(from.sizes())) + " entries",
               "1 to " + std::to_string(maxSizes));
  std::vector<int64_t> written;
  for (uint32_t i = 0; i < from.sizes()->size(); ++i) {
    open.sizes.push_back(readSize(*from.sizes()->Get(i), place, "open.sizes[" + std::to_string(i) + "]"));
    written.push_back(open.sizes.back().written);
  }
  open.programs.resize(programs.size());
  const auto code = [&](const flatbuffers::Vector<int64_t> *values, const std::string &field) {
    if (!count(values) || values->size() > shapes::maxCode)
      place.fail(field + ".code", "has " + std::to_string(count(values)) + " numbers",
                 "1 to " + std::to_string(shapes::maxCode));
    place.spend(values->size(), field);
    return numbers(values);
  };
  const auto programOf = [&](uint32_t index, const std::string &field) -> const Program & {
    if (index >= programs.size())
      place.failIndex(field + ".program", index, programs.size(), "programs");
    if (programs[index].pipeline)
      place.fail(field + ".program", "has stages", "a program of operations");
    return programs[index];
  };
  for (uint32_t i = 0; i < count(from.dimensions()); ++i) {
    const auto *each = from.dimensions()->Get(i);
    const std::string field = "open.dimensions[" + std::to_string(i) + "]";
    const Program &program = programOf(each->program(), field);
    if (each->value() >= program.values.size())
      place.failIndex(field + ".value", each->value(), program.values.size(), "values");
    const Shape &shape = program.spec(each->value()).shape;
    if (each->dimension() >= shape.size())
      place.failIndex(field + ".dimension", each->dimension(), shape.size(), "dimensions");
    Open::Dimension dimension{each->value(), each->dimension(), code(each->code(), field)};
    if (std::ranges::find(program.inputs, each->value()) != program.inputs.end() &&
        shapes::evaluate(dimension.code, {written, {}}) != shape[each->dimension()])
      place.fail(field + ".code", "is not " + std::to_string(shape[each->dimension()]) + " for the sizes as written",
                 "the size that the input has in the file");
    open.programs[each->program()].dimensions.push_back(std::move(dimension));
  }
  for (uint32_t i = 0; i < count(from.numbers()); ++i) {
    const auto *each = from.numbers()->Get(i);
    const std::string field = "open.numbers[" + std::to_string(i) + "]";
    const Program &program = programOf(each->program(), field);
    if (each->operation() >= program.operations.size())
      place.failIndex(field + ".operation", each->operation(), program.operations.size(), "operations");
    if (count(each->path()) > files::maxDepth)
      place.fail(field + ".path", "has " + std::to_string(each->path()->size()) + " numbers", "fewer");
    Open::Number number{each->operation(), numbers(each->path()), {}, each->reciprocal()};
    std::vector<ttnn::NamedAttribute> attributes = copyOf(program.operations[each->operation()].attributes);
    const Found found = numberIn(attributes, number.path);
    if (!found.constant || count(each->code()))
      number.code = code(each->code(), field);
    if (!found || (found.integer && number.reciprocal))
      place.fail(field + ".path", "leads to no number of an attribute that can be this one", "one");
    if (found.constant && program.operations[each->operation()].outs.empty())
      place.fail(field + ".path", "leads to a constant of an op without results", "one with a result");
    if (program.operations[each->operation()].call != Operation::Call::None)
      place.fail(field + ".operation", "runs other programs", "one whose attributes are numbers");
    open.programs[each->program()].numbers.push_back(std::move(number));
  }
  std::vector<bool> isCalled(programs.size(), false);
  for (const Program &program : programs)
    for (const Operation &operation : program.operations)
      for (const uint32_t callee : operation.callees)
        isCalled[callee] = true;
  for (Open::OfProgram &program : open.programs) {
    std::ranges::sort(program.dimensions, {}, &Open::Dimension::value);
    std::ranges::sort(program.numbers, {}, &Open::Number::operation);
  }
  for (size_t i = 0; i < programs.size(); ++i)
    findOperations(open.programs, programs, i, isCalled[i]);
  return open;
}

std::vector<int64_t> sizesOf(const Open &open, const Program &program, size_t index, std::span<const Shape> inputs) {
  const std::string name = "program \"" + std::string(program.name) + "\"";
  const auto &dimensions = open.programs[index].dimensions;
  const auto names = open.names();
  const auto inputName = [&](size_t input) {
    const std::string_view label = program.values[program.inputs[input]].name;
    return "input " + std::to_string(input) + (label.empty() ? "" : " (" + std::string(label) + ")");
  };
  if (inputs.size() != program.inputs.size())
    throw Error(name + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                std::to_string(inputs.size()));
  std::vector<int64_t> sizes;
  for (const OpenSize &size : open.sizes)
    sizes.push_back(size.written);
  std::vector<bool> isKnown(sizes.size(), false);
  // Dimensions of inputs, and what they are.
  struct Given {
    size_t input;
    const Open::Dimension *dimension;
  };
  std::vector<Given> found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape &shape = program.spec(program.inputs[i]).shape;
    std::vector<const Open::Dimension *> own(shape.size(), nullptr);
    const auto range = std::ranges::equal_range(dimensions, program.inputs[i], {}, &Open::Dimension::value);
    for (const Open::Dimension &dimension : range) {
      own[dimension.dimension] = &dimension;
      found.push_back({i, &dimension});
    }
    bool fits = inputs[i].size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
      fits = own[d] || inputs[i][d] == shape[d];
    if (fits)
      continue;
    std::string expected;
    for (size_t d = 0; d < shape.size(); ++d)
      expected += (d ? ", " : "") + (own[d] ? shapes::toText(own[d]->code, names) : std::to_string(shape[d]));
    throw Error(name + ": " + inputName(i) + " has shape " + toString(inputs[i]) + "; expected [" + expected + "]");
  }
  const auto sizeAt = [&](const Given &each) { return inputs[each.input][each.dimension->dimension]; };
  const auto place = [&](const Given &each) {
    return inputName(each.input) + " has " + std::to_string(sizeAt(each)) + " in dimension " +
           std::to_string(each.dimension->dimension);
  };
  // Simple ones first: a bound applies to the size itself.
  std::ranges::sort(found, {}, [](const Given &each) {
    return std::tuple(each.dimension->code.size(), each.input, each.dimension->dimension);
  });
  for (const Given &each : found) {
    const auto size = shapes::onlySize(each.dimension->code);
    if (!size || isKnown[*size])
      continue;
    const OpenSize &bounds = open.sizes[*size];
    const auto value = shapes::solve(each.dimension->code, sizeAt(each), bounds.least, bounds.most);
    if (!value)
      throw Error(name + ": " + place(each) + ", which is " + shapes::toText(each.dimension->code, names) +
                  "; expected it for " + std::string(bounds.name) + " from " + std::to_string(bounds.least) + " to " +
                  std::to_string(bounds.most));
    sizes[*size] = *value;
    isKnown[*size] = true;
  }
  for (const Given &each : found) {
    const auto expected = shapes::evaluate(each.dimension->code, {sizes, {}});
    if (expected == sizeAt(each))
      continue;
    std::string known;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (isKnown[k])
        known += (known.empty() ? "" : ", ") + std::string(names[k]) + " " + std::to_string(sizes[k]);
    throw Error(name + ": " + place(each) + "; expected " +
                (expected ? std::to_string(*expected) : std::string("a size")) + ", which is " +
                shapes::toText(each.dimension->code, names) + " for " + known);
  }
  return sizes;
}

SharedList<Program> bindPrograms(const Open &open, const SharedList<Program> &programs, size_t program,
                                 std::span<const int64_t> sizes, std::deque<TensorSpec> &specs,
                                 std::deque<std::shared_ptr<std::byte>> &constants) {
  return Binder(open, programs, sizes, specs, constants).bind(program);
}

} // namespace tt::runtime
