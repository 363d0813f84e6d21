//===- callable.cpp - callable ops: signatures and kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/callable.h"
#include "core/op.h"
#include "core/shapes.h"
#include "tt/range_error.h"
#include "tt/sim/formats.h"
#include "tt/ttnn/shards.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

namespace tt::ttnn {
namespace {

using api::Parameter;
using api::Role;

std::vector<int64_t> integersOf(std::string_view text) {
  std::vector<int64_t> values;
  for (const std::string_view part : api::split(text, ',')) {
    int64_t value = 0;
    std::from_chars(part.data(), part.data() + part.size(), value);
    values.push_back(value);
  }
  return values;
}

/// A default as tools/opgen/functions.py writes it.
Attribute defaultOf(const Parameter &parameter, const AttributeSpec &spec) {
  const std::string_view text = parameter.defaultValue;
  const auto number = [&] { return static_cast<double>(std::strtof(std::string(text).c_str(), nullptr)); };
  switch (spec.kind) {
  case AttributeKind::Bool:
    return {text == "true"};
  case AttributeKind::Float:
    return {number()};
  case AttributeKind::Number:
    return text.find_first_not_of("-0123456789") == text.npos ? Attribute{integersOf(text).front()}
                                                              : Attribute{number()};
  case AttributeKind::Int:
    return {integersOf(text).front()};
  case AttributeKind::IntArray:
  case AttributeKind::Integers:
    return {integersOf(text.starts_with('{') ? text.substr(1, text.size() - 2) : text)};
  case AttributeKind::Enum:
    return enumAttribute(spec.type, text);
  default:
    return {std::string(text)};
  }
}

Callable joined(const api::Function &function, const OpInfo &info) {
  Callable callable{&function, &info, {}, {}, {}, findShapeRule(info), performerOf(function.op)};
  for (const Parameter &parameter : function.parameters) {
    if (parameter.role != Role::Value)
      continue;
    const AttributeSpec *spec = findAttribute(info, parameter.ods);
    if (!spec)
      callable.operands.push_back(&parameter);
    else if (parameter.hasDefault)
      callable.defaults.push_back({std::string(parameter.ods), defaultOf(parameter, *spec)});
  }
  if (std::ranges::all_of(info.attributes, [&](const AttributeSpec &spec) { return mayBeLeftOut(callable, spec); }))
    callable.unset = Attributes(std::string(info.name), callable.defaults);
  callable.broadcasts = callable.shapes->rule->broadcasts && callable.operands.size() > 1;
  return callable;
}

const std::vector<Callable> &all() {
  static const std::vector<Callable> rows = [] {
    std::vector<Callable> rows;
    for (const api::Function &function : api::functions())
      if (const OpInfo *info = findOp(function.op))
        rows.push_back(joined(function, *info));
    return rows;
  }();
  return rows;
}

DataType dataTypeNamed(std::string_view name) {
  for (int type = 0; type <= static_cast<int>(DataType::Bool); ++type)
    if (toString(static_cast<DataType>(type)) == name)
      return static_cast<DataType>(type);
  throw Error("functions.py names the data type \"" + std::string(name) + "\", which there is not");
}

/// Float attributes have 32 bits in the dialect, however a call writes them.
double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

std::string shortText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string kindName(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Bool:
    return "a bool";
  case AttributeKind::Int:
    return "an integer";
  case AttributeKind::Float:
  case AttributeKind::Number:
    return "a number";
  case AttributeKind::String:
    return "a string";
  case AttributeKind::IntArray:
    return "a list of integers";
  case AttributeKind::FloatArray:
    return "a list of numbers";
  case AttributeKind::Integers:
    return "an integer or a list of integers";
  case AttributeKind::Enum:
    return "an enum value";
  case AttributeKind::Struct:
    return "a config";
  default:
    return "another value";
  }
}

} // namespace

bool mayBeLeftOut(const Callable &callable, const AttributeSpec &spec) {
  const Parameter *parameter = callable.function->findOds(spec.name);
  return !spec.required || (parameter && parameter->optional) ||
         std::ranges::find(callable.defaults, spec.name, &NamedAttribute::name) != callable.defaults.end();
}

std::span<const Callable> callables() { return all(); }

const Callable *findCallable(std::string_view op) {
  static const std::map<std::string_view, const Callable *> byOp = [] {
    std::map<std::string_view, const Callable *> map;
    for (const Callable &callable : all())
      map.emplace(callable.function->op, &callable);
    return map;
  }();
  const auto it = byOp.find(op);
  return it == byOp.end() ? nullptr : it->second;
}

void failCall(const Callable &callable, const std::string &message) {
  throw OpError("ttnn." + std::string(callable.function->name) + ": " + message);
}

Attribute enumAttribute(std::string_view type, std::string_view symbol) {
  if (const api::Enum *row = api::findEnum(type))
    for (const api::Enum::Case &each : row->cases)
      if (each.symbol == symbol || each.name == symbol)
        return {EnumAttribute{std::string(type), std::string(each.symbol), each.value}};
  throw OpError("\"" + std::string(symbol) + "\" is no " + std::string(type));
}

/// A number of a call; a finite number stays finite.
static double roundedArgument(const Callable &callable, const Parameter &parameter, double value) {
  const double result = rounded(value);
  if (std::isfinite(value) && !std::isfinite(result))
    throw RangeError("ttnn." + std::string(callable.function->name) + ": " + std::string(parameter.name) + " is " +
                     shortText(value) + ", which 32 bits have no room for");
  return result;
}

void normalise(const Callable &callable, NamedAttribute &named) {
  const Parameter *parameter = callable.function->findOds(named.name);
  const AttributeSpec *spec = parameter ? findAttribute(*callable.info, named.name) : nullptr;
  if (!spec)
    failCall(callable, "no parameter is called '" + named.name + "'");
  auto &value = named.attribute.value;
  const auto *integer = std::get_if<int64_t>(&value);
  const auto *real = std::get_if<double>(&value);
  const auto *text = std::get_if<std::string>(&value);
  bool fits = true;
  switch (spec->kind) {
  case AttributeKind::Bool:
    fits = std::holds_alternative<bool>(value);
    break;
  case AttributeKind::Int:
    fits = integer;
    break;
  case AttributeKind::Float:
    fits = integer || real;
    if (fits)
      value = roundedArgument(callable, *parameter, integer ? static_cast<double>(*integer) : *real);
    break;
  case AttributeKind::Number:
    fits = integer || real;
    if (real)
      value = roundedArgument(callable, *parameter, *real);
    break;
  case AttributeKind::String:
    fits = text;
    break;
  case AttributeKind::IntArray:
    if (integer)
      value = std::vector<int64_t>{*integer};
    fits = std::holds_alternative<std::vector<int64_t>>(value);
    break;
  case AttributeKind::Integers:
    fits = integer || std::holds_alternative<std::vector<int64_t>>(value);
    break;
  case AttributeKind::FloatArray:
    if (const auto *integers = std::get_if<std::vector<int64_t>>(&value))
      value = std::vector<double>(integers->begin(), integers->end());
    fits = std::holds_alternative<std::vector<double>>(value);
    break;
  case AttributeKind::Enum:
    if (text)
      try {
        value = enumAttribute(spec->type, std::string(*text)).value;
      } catch (const OpError &error) {
        failCall(callable, std::string(parameter->name) + ": " + error.what());
      }
    fits = std::holds_alternative<EnumAttribute>(value);
    break;
  case AttributeKind::Struct:
    fits = std::holds_alternative<StructAttribute>(value);
    break;
  case AttributeKind::Constant:
    fits = std::holds_alternative<ConstantAttribute>(value);
    break;
  case AttributeKind::List:
    fits = std::holds_alternative<ListAttribute>(value);
    break;
  }
  if (!fits)
    failCall(callable, std::string(parameter->name) + ": expected " + kindName(spec->kind));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// The values of a small integer tensor, or nothing if it has others.
std::optional<shapes::Sizes> numbersOf(const Tensor &tensor) {
  shapes::Sizes numbers;
  const int64_t count = volume(tensor.shape());
  const auto read = [&]<class T>(T) {
    const auto *data = reinterpret_cast<const T *>(tensor.data());
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<int64_t>(data[i]));
    return std::optional(numbers);
  };
  switch (storageType(tensor.dtype())) {
  case StorageType::I32:
    return read(int32_t());
  case StorageType::U32:
    return read(uint32_t());
  case StorageType::U16:
    return read(uint16_t());
  case StorageType::U8:
    return read(uint8_t());
  default:
    return std::nullopt;
  }
}

/// A call as a person wrote it: operands and attributes are named as the function's parameters.
class FunctionCall final : public CallOp {
public:
  FunctionCall(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
               const Attributes &attributes, std::span<const uint32_t> mesh, std::span<const Tensor> values)
      : CallOp(*callable.shapes, operands, attributes, mesh), callable(callable), tensors(values) {}

  std::string parameter(std::string_view ods) const {
    const Parameter *found = callable.function->findOds(ods.substr(0, ods.find('.')));
    return std::string(found ? found->name : ods);
  }
  std::string quoted(std::string_view name) const override { return "'" + parameter(name) + "'"; }
  std::optional<shapes::Sizes> values(std::string_view operand) const override {
    for (size_t i = 0; i < std::min(tensors.size(), callable.operands.size()); ++i)
      if (callable.operands[i]->ods == operand && tensors[i])
        return numbersOf(tensors[i]);
    return std::nullopt;
  }

private:
  const Callable &callable;
  std::span<const Tensor> tensors;
};

shapes::Results shapesOf(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
                         const Attributes &attributes, std::span<const uint32_t> mesh, std::span<const Tensor> values) {
  shapes::Results results;
  const FunctionCall call(callable, operands, attributes, mesh, values);
  if (const auto failure = shapes::infer(*callable.shapes->rule, call, results))
    failCall(callable, (failure->name.empty() ? std::string() : call.parameter(failure->name) + " ") + failure->text);
  return results;
}

Device deviceOf(std::span<const Tensor> values) {
  for (const Tensor &value : values)
    if (value && value.device())
      return value.device();
  return nullptr;
}

using Operands = std::span<const std::optional<TensorSpec>>;

/// The operand of a parameter, or nullptr if it is absent.
const TensorSpec *operandNamed(const Callable &callable, Operands operands, std::string_view name) {
  const auto found = std::ranges::find(callable.operands, name, &Parameter::name);
  const auto index = static_cast<size_t>(found - callable.operands.begin());
  return found != callable.operands.end() && index < operands.size() && operands[index] ? &*operands[index] : nullptr;
}

/// The type of positions along the dimension `dim` of the first operand.
DataType indexType(Operands operands, const Attributes &attributes) {
  constexpr int64_t most = 65536;
  const Shape shape = operands.empty() || !operands[0] ? Shape() : operands[0]->shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t *given = attributes.find<int64_t>("dim");
  const int64_t dim = given ? *given + (*given < 0 ? rank : 0) : rank - 1;
  return dim >= 0 && dim < rank && shape[static_cast<size_t>(dim)] > most ? DataType::UInt32 : DataType::UInt16;
}

struct ResultType {
  DataType type;
  bool own = false; // whatever the operands have
};

/// The data type of a result if the call does not state it.
ResultType resultType(const Callable &callable, Operands operands, const Attributes &attributes, size_t result,
                      DataType first) {
  using Rule = api::DefaultType::Rule;
  const api::DefaultType given = callable.function->defaultType(result);
  if (given.rule == Rule::Index)
    return {indexType(operands, attributes), true};
  if (given.name.empty())
    return {first};
  if (const size_t dot = given.name.find('.'); dot != given.name.npos) {
    const auto *config = attributes.find<StructAttribute>(callable.function->find(given.name.substr(0, dot))->ods);
    const Attribute *type = config ? field(*config, given.name.substr(dot + 1)) : nullptr;
    const auto *named = type ? std::get_if<EnumAttribute>(&type->value) : nullptr;
    return {named ? dataTypeNamed(named->symbol) : first};
  }
  if (std::ranges::find(callable.operands, given.name, &Parameter::name) == callable.operands.end())
    return {dataTypeNamed(given.name), true};
  const TensorSpec *followed = operandNamed(callable, operands, given.name);
  const DataType type = followed ? followed->dtype : first;
  if (given.rule == Rule::Float && isInteger(type)) {
    const auto isFloat = [](const std::optional<TensorSpec> &each) { return each && !isInteger(each->dtype); };
    const auto found = std::ranges::find_if(operands, isFloat);
    return {found == operands.end() ? DataType::Float32 : (*found)->dtype};
  }
  return {given.rule == Rule::Rows && sim::isBlockFormat(type) ? DataType::BFloat16 : type};
}

/// Whether results of a shape rule are on the device that a call names, wherever the operands are.
bool isPlaced(std::string_view rule) {
  return rule == "distribute" || rule == "prepareWeights" || rule == "prepareBias";
}

/// The layout of the results if the call does not state it.
Layout resultLayout(const Callable &callable, Operands operands, Layout first) {
  if (const std::string_view layout = callable.function->defaultLayout(); !layout.empty()) {
    if (const TensorSpec *followed = operandNamed(callable, operands, layout))
      return followed->layout;
    return layout == "tile" ? Layout::Tile : layout == "row_major" ? Layout::RowMajor : first;
  }
  const auto isTiled = [](const std::optional<TensorSpec> &each) { return each && each->layout == Layout::Tile; };
  return callable.broadcasts && std::ranges::any_of(operands, isTiled) ? Layout::Tile : first;
}

} // namespace

std::vector<TensorSpec> resultSpecs(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
                                    const Attributes &attributes, std::span<const Output> outputs,
                                    std::vector<uint32_t> meshShape, const Device &device,
                                    std::span<const Tensor> values) {
  const shapes::Results shapes = shapesOf(callable, operands, attributes, meshShape, values);
  const bool gathers = callable.info->joins, spreads = callable.info->makeMesh && !gathers;
  if (outputs.size() > 1 && outputs.size() != shapes.size())
    failCall(callable,
             std::to_string(outputs.size()) + " descriptions of " + std::to_string(shapes.size()) + " results");
  TensorSpec like;
  const TensorSpec *sharded = nullptr; // the first operand on a device
  bool first = true;
  for (const auto &operand : operands) {
    if (!operand)
      continue;
    if (first) {
      like.dtype = operand->dtype;
      like.layout = operand->layout;
      first = false;
    }
    like.distributed |= operand->distributed;
    if (like.memory.buffer == BufferType::SystemMemory && operand->memory.buffer != BufferType::SystemMemory) {
      like.memory = {operand->memory.buffer, MemoryLayout::Interleaved, {}, {}};
      sharded = operand->memory.shardShape.empty() ? nullptr : &*operand;
    }
  }
  like.layout = resultLayout(callable, operands, like.layout);
  if (callable.function->defaultsToDram() && like.memory.buffer != BufferType::SystemMemory)
    like.memory.buffer = BufferType::DRAM;
  like.distributed = (like.distributed || spreads) && !gathers;
  const bool onDevice = device || like.memory.buffer != BufferType::SystemMemory;
  if (gathers || callable.function->defaultsToDram())
    sharded = nullptr;
  if (gathers)
    like.memory = {};
  else if (device && like.memory.buffer == BufferType::SystemMemory &&
           (operands.empty() || isPlaced(callable.shapes->rule->name)))
    like.memory = {BufferType::DRAM, MemoryLayout::Interleaved, {}, {}};

  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    TensorSpec spec = like;
    spec.shape.assign(shapes[i].begin(), shapes[i].end());
    const ResultType type = resultType(callable, operands, attributes, i, like.dtype);
    spec.dtype = type.type;
    bool given = false, placed = false;
    if (!outputs.empty()) {
      const Output &output = outputs[outputs.size() > 1 ? i : 0];
      // One description for several results does not apply to their indices.
      given = output.dtype && !(type.own && outputs.size() == 1 && shapes.size() > 1);
      if (given)
        spec.dtype = *output.dtype;
      spec.layout = output.layout.value_or(spec.layout);
      placed = output.memory && onDevice;
      if (placed)
        spec.memory = *output.memory;
      if (const Device where = device ? device : deviceOf(values); where)
        completeShards(where->chip(), spec);
    }
    // Shards fit the shape and the layout that they are of; other results are interleaved.
    if (!placed && sharded && spec.shape == sharded->shape && spec.layout == sharded->layout)
      spec.memory = sharded->memory;
    if (!given && spec.layout == Layout::RowMajor && sim::isBlockFormat(spec.dtype))
      spec.dtype = DataType::BFloat16; // block formats exist in tiles
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<TensorSpec> resultSpecs(const Callable &callable, std::span<const std::optional<TensorSpec>> operands,
                                    const Attributes &attributes, std::span<const Output> outputs,
                                    std::vector<uint32_t> meshShape) {
  return resultSpecs(callable, operands, attributes, outputs, std::move(meshShape), nullptr, {});
}

} // namespace tt::ttnn
