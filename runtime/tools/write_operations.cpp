//===- write_operations.cpp - prints ttnn/operations.hpp --------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// One C++ function per op, with types from the registry, and the enums and structs that they take. The build runs this
// program.
//
//===----------------------------------------------------------------------===//

#include "tt/ttnn/call.h"

#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

namespace {

using namespace tt::ttnn;
using api::Parameter;
using api::Role;

/// The types that types.hpp defines by hand: types of the library itself.
const std::set<std::string_view> handWritten = {"DataType", "Layout", "BufferType", "TensorMemoryLayout"};

std::string text(std::string_view view) { return std::string(view); }

std::string joined(const std::vector<std::string> &parts, const std::string &separator) {
  std::string all;
  for (const std::string &part : parts)
    all += (all.empty() ? "" : separator) + part;
  return all;
}

/// A line broken at commas so that none exceeds 120 columns.
std::string wrapped(const std::string &head, const std::vector<std::string> &parts, const std::string &tail) {
  std::string all = head, line = head;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? "," : tail);
    if (i > 0 && line.size() + 1 + part.size() > 120) {
      all += "\n" + std::string(head.size(), ' ');
      line = std::string(head.size(), ' ');
    } else if (i > 0) {
      all += " ";
      line += " ";
    }
    all += part;
    line += part;
  }
  return parts.empty() ? all + tail : all;
}

//===----------------------------------------------------------------------===//
// Enums and structs
//===----------------------------------------------------------------------===//

std::string className(std::string_view type) {
  if (const api::Enum *row = api::findEnum(type))
    return text(row->name);
  if (const api::Struct *row = api::findStruct(type))
    return text(row->name);
  return type == "ttnn.memory_config" ? "MemoryConfig" : "";
}

void printEnum(std::ostream &out, const api::Enum &row) {
  if (handWritten.contains(row.name))
    return;
  std::vector<std::string> cases;
  for (const api::Enum::Case &each : row.cases)
    cases.push_back(text(each.name) + " = " + std::to_string(each.value));
  out << "enum class " << row.name << " : int64_t {\n" << wrapped("  ", cases, "") << "\n};\n";
}

std::string fieldType(const api::Struct::Field &field) {
  std::string type = field.kind == "bool"     ? "bool"
                     : field.kind == "int"    ? "int64_t"
                     : field.kind == "float"  ? "double"
                     : field.kind == "string" ? "std::string"
                     : field.kind == "ints"   ? (field.optional ? "OptionalIntegers" : "Integers")
                     : field.kind == "floats" ? "std::vector<double>"
                                              : className(field.kind);
  if (field.list)
    return "std::vector<" + type + ">";
  return field.optional && field.kind != "ints" && field.kind != "floats" ? "std::optional<" + type + ">" : type;
}

void printStruct(std::ostream &out, const api::Struct &row) {
  out << "struct " << row.name << " {\n";
  for (const auto &field : row.fields)
    out << "  " << fieldType(field) << " " << field.name << " = {};\n";
  out << "};\n";
}

/// The statement that adds a field, or an item of a list, to a future attribute.
std::string addition(const std::string &name, std::string_view kind, const std::string &value) {
  if (api::findEnum(kind))
    return "addEnum(\"" + name + "\", \"" + text(kind) + "\", static_cast<int64_t>(" + value + "));";
  if (api::findStruct(kind))
    return "add(\"" + name + "\", valueOf(" + value + "));";
  return "add(\"" + name + "\", " + value + ");";
}

void printValueOf(std::ostream &out, const api::Struct &row) {
  out << "inline Value valueOf(const " << row.name << " &from) {\n  Value value = Value::structure(\"" << row.type
      << "\");\n";
  for (const auto &field : row.fields) {
    const std::string name = text(field.name), from = "from." + name;
    if (field.list) {
      out << "  if (!" << from << ".empty()) {\n    Value items = Value::list();\n    for (const auto &item : " << from
          << ")\n      items." << addition("", field.kind, "item") << "\n    value.add(\"" << name
          << "\", std::move(items));\n  }\n";
    } else if (field.kind == "floats") {
      out << "  if (!" << from << ".empty())\n    value." << addition(name, field.kind, from) << "\n";
    } else if (field.optional && field.kind != "ints") {
      out << "  if (" << from << ")\n    value." << addition(name, field.kind, "*" + from) << "\n";
    } else {
      out << "  value." << addition(name, field.kind, from) << "\n";
    }
  }
  out << "  return value;\n}\n";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

enum class Kind { Tensor, Tensors, Device, Attribute, Enum, Struct, Variant, Fixed, Result };

struct Argument {
  const Parameter *parameter;
  Kind kind;
  std::string type;         // of the C++ parameter
  std::string defaultValue; // of the C++ parameter; empty: it has none
  std::string attributeType;
};

std::string enumerator(std::string_view type, std::string_view symbol) {
  const api::Enum *row = api::findEnum(type);
  for (const auto &each : row->cases)
    if (each.symbol == symbol)
      return text(row->name) + "::" + text(each.name);
  return {};
}

std::string numberText(std::string_view value) {
  if (value == "inf" || value == "-inf")
    return (value == "-inf" ? "-" : "") + std::string("std::numeric_limits<double>::infinity()");
  return text(value);
}

Argument attributeArgument(const Parameter &parameter, const AttributeSpec &spec) {
  Argument argument{&parameter, Kind::Attribute, {}, {}, text(spec.type)};
  const std::string_view given = parameter.defaultValue;
  const bool absent = parameter.optional;
  const auto plain = [&](const char *type, const std::string &value, bool byReference = false) {
    const std::string name = absent ? std::string("std::optional<") + type + ">" : type;
    argument.type = absent || byReference ? "const " + name + " &" : name + " ";
    argument.defaultValue = absent ? "{}" : value;
  };
  switch (spec.kind) {
  case AttributeKind::Bool:
    plain("bool", text(given));
    break;
  case AttributeKind::Int:
    plain("int64_t", text(given));
    break;
  case AttributeKind::Float:
  case AttributeKind::Number:
    plain("double", numberText(given));
    break;
  case AttributeKind::String:
    plain("std::string", "\"" + text(given) + "\"", true);
    break;
  case AttributeKind::IntArray:
  case AttributeKind::Integers:
    argument.type = absent ? "const OptionalIntegers &" : "const Integers &";
    argument.defaultValue = absent ? "{}" : text(given);
    break;
  case AttributeKind::Enum: {
    argument.kind = Kind::Enum;
    plain(className(argument.attributeType).c_str(),
          parameter.hasDefault ? enumerator(argument.attributeType, given) : "");
    break;
  }
  case AttributeKind::Struct: {
    std::vector<std::string> types;
    for (const std::string_view type : api::split(argument.attributeType, '|'))
      types.push_back(className(type));
    argument.kind = types.size() > 1 ? Kind::Variant : Kind::Struct;
    plain(types.size() > 1 ? ("std::variant<" + joined(types, ", ") + ">").c_str() : types.front().c_str(), "", true);
    break;
  }
  default:
    throw tt::Error(text(parameter.name) + ": a kind that C++ functions do not take");
  }
  if (!parameter.omissible())
    argument.defaultValue.clear();
  return argument;
}

Argument resultArgument(const Parameter &parameter, bool several) {
  const std::string type = parameter.name == "dtype"    ? "DataType"
                           : parameter.name == "layout" ? "Layout"
                                                        : "MemoryConfig";
  if (several)
    return {&parameter, Kind::Result, "const OneOrEach<" + type + "> &", "{}", {}};
  if (!parameter.omissible())
    return {&parameter, Kind::Result, type == "MemoryConfig" ? "const MemoryConfig &" : type + " ", {}, {}};
  return {&parameter, Kind::Result, "const std::optional<" + type + "> &", "{}", {}};
}

Argument argumentOf(const Callable &callable, const Parameter &parameter) {
  switch (parameter.role) {
  case Role::Result:
    return resultArgument(parameter, callable.info->outs > 1);
  case Role::Device:
    if (parameter.optional)
      return {&parameter, Kind::Device, "const std::optional<Device> &", "{}", {}};
    return {&parameter, Kind::Device, "const Device &", {}, {}};
  case Role::Fixed:
    return {&parameter, Kind::Fixed, "bool ", {}, {}};
  case Role::Value:
    break;
  }
  if (const AttributeSpec *spec = findAttribute(*callable.info, parameter.ods))
    return attributeArgument(parameter, *spec);
  if (parameter.variadic)
    return {&parameter, Kind::Tensors, "const std::vector<Tensor> &", {}, {}};
  if (parameter.optional)
    return {&parameter, Kind::Tensor, "const std::optional<Tensor> &", "{}", {}};
  return {&parameter, Kind::Tensor, "const Tensor &", {}, {}};
}

std::vector<Argument> argumentsOf(const Callable &callable) {
  // The parameters of every function with results, in addition to its own.
  static const Parameter trailing[] = {{"dtype", "dtype", {}, Role::Result, true, false, false, true},
                                       {"memory_config", "memory_config", {}, Role::Result, true, false, false, true},
                                       {"layout", "layout", {}, Role::Result, true, false, false, true}};
  std::vector<Argument> arguments;
  for (const Parameter &parameter : callable.function->parameters)
    arguments.push_back(argumentOf(callable, parameter));
  if (callable.info->outs > 0)
    for (const Parameter &parameter : trailing)
      if (!callable.function->find(parameter.name))
        arguments.push_back(argumentOf(callable, parameter));
  // A parameter can be omitted if all later ones can.
  bool omissible = true;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
    omissible = omissible && !it->defaultValue.empty();
    if (!omissible)
      it->defaultValue.clear();
  }
  return arguments;
}

/// A condition before the statement that passes an argument: a default of the function need not be created, looked up
/// and compared. Empty if no exact comparison is possible.
std::string unlessDefault(const Argument &argument) {
  const Parameter &parameter = *argument.parameter;
  const std::string name = text(parameter.name), value = text(parameter.defaultValue);
  if (!parameter.hasDefault)
    return {};
  if (argument.type == "bool ")
    return "if (" + std::string(value == "true" ? "!" : "") + name + ") ";
  return argument.type == "int64_t " ? "if (" + name + " != " + value + ") " : std::string();
}

/// The statements that run one row. `indent` precedes each.
void printBody(std::ostream &out, const Callable &callable, const std::vector<Argument> &arguments,
               const std::string &indent) {
  out << indent << "static const detail::Function function(\"" << callable.function->op << "\");\n"
      << indent << "detail::Call call(function);\n";
  for (const Argument &argument : arguments) {
    const std::string name = text(argument.parameter->name), ods = text(argument.parameter->ods);
    const bool optional = argument.type.starts_with("const std::optional<");
    const std::string value = optional ? "*" + name : name;
    if (argument.kind == Kind::Fixed)
      continue;
    out << indent;
    if (optional && (argument.kind == Kind::Enum || argument.kind == Kind::Struct || argument.kind == Kind::Variant))
      out << "if (" << name << ")\n" << indent << "  ";
    switch (argument.kind) {
    case Kind::Tensor:
      out << "call.operand(" << name << ");\n";
      break;
    case Kind::Tensors:
      out << "call.operands(" << name << ");\n";
      break;
    case Kind::Device:
      out << "call.device(" << name << ");\n";
      break;
    case Kind::Attribute:
      out << unlessDefault(argument) << "call.attribute(\"" << ods << "\", " << name << ");\n";
      break;
    case Kind::Enum:
      out << "call.attributeEnum(\"" << ods << "\", \"" << argument.attributeType << "\", static_cast<int64_t>("
          << value << "));\n";
      break;
    case Kind::Struct:
      out << "call.attribute(\"" << ods << "\", detail::valueOf(" << value << "));\n";
      break;
    case Kind::Variant:
      out << "std::visit([&](const auto &config) { call.attribute(\"" << ods << "\", detail::valueOf(config)); }, "
          << value << ");\n";
      break;
    case Kind::Result:
      out << "call." << name << "(" << name << ");\n";
      break;
    case Kind::Fixed:
      break;
    }
  }
  const int outs = callable.info->outs;
  out << indent;
  if (outs == 0)
    out << "call.run();\n";
  else if (outs == 1)
    out << "return call.one();\n";
  else
    out << "return call.several<" << outs << ">();\n";
}

void printSignature(std::ostream &out, std::string_view name, const Callable &callable,
                    const std::vector<Argument> &arguments, bool deduced) {
  const int outs = callable.info->outs;
  const std::string result = outs == 0                         ? "void"
                             : outs == 1                       ? "Tensor"
                             : callable.info->optionalOuts > 0 ? "OneOrAll<" + std::to_string(outs) + ">"
                                                               : "std::array<Tensor, " + std::to_string(outs) + ">";
  std::vector<std::string> parts;
  for (const Argument &argument : arguments)
    parts.push_back(argument.type + text(argument.parameter->name) +
                    (argument.defaultValue.empty() || deduced ? "" : " = " + argument.defaultValue));
  out << wrapped("inline " + result + " " + text(name) + "(", parts, ") {") << "\n";
}

void printFunction(std::ostream &out, const Callable &callable) {
  const api::Function &row = *callable.function;
  const std::vector<Argument> arguments = argumentsOf(callable);
  const size_t dot = row.name.rfind('.');
  if (dot != row.name.npos)
    out << "namespace " << row.name.substr(0, dot) << " {\n";
  const std::string_view name = dot == row.name.npos ? row.name : row.name.substr(dot + 1);
  out << "/// " << row.doc << "\n";
  printSignature(out, name, callable, arguments, false);
  if (row.op == "ttnn.deallocate") // every second call of a program; see ttnn/detail/call.hpp
    out << "  detail::deallocate(tensor, force);\n";
  else
    printBody(out, callable, arguments, "  ");
  out << "}\n";
  for (const std::string_view alias : row.aliases) {
    std::vector<std::string> names;
    for (const Argument &argument : arguments)
      names.push_back(text(argument.parameter->name));
    out << "/// The same as " << name << ".\n";
    printSignature(out, alias, callable, arguments, false);
    out << wrapped("  return " + text(name) + "(", names, ");") << "\n}\n";
  }
  if (dot != row.name.npos)
    out << "} // namespace " << row.name.substr(0, dot) << "\n";
  out << "\n";
}

/// Rows that a fixed parameter distinguishes are one function, with the parameters of the longest.
void printChoice(std::ostream &out, const Callable &longest, const std::vector<const Callable *> &rows) {
  std::vector<Argument> all = argumentsOf(longest);
  const auto fixed = std::find_if(all.begin(), all.end(), [](auto &a) { return a.kind == Kind::Fixed; });
  fixed->defaultValue = rows.front()->function->find(fixed->parameter->name)->defaultValue;
  // With it, earlier ones may have theirs.
  std::vector<Argument> arguments = all;
  bool omissible = true;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
    Argument fresh = it->kind == Kind::Fixed ? *it : argumentOf(longest, *it->parameter);
    omissible = omissible && !fresh.defaultValue.empty();
    it->defaultValue = omissible ? fresh.defaultValue : "";
  }
  out << "/// " << longest.function->doc << " Without " << fixed->parameter->name << ": " << rows.front()->function->doc
      << "\n";
  printSignature(out, longest.function->name, longest, arguments, false);
  for (const Callable *row : rows) {
    const Parameter *parameter = row->function->find(fixed->parameter->name);
    out << "  if (" << (parameter->defaultValue == "true" ? "" : "!") << parameter->name << ") {\n";
    printBody(out, *row, argumentsOf(*row), "    ");
    out << "  }\n";
  }
  out << "  return {};\n}\n\n";
}

const Parameter *fixedParameter(const Callable &callable) {
  for (const Parameter &parameter : callable.function->parameters)
    if (parameter.role == Role::Fixed)
      return &parameter;
  return nullptr;
}

std::string header() {
  std::ostringstream out;
  out << "//===- operations.hpp - the functions of TTNN ----------------------*- C++ -*-===//\n"
         "//\n"
         "// Written by the build from ODS and tools/opgen/functions.py; change those.\n"
         "//\n"
         "//===----------------------------------------------------------------------===//\n"
         "#pragma once\n\n#include \"ttnn/detail/call.hpp\"\n\n#include <limits>\n\nnamespace tt::ttnn {\n\n";
  for (const api::Enum &row : api::enums())
    printEnum(out, row);
  out << "\n";
  for (const api::Struct &row : api::structs())
    printStruct(out, row);
  out << "\nnamespace detail {\n";
  for (const api::Struct &row : api::structs())
    printValueOf(out, row);
  out << "} // namespace detail\n\n";
  std::set<std::string_view> printed;
  for (const Callable &callable : callables()) {
    if (!fixedParameter(callable)) {
      printFunction(out, callable);
      continue;
    }
    if (!printed.insert(callable.function->name).second)
      continue;
    std::vector<const Callable *> rows;
    const Callable *longest = &callable;
    for (const Callable &other : callables())
      if (other.function->name == callable.function->name) {
        rows.push_back(&other);
        if (other.function->parameters.size() > longest->function->parameters.size())
          longest = &other;
      }
    printChoice(out, *longest, rows);
  }
  out << "} // namespace tt::ttnn\n";
  return out.str();
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " operations.hpp\n";
    return 2;
  }
  std::ofstream file(argv[1]);
  file << header();
  file.close();
  return file ? 0 : (std::cerr << "cannot write " << argv[1] << "\n", 1);
} catch (const std::exception &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
