//===- api.cpp - the C++ functions of TTNN -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "api/callable.h"
#include "api/unchanged.h"
#include "tt/runtime/runtime.h"
#include "tt/sim/published.h"
#include "ttnn/detail/call.hpp"
#include "ttnn/device.hpp"

#include <cmath>
#include <cstring>

namespace tt::ttnn {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace detail {

Function::Function(const char *op) : callable(findCallable(op)) {
  if (!callable)
    throw Error(std::string(op) + ": this version of the library has no such function");
}

struct Value::State {
  std::string type; // empty: a list
  std::vector<NamedAttribute> fields;
};

Value Value::structure(const char *type) { return Value(new State{type, {}}); }
Value Value::list() { return Value(new State{}); }
Value::Value(State *state) : state(state) {}
Value::Value(Value &&) noexcept = default;
Value::~Value() = default;

Value &Value::add(const char *name, bool value) {
  state->fields.push_back({name, {value}});
  return *this;
}
Value &Value::add(const char *name, int64_t value) {
  state->fields.push_back({name, {value}});
  return *this;
}
Value &Value::add(const char *name, const std::string &value) {
  state->fields.push_back({name, {value}});
  return *this;
}
Value &Value::add(const char *name, const Integers &value) {
  state->fields.push_back({name, {value.get()}});
  return *this;
}
Value &Value::add(const char *name, const std::vector<double> &value) {
  state->fields.push_back({name, {value}});
  return *this;
}
Value &Value::add(const char *name, const OptionalIntegers &value) {
  return value.get() ? add(name, *value.get()) : *this;
}
Value &Value::add(const char *name, Value value) {
  state->fields.push_back({name, std::move(value).take()});
  return *this;
}

static Attribute enumOf(const char *type, int64_t value) {
  if (const api::Enum *row = api::findEnum(type))
    for (const api::Enum::Case &each : row->cases)
      if (each.value == value)
        return {EnumAttribute{type, std::string(each.symbol), value}};
  throw OpError(std::to_string(value) + " is no " + type);
}

Value &Value::addEnum(const char *name, const char *type, int64_t value) {
  state->fields.push_back({name, enumOf(type, value)});
  return *this;
}

Attribute Value::take() && {
  if (!state->type.empty())
    return {StructAttribute{std::move(state->type), std::move(state->fields)}};
  ListAttribute list;
  for (NamedAttribute &item : state->fields)
    list.items.push_back(std::move(item.attribute));
  return {std::move(list)};
}

struct Call::State {
  const Callable *callable = nullptr;
  std::vector<Tensor> operands;
  std::vector<NamedAttribute> attributes;
  std::vector<Output> outputs;
  Device device;
};

/// The state of this thread's last call, for the next one: its lists already have their memory.
static thread_local std::unique_ptr<Call::State> spare;

Call::Call(const Function &function) : state(spare ? std::move(spare) : std::make_unique<State>()) {
  state->callable = &*function;
  state->operands.reserve(function->operands.size());
}
Call::~Call() {
  state->operands.clear();
  state->attributes.clear();
  state->outputs.clear();
  state->device.reset();
  spare = std::move(state);
}

Call &Call::operand(const Tensor &tensor) {
  state->operands.push_back(tensor);
  return *this;
}
Call &Call::operand(const std::optional<Tensor> &tensor) {
  state->operands.push_back(tensor.value_or(Tensor()));
  return *this;
}
Call &Call::operands(const std::vector<Tensor> &tensors) {
  state->operands.insert(state->operands.end(), tensors.begin(), tensors.end());
  return *this;
}
Call &Call::device(const std::optional<Device> &device) {
  state->device = device.value_or(nullptr);
  return *this;
}
Call &Call::attribute(const char *name, bool value) {
  state->attributes.push_back({name, {value}});
  return *this;
}
Call &Call::attribute(const char *name, int64_t value) {
  state->attributes.push_back({name, {value}});
  return *this;
}
Call &Call::attribute(const char *name, double value) {
  // An integer stays one if the op takes either: integer tensors are filled and clamped exactly.
  const AttributeSpec *spec = findAttribute(*state->callable->info, name);
  if (spec && spec->kind == AttributeKind::Number && std::trunc(value) == value && std::fabs(value) < 0x1p53 &&
      !(value == 0 && std::signbit(value)))
    return attribute(name, static_cast<int64_t>(value));
  state->attributes.push_back({name, {value}});
  return *this;
}
Call &Call::attribute(const char *name, const std::string &value) {
  state->attributes.push_back({name, {value}});
  return *this;
}
Call &Call::attribute(const char *name, const Integers &value) {
  const AttributeSpec *spec = findAttribute(*state->callable->info, name);
  if (value.isOne() && spec && spec->kind == AttributeKind::Integers)
    return attribute(name, value.get().front());
  state->attributes.push_back({name, {value.get()}});
  return *this;
}
Call &Call::attribute(const char *name, const OptionalIntegers &value) {
  return value.get() ? attribute(name, *value.get()) : *this;
}
Call &Call::attribute(const char *name, Value value) {
  state->attributes.push_back({name, std::move(value).take()});
  return *this;
}
Call &Call::attributeEnum(const char *name, const char *type, int64_t value) {
  state->attributes.push_back({name, enumOf(type, value)});
  return *this;
}

template <class T>
static void describe(std::vector<Output> &outputs, std::optional<T> Output::*member, const std::optional<T> &value) {
  if (!value)
    return;
  if (outputs.empty())
    outputs.resize(1);
  for (Output &output : outputs)
    output.*member = value;
}

template <class T, class From>
static void describe(std::vector<Output> &outputs, std::optional<T> Output::*member, const OneOrEach<From> &value,
                     size_t results) {
  const auto &each = value.get();
  if (each.size() < 2) {
    if (!each.empty())
      describe<T>(outputs, member, each.front());
    return;
  }
  // A property of all results applies to each.
  if (outputs.size() < 2)
    outputs.resize(results, outputs.empty() ? Output() : outputs.front());
  if (each.size() != outputs.size())
    throw OpError(std::to_string(each.size()) + " descriptions of " + std::to_string(outputs.size()) + " results");
  for (size_t i = 0; i < each.size(); ++i)
    outputs[i].*member = each[i];
}

Call &Call::dtype(const std::optional<DataType> &value) {
  describe(state->outputs, &Output::dtype, value);
  return *this;
}
Call &Call::memory_config(const std::optional<MemoryConfig> &value) {
  describe<tt::MemoryConfig>(state->outputs, &Output::memory, value);
  return *this;
}
Call &Call::layout(const std::optional<Layout> &value) {
  describe(state->outputs, &Output::layout, value);
  return *this;
}
Call &Call::dtype(const OneOrEach<DataType> &value) {
  describe(state->outputs, &Output::dtype, value, static_cast<size_t>(state->callable->info->outs));
  return *this;
}
Call &Call::memory_config(const OneOrEach<MemoryConfig> &value) {
  describe(state->outputs, &Output::memory, value, static_cast<size_t>(state->callable->info->outs));
  return *this;
}
Call &Call::layout(const OneOrEach<Layout> &value) {
  describe(state->outputs, &Output::layout, value, static_cast<size_t>(state->callable->info->outs));
  return *this;
}

void Call::run() { take({}); }

Tensor Call::one() {
  Tensor result;
  take({&result, 1});
  return result;
}

void Call::take(std::span<Tensor> results) {
  std::vector<Tensor> created =
      call(*state->callable, state->operands, std::move(state->attributes), state->outputs, state->device);
  if (created.size() + static_cast<size_t>(state->callable->info->optionalOuts) < results.size())
    failCall(*state->callable, std::to_string(created.size()) + " results; expected " + std::to_string(results.size()));
  std::move(created.begin(), created.begin() + static_cast<std::ptrdiff_t>(std::min(created.size(), results.size())),
            results.begin());
}

void deallocate(const Tensor &tensor, bool force) { release(tensor, force); }

} // namespace detail

//===----------------------------------------------------------------------===//
// Devices, values
//===----------------------------------------------------------------------===//

static Device opened(const sim::MeshOptions &options) {
  (void)mostPackedBytes(); // reports a wrong setting with the first use
  Device device = sim::MeshDevice::open(options);
  sim::publish(*device);
  return device;
}

Device open_device(int, const DeviceOptions &options) { return open_mesh_device(MeshShape{1, 1}, options); }

Device open_mesh_device(MeshShape shape, const DeviceOptions &options) {
  sim::MeshOptions mesh;
  mesh.arch = options.arch;
  mesh.rows = shape.rows;
  mesh.columns = shape.columns;
  mesh.l1SmallSize = options.l1_small_size;
  mesh.traceRegionSize = options.trace_region_size;
  mesh.exact = options.exact;
  return opened(mesh);
}

Device open_mesh_device(std::string_view preset) { return opened(sim::meshOptions(preset)); }

void close_device(const Device &device) {
  if (!device)
    throw DeviceError("close_device: no device");
  device->close();
}

Tensor from_vector(std::span<const float> values, const Shape &shape, DataType dtype, Layout layout,
                   const Device &device, const std::optional<MemoryConfig> &memory_config) {
  if (static_cast<uint64_t>(volume(shape)) != values.size())
    throw Error("from_vector: " + std::to_string(values.size()) + " values for a tensor of shape " + toString(shape));
  Tensor tensor = runtime::castTensor(runtime::createHostTensor(values.data(), shape, DataType::Float32), dtype);
  static const detail::Function toLayout("ttnn.to_layout"), toDevice("ttnn.to_device");
  if (layout != tensor.layout())
    tensor = detail::Call(toLayout).operand(tensor).layout(layout).one();
  return device ? detail::Call(toDevice).operand(tensor).device(device).memory_config(memory_config).one() : tensor;
}

std::vector<float> to_vector(const Tensor &tensor) {
  std::vector<float> values(static_cast<size_t>(volume(tensor.shape())));
  runtime::copyData(values.data(), tensor.single("to_vector"), DataType::Float32);
  return values;
}

Tensor scalar(double value, const Tensor &like) {
  static const detail::Function full("ttnn.full");
  return detail::Call(full)
      .attribute("shape", Integers())
      .attribute("fill_value", value)
      .dtype(like.dtype())
      .layout(like.layout())
      .one();
}

} // namespace tt::ttnn
