//===- call.hpp - helpers of the generated operations.hpp -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttnn/types.hpp"

#include <span>

namespace tt::ttnn {
struct Callable;
struct Attribute;
} // namespace tt::ttnn

namespace tt::ttnn::detail {

/// The function of an op, looked up once. Throws Error when this version of the library has none.
class Function {
public:
  explicit Function(const char *op);
  const Callable *operator->() const { return callable; }
  const Callable &operator*() const { return *callable; }

private:
  const Callable *callable;
};

/// A struct or a list on its way to becoming an attribute.
class Value {
public:
  static Value structure(const char *type);
  static Value list();
  Value(Value &&) noexcept;
  ~Value();
  // Fields of a struct, or, with an empty name, items of a list.
  Value &add(const char *name, bool value);
  Value &add(const char *name, int64_t value);
  Value &add(const char *name, const std::string &value);
  Value &add(const char *name, const Integers &value);
  Value &add(const char *name, const std::vector<double> &value);
  Value &add(const char *name, const OptionalIntegers &value);
  Value &add(const char *name, Value value);
  Value &addEnum(const char *name, const char *type, int64_t value);
  Attribute take() &&;

private:
  struct State;
  explicit Value(State *state);
  std::unique_ptr<State> state;
};

/// A memory configuration that is an argument of its own, and not where the results go.
inline Value valueOf(const MemoryConfig &from) {
  Value value = Value::structure("ttnn.memory_config");
  value.addEnum("tensor_memory_layout", "ttnn.tensor_memory_layout", static_cast<int64_t>(from.layout));
  value.addEnum("buffer_type", "ttnn.buffer_type", static_cast<int64_t>(from.buffer));
  return value;
}

/// One call: its operands in the order of the dialect, its attributes, and what its results shall be.
class Call {
public:
  struct State;
  explicit Call(const Function &function);
  ~Call();
  Call(const Call &) = delete;

  Call &operand(const Tensor &tensor);
  Call &operand(const std::optional<Tensor> &tensor);
  Call &operands(const std::vector<Tensor> &tensors);
  Call &device(const std::optional<Device> &device);
  Call &attribute(const char *name, bool value);
  Call &attribute(const char *name, int64_t value);
  Call &attribute(const char *name, double value);
  Call &attribute(const char *name, const std::string &value);
  Call &attribute(const char *name, const Integers &value);
  Call &attribute(const char *name, const OptionalIntegers &value);
  Call &attribute(const char *name, Value value);
  Call &attributeEnum(const char *name, const char *type, int64_t value);
  template <class T> Call &attribute(const char *name, const std::optional<T> &value) {
    return value ? attribute(name, *value) : *this;
  }

  /// Of the result, or of all results.
  Call &dtype(const std::optional<DataType> &value);
  Call &memory_config(const std::optional<MemoryConfig> &value);
  Call &layout(const std::optional<Layout> &value);
  Call &dtype(DataType value) { return dtype(std::optional(value)); }
  Call &memory_config(const MemoryConfig &value) { return memory_config(std::optional(value)); }
  Call &layout(Layout value) { return layout(std::optional(value)); }
  Call &dtype(const OneOrEach<DataType> &value);
  Call &memory_config(const OneOrEach<MemoryConfig> &value);
  Call &layout(const OneOrEach<Layout> &value);

  void run();
  Tensor one();
  template <size_t count> std::array<Tensor, count> several() {
    std::array<Tensor, count> results;
    take(results);
    return results;
  }

private:
  void take(std::span<Tensor> results);
  std::unique_ptr<State> state;
};

/// What programs call most often, without a Call. Throws OpError when there is no tensor.
void deallocate(const Tensor &tensor, bool force);

} // namespace tt::ttnn::detail
