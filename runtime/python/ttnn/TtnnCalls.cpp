//===- TtnnCalls.cpp - binding of Python calls to library functions -------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "tt/sim/formats.h"

#include <algorithm>

namespace tt::python {
namespace {

using ttnn::Tensor;

/// One value for all results, or a sequence of one for each.
template <class T>
bool readOutputs(PyObject *value, std::optional<T> ttnn::Output::*field, size_t results, const char *what,
                 std::vector<ttnn::Output> &outputs, Mismatch &mismatch) {
  T one;
  mismatch.expected = what;
  if (nb::try_cast(nb::handle(value), one, /*convert=*/false)) {
    if (outputs.empty())
      outputs.resize(1);
    for (ttnn::Output &output : outputs)
      output.*field = one;
    return true;
  }
  if (results < 2)
    return false;
  mismatch.expected += ", or one for each of the " + std::to_string(results) + " results";
  std::vector<std::optional<T>> each;
  if (!nb::try_cast(nb::handle(value), each, /*convert=*/false) || each.size() != results)
    return false;
  if (outputs.empty())
    outputs.resize(1);
  outputs.resize(results, outputs.front());
  for (size_t i = 0; i < results; ++i)
    outputs[i].*field = each[i];
  return true;
}

class CallReader {
public:
  CallReader(const Function &function, const FunctionRow &row, std::span<PyObject *const> arguments, FunctionCall &call,
             Mismatch &mismatch)
      : function(function), row(row), arguments(arguments), call(call), mismatch(mismatch) {}

  bool read() {
    call.operands.resize(row.callable->operands.size());
    size_t operand = 0;
    for (const Argument &argument : row.arguments) {
      mismatch = {argument.position, {}, {}};
      const size_t place = operand;
      operand += argument.operand;
      PyObject *value = given(argument.position);
      if (isNone(value) ? !mayBeAbsent(argument) : !readArgument(value, argument, place))
        return false;
    }
    return takesAll() && (numbers == 0 || placeNumbers());
  }

private:
  PyObject *given(size_t position) const { return position < arguments.size() ? arguments[position] : nullptr; }

  bool mayBeAbsent(const Argument &argument) {
    if (argument.parameter->omissible() || argument.parameter->role == Role::Fixed)
      return true;
    if (!given(argument.position))
      mismatch.instead = "left out";
    mismatch.expected = typeText(row, argument);
    return false;
  }

  bool readArgument(PyObject *value, const Argument &argument, size_t place) {
    switch (argument.parameter->role) {
    case Role::Fixed: {
      const bool expected = argument.parameter->defaultValue == "true";
      mismatch.expected = !PyBool_Check(value) ? "True or False" : expected ? "True" : "False";
      return PyBool_Check(value) && (value == Py_True) == expected;
    }
    case Role::Device:
      mismatch.expected = "an open device";
      return nb::try_cast(nb::handle(value), call.device);
    case Role::Result:
      return readResult(value, argument.parameter->name);
    case Role::Value:
      break;
    }
    if (argument.operand)
      return argument.parameter->variadic ? readOperands(value) : readOperand(value, place);
    call.attributes.push_back({std::string(argument.parameter->ods), {}});
    return toAttribute(value, argument, call.attributes.back().attribute, mismatch);
  }

  bool readResult(PyObject *value, std::string_view name) {
    const auto results = static_cast<size_t>(std::max(row.callable->info->outs, 0));
    if (name == "dtype")
      return readOutputs(value, &ttnn::Output::dtype, results, "ttnn.DataType", call.outputs, mismatch);
    if (name == "layout")
      return readOutputs(value, &ttnn::Output::layout, results, "ttnn.Layout", call.outputs, mismatch);
    return readOutputs(value, &ttnn::Output::memory, results, "ttnn.MemoryConfig", call.outputs, mismatch);
  }

  /// The last of the operands.
  bool readOperands(PyObject *value) {
    mismatch.expected = "a list of ttnn.Tensor";
    std::vector<Tensor> list;
    if (nb::isinstance<Tensor>(nb::handle(value)) || !nb::try_cast(nb::handle(value), list))
      return false;
    call.operands.pop_back();
    std::ranges::move(list, std::back_inserter(call.operands));
    return true;
  }

  bool readOperand(PyObject *value, size_t place) {
    if (Tensor *tensor; nb::try_cast(nb::handle(value), tensor) && tensor) {
      call.operands[place] = *tensor;
      return true;
    }
    mismatch.expected = row.takesNumbers ? "ttnn.Tensor or a number" : "ttnn.Tensor";
    if (!row.takesNumbers || !isNumber(value))
      return false;
    ++numbers;
    return true;
  }

  /// Refuses arguments that this row does not take, unless a parameter determines the row: with training=False,
  /// momentum has no effect, as in PyTorch.
  bool takesAll() {
    const auto isFixed = [](const Argument &argument) { return argument.parameter->role == Role::Fixed; };
    if (row.arguments.size() == function.parameters().size() || std::ranges::any_of(row.arguments, isFixed))
      return true;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!isNone(arguments[i]) && std::ranges::find(row.arguments, i, &Argument::position) == row.arguments.end()) {
        mismatch = {i, "nothing, with these arguments", {}};
        return false;
      }
    return true;
  }

  /// The tensor whose type numbers next to it take: the one that the data type of the result follows, or else the last.
  const Tensor *numbersLike() const {
    const std::string_view named = row.callable->function->defaultType(0).name;
    const std::string_view followed = named.empty() ? row.callable->operands.front()->name : named;
    const Tensor *like = nullptr;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      if (!call.operands[i])
        continue;
      like = &call.operands[i];
      if (row.callable->operands[i]->name == followed)
        break;
    }
    return like;
  }

  bool placeNumbers() {
    const Tensor *found = numbersLike();
    mismatch = {row.arguments.front().position, "ttnn.Tensor for one of the arguments", {}};
    if (!found)
      return false;
    const Tensor like = *found;
    like.requireAllocated(("ttnn." + function.name()).c_str());
    size_t operand = 0;
    for (const Argument &argument : row.arguments) {
      if (!argument.operand)
        continue;
      Tensor &place = call.operands[operand++];
      PyObject *value = given(argument.position);
      mismatch = {argument.position, "a number", {}};
      if (!place && !isNone(value) && !numberTensor(value, like, place, mismatch))
        return false;
    }
    // Numbers next to a block format are bf16; the result has the tensor's format, wherever the number is.
    if (sim::isBlockFormat(like.dtype())) {
      if (call.outputs.empty())
        call.outputs.resize(1);
      call.outputs[0].dtype = call.outputs[0].dtype.value_or(like.dtype());
    }
    return true;
  }

  const Function &function;
  const FunctionRow &row;
  std::span<PyObject *const> arguments;
  FunctionCall &call;
  Mismatch &mismatch;
  size_t numbers = 0; // in place of tensors
};

} // namespace

bool understand(const Function &function, const FunctionRow &row, std::span<PyObject *const> arguments,
                FunctionCall &call, Mismatch &mismatch) {
  return CallReader(function, row, arguments, call, mismatch).read();
}

} // namespace tt::python
