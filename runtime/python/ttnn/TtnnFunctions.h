//===- TtnnFunctions.h - the functions of ttnn for Python -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "TtnnBindings.h"

#include "tt/ttnn/call.h"

#include <span>

namespace tt::python {

using ttnn::api::Parameter;
using ttnn::api::Role;

/// The values that a parameter of a row accepts.
struct Argument {
  const Parameter *parameter;
  const ttnn::AttributeSpec *attribute = nullptr; // nullptr: tensors, the device, or what the results shall be
  bool operand = false;
  size_t position = 0; // among the parameters of the public function
};

/// One op behind a public name.
struct FunctionRow {
  const ttnn::Callable *callable;
  std::vector<Argument> arguments;
  bool takesNumbers = false; // in place of tensors: elementwise ops with several
};

/// A parameter of a public name: the common description of its rows.
struct FunctionParameter {
  std::string name;
  bool keywordOnly = false, omissible = false;
  std::string defaultText; // as in functions.py; empty: None
  std::string defaultKind; // "enum", "string" or "": how to read defaultText
  std::string type;        // for people: "Tensor | float"
};

/// A successfully parsed call.
struct FunctionCall {
  std::vector<ttnn::Tensor> operands;
  std::vector<ttnn::NamedAttribute> attributes;
  std::vector<ttnn::Output> outputs;
  runtime::Device device;
};

/// A public function. A call takes the first row that its arguments fit.
class Function {
public:
  explicit Function(std::string_view name) : publicName(name) {}
  /// An op with this name.
  void add(const ttnn::Callable &callable);
  const std::string &name() const { return publicName; }
  std::span<const FunctionParameter> parameters() const { return merged; }
  std::span<const FunctionRow> rows() const { return all; }
  /// Arguments in the order of parameters(); None, and those past the end, are omitted.
  nb::object call(std::span<PyObject *const> arguments) const { return call(arguments, {}, {}); }
  /// The same with results in existing tensors, which the caller passed as `parameter`; an empty list: new ones.
  nb::object call(std::span<PyObject *const> arguments, std::span<const ttnn::Tensor> into,
                  std::string_view parameter) const;

private:
  size_t mergedPosition(const Parameter &parameter, const FunctionRow &row, const Argument &argument);
  std::string publicName;
  std::vector<FunctionParameter> merged;
  std::vector<FunctionRow> all;
};

/// Finds a function by its public name, "matmul"; throws for a name that no op has.
const Function &publicFunction(std::string_view name);

//===- Arguments -------------------------------------------------------------===//

/// The reason why the arguments of a call did not fit a row.
struct Mismatch {
  size_t position = 0;
  std::string expected; // "a number"
  std::string instead;  // what was found, when the type of the argument does not say it
  bool isValue = false; // of the right kind: a ValueError
};

inline bool isNone(PyObject *value) { return value == nullptr || value == Py_None; }
/// Parses a call as one of a row; false if it is not.
bool understand(const Function &function, const FunctionRow &row, std::span<PyObject *const> arguments,
                FunctionCall &call, Mismatch &mismatch);
/// False if the value is of another kind; `expected` then states the expected one.
bool toAttribute(PyObject *value, const Argument &argument, ttnn::Attribute &attribute, Mismatch &mismatch);
/// Whether a Python object is a number; a bool is one.
bool isNumber(PyObject *value);
/// A tensor of rank 0 that an elementwise op broadcasts, of the data type and layout of `like`.
bool numberTensor(PyObject *value, const ttnn::Tensor &like, ttnn::Tensor &tensor, Mismatch &mismatch);
/// "ReduceType" for "ttcore.reduce_type".
std::string className(std::string_view attributeType);
/// Returns the type of a parameter as a Python type hint.
std::string typeText(const FunctionRow &row, const Argument &argument);

void bindTtnnFunctions(nb::module_ &module);
/// Operators and indexing of tensors, which call functions.
void bindTtnnOperators(nb::class_<ttnn::Tensor> &tensor);

} // namespace tt::python
