//===- TtnnFunctions.cpp - the functions of ttnn for Python ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "tt/range_error.h"
#include "tt/ttnn/trace.h"

#include <algorithm>
#include <map>
#include <nanobind/stl/tuple.h>

namespace tt::python {
namespace {

using ttnn::Callable;
using ttnn::Tensor;

constexpr std::string_view resultParameters[] = {"dtype", "memory_config", "layout"};

/// Returns a parameter that functions accept without listing it.
const Parameter &implied(std::string_view name) {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> parameters;
    for (const std::string_view each : resultParameters) {
      Parameter parameter;
      parameter.name = parameter.ods = each;
      parameter.role = Role::Result;
      parameter.optional = parameter.keywordOnly = true;
      parameters.push_back(parameter);
    }
    return parameters;
  }();
  return *std::ranges::find(all, name, &Parameter::name);
}

Argument argumentOf(const Callable &callable, const Parameter &parameter) {
  Argument argument{&parameter};
  argument.operand = std::ranges::find(callable.operands, &parameter) != callable.operands.end();
  if (argument.operand || parameter.role != Role::Value)
    return argument;
  argument.attribute = ttnn::findAttribute(*callable.info, parameter.ods);
  return argument;
}

std::map<std::string, Function, std::less<>> &publicFunctions() {
  static auto *functions = [] {
    auto *created = new std::map<std::string, Function, std::less<>>;
    for (const Callable &callable : ttnn::callables()) {
      const std::string_view name = callable.function->name;
      created->try_emplace(std::string(name), name).first->second.add(callable);
    }
    return created;
  }();
  return *functions;
}

const char *kindOf(const Argument &argument) {
  switch (argument.parameter->role) {
  case Role::Device:
    return "device";
  case Role::Result:
    return "result";
  case Role::Fixed:
    return "fixed";
  case Role::Value:
    break;
  }
  return !argument.operand ? "attribute" : argument.parameter->variadic ? "tensors" : "tensor";
}

} // namespace

const Function &publicFunction(std::string_view name) {
  const auto it = publicFunctions().find(name);
  if (it == publicFunctions().end())
    throw Error("this runtime has no function ttnn." + std::string(name));
  return it->second;
}

size_t Function::mergedPosition(const Parameter &parameter, const FunctionRow &row, const Argument &argument) {
  auto it = std::ranges::find(merged, parameter.name, &FunctionParameter::name);
  const std::string type = typeText(row, argument);
  if (it == merged.end()) {
    // Of a later row: the earlier ones do not need it.
    merged.push_back({std::string(parameter.name),
                      parameter.keywordOnly || !all.empty(),
                      parameter.omissible() || parameter.role == Role::Fixed || !all.empty(),
                      {},
                      {},
                      type});
    it = merged.end() - 1;
  } else {
    it->omissible |= parameter.omissible();
    if (it->type.find(type) == std::string::npos)
      it->type = type.find(it->type) == 0 ? type : it->type + " | " + type;
  }
  if (parameter.role == Role::Fixed && it->defaultText.empty())
    it->defaultText = parameter.defaultValue;
  if (parameter.role == Role::Value && parameter.hasDefault && it->defaultText.empty()) {
    it->defaultText = parameter.defaultValue;
    if (argument.attribute && argument.attribute->kind == ttnn::AttributeKind::Enum)
      it->defaultKind = "enum";
    else if (argument.attribute && argument.attribute->kind == ttnn::AttributeKind::String)
      it->defaultKind = "string";
  }
  return static_cast<size_t>(it - merged.begin());
}

void Function::add(const Callable &callable) {
  FunctionRow row{&callable, {}, false};
  const ttnn::api::Function &function = *callable.function;
  row.takesNumbers = callable.broadcasts;
  const auto addParameter = [&](const Parameter &parameter) {
    Argument argument = argumentOf(callable, parameter);
    argument.position = mergedPosition(parameter, row, argument);
    row.arguments.push_back(argument);
  };
  for (const Parameter &parameter : function.parameters)
    addParameter(parameter);
  if (callable.info->outs != 0 && function.shapeRule != "nothing")
    for (const std::string_view name : resultParameters)
      if (!function.find(name))
        addParameter(implied(name));
  // A parameter that this row does not have cannot be required.
  for (size_t i = 0; i < merged.size(); ++i)
    if (std::ranges::none_of(row.arguments, [&](const Argument &argument) { return argument.position == i; }))
      merged[i].omissible = true;
  // Parameters that replace them: in Python, those without a default precede those with one.
  bool omissible = false;
  for (FunctionParameter &parameter : merged) {
    parameter.keywordOnly |= omissible && !parameter.omissible;
    omissible |= parameter.omissible && !parameter.keywordOnly;
  }
  all.push_back(std::move(row));
}

nb::object Function::call(std::span<PyObject *const> arguments, std::span<const Tensor> into,
                          std::string_view parameter) const {
  Mismatch best;
  bool found = false;
  for (const FunctionRow &row : all) {
    FunctionCall call;
    Mismatch mismatch;
    if (!understand(*this, row, arguments, call, mismatch)) {
      // The row that matched furthest has the best error message; several that stopped at one position agree on it.
      if (!found || mismatch.position > best.position)
        best = mismatch;
      else if (mismatch.position == best.position && mismatch.isValue != best.isValue)
        best = mismatch.isValue ? mismatch : best;
      else if (mismatch.position == best.position && best.expected.find(mismatch.expected) == std::string::npos)
        best.expected += " or " + mismatch.expected;
      found = true;
      continue;
    }
    std::vector<Tensor> results;
    {
      nb::gil_scoped_release unlocked;
      results = into.empty()
                    ? ttnn::call(*row.callable, call.operands, std::move(call.attributes), call.outputs, call.device)
                    : ttnn::callInto(*row.callable, into, parameter, call.operands, std::move(call.attributes),
                                     call.outputs, call.device);
    }
    if (results.empty())
      return nb::none();
    if (results.size() == 1)
      return nb::cast(std::move(results[0]));
    nb::list list;
    for (Tensor &result : results)
      list.append(nb::cast(std::move(result)));
    return nb::tuple(list);
  }
  PyObject *value = best.position < arguments.size() ? arguments[best.position] : nullptr;
  const std::string name = best.position < merged.size() ? merged[best.position].name : "an argument";
  std::string foundText = best.instead;
  if (foundText.empty())
    foundText = isNone(value)                               ? "None"
                : nb::isinstance<Tensor>(nb::handle(value)) ? "a ttnn.Tensor"
                                                            : reprOf(value) + " of type " + Py_TYPE(value)->tp_name;
  const std::string message = "ttnn." + publicName + ": " + name + " is " + foundText + "; expected " + best.expected;
  if (best.isValue)
    throw RangeError(message);
  throw nb::type_error(message.c_str());
}

void bindTtnnFunctions(nb::module_ &module) {
  nb::class_<FunctionParameter>(module, "FunctionParameter", "A parameter of a function.")
      .def_ro("name", &FunctionParameter::name)
      .def_ro("keyword_only", &FunctionParameter::keywordOnly)
      .def_ro("omissible", &FunctionParameter::omissible, "A call may leave it out.")
      .def_ro("default", &FunctionParameter::defaultText, "As tools/opgen/functions.py writes it; empty for None.")
      .def_ro("default_kind", &FunctionParameter::defaultKind, "\"enum\" or \"string\" where the default is one.")
      .def_ro("type", &FunctionParameter::type, "As a type hint.");
  nb::class_<FunctionRow>(module, "FunctionRow", "An op behind a function.")
      .def_prop_ro(
          "op", [](const FunctionRow &self) { return self.callable->function->op; }, "In the dialect.")
      .def_prop_ro(
          "results", [](const FunctionRow &self) { return self.callable->info->outs; },
          "Number of tensors that it returns; -1 for any number.")
      .def_prop_ro(
          "parameters",
          [](const FunctionRow &self) {
            std::vector<std::tuple<std::string_view, std::string_view, const char *>> parameters;
            for (const Argument &argument : self.arguments)
              parameters.emplace_back(argument.parameter->name, argument.parameter->ods, kindOf(argument));
            return parameters;
          },
          "Of each: its name, that of the dialect's operand or attribute, and \"tensor\", \"tensors\", \"attribute\", "
          "\"device\", \"result\" (dtype, layout, memory_config) or \"fixed\" (tells rows of one function apart).");
  nb::class_<Function>(module, "Function", "A function of ttnn: the ops behind its name.")
      .def_prop_ro("name", &Function::name, "Behind \"ttnn.\".")
      .def_prop_ro("aliases",
                   [](const Function &self) {
                     std::vector<std::string> names;
                     for (const FunctionRow &row : self.rows())
                       for (const std::string_view alias : row.callable->function->aliases)
                         if (std::ranges::find(names, alias) == names.end())
                           names.emplace_back(alias);
                     return names;
                   })
      .def_prop_ro(
          "ops",
          [](const Function &self) {
            std::vector<std::string_view> names;
            for (const FunctionRow &row : self.rows())
              names.push_back(row.callable->function->op);
            return names;
          },
          "Of the dialect.")
      .def_prop_ro(
          "docs",
          [](const Function &self) {
            std::vector<std::string_view> lines;
            for (const FunctionRow &row : self.rows())
              lines.push_back(row.callable->function->doc);
            return lines;
          },
          "One line for each op.")
      .def_prop_ro(
          "into", [](const Function &self) { return self.rows().front().callable->function->into; },
          "The parameter that takes tensors which the results are written to; empty where nothing does.")
      .def_prop_ro(
          "results", [](const Function &self) { return self.rows().front().callable->info->outs; },
          "Number of tensors that it returns; -1 for any number.")
      .def_prop_ro(
          "rows", [](const Function &self) { return std::vector<FunctionRow>(self.rows().begin(), self.rows().end()); },
          "The ops that it may be.")
      .def_prop_ro("parameters",
                   [](const Function &self) {
                     return std::vector<FunctionParameter>(self.parameters().begin(), self.parameters().end());
                   })
      .def_prop_ro(
          "caller",
          [](const Function &self) {
            return nb::cpp_function([function = &self](nb::args arguments) {
              const auto count = static_cast<size_t>(PyTuple_GET_SIZE(arguments.ptr()));
              return function->call({reinterpret_cast<PyTupleObject *>(arguments.ptr())->ob_item, count});
            });
          },
          "Takes the arguments in the order of `parameters`, None for those that are left out.")
      .def_prop_ro(
          "caller_into",
          [](const Function &self) {
            return nb::cpp_function(
                [function = &self](const std::string &parameter, const nb::list &targets, nb::args arguments) {
                  std::vector<Tensor> into;
                  for (const nb::handle target : targets)
                    into.push_back(nb::cast<Tensor &>(target));
                  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(arguments.ptr()));
                  return function->call({reinterpret_cast<PyTupleObject *>(arguments.ptr())->ob_item, count}, into,
                                        parameter);
                });
          },
          "The same with the results in existing tensors: takes what the caller calls them, and a list of them, "
          "before the arguments.");
  module.def(
      "enums",
      [] {
        nb::list rows;
        for (const ttnn::api::Enum &row : ttnn::api::enums()) {
          nb::list cases;
          for (const auto &each : row.cases)
            cases.append(nb::make_tuple(each.name, each.symbol, each.value));
          rows.append(nb::make_tuple(row.type, row.name, cases));
        }
        return rows;
      },
      nb::sig("def enums() -> list[tuple[str, str, list[tuple[str, str, int]]]]"),
      "Enums of the dialect: type, public name, and of each case public name, symbol and value.");
  module.def(
      "structs",
      [] {
        nb::list rows;
        for (const ttnn::api::Struct &row : ttnn::api::structs()) {
          nb::list all;
          for (const auto &field : row.fields)
            all.append(nb::make_tuple(field.name, field.kind, field.list, field.optional, field.publicName));
          rows.append(nb::make_tuple(row.type, row.name, all));
        }
        return rows;
      },
      nb::sig("def structs() -> list[tuple[str, str, list[tuple[str, str, bool, bool, str]]]]"),
      "Structs of the dialect: type, public name, and of each field name, kind, whether a list, whether it may be left "
      "out, public name.");
  module.def(
      "functions",
      [] {
        nb::list functions;
        for (const auto &[name, function] : publicFunctions())
          functions.append(nb::cast(&function, nb::rv_policy::reference));
        return functions;
      },
      nb::sig("def functions() -> list[Function]"), "All functions, by name.");
}

} // namespace tt::python
