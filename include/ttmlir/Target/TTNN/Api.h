//===- Api.h - the functions of TTNN as programs call them ------*- C++ -*-===//
//
// Names, parameters and defaults of the public functions, read from the rows of
// Api.def: by the compiler, which writes calls, and by the runtime, which takes
// them. Plain C++: nothing of LLVM, nothing of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_TTNN_API_H
#define TTMLIR_TARGET_TTNN_API_H

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace tt::ttnn::api {

/// What a parameter stands for. Whether a Value is an operand or an attribute is for ODS or the registry to say: it is
/// an attribute when the op has one of the name `ods`.
enum class Role : unsigned char {
  Value,  // an operand or attribute of the op
  Device, // the device operand, which a program's flatbuffer does not record
  Result, // dtype, memory_config or layout of the results
  Fixed,  // nothing in the op: of the rows of one public name, it picks this one
};

struct Parameter {
  std::string_view name;         // public
  std::string_view ods;          // of the dialect
  std::string_view defaultValue; // as in Api.def; the value itself where the role is Fixed
  Role role = Role::Value;
  bool optional = false;    // may be absent
  bool hasDefault = false;  // left out, it is defaultValue
  bool variadic = false;    // a list of tensors
  bool keywordOnly = false; // in Python
  /// A call may leave it out.
  bool omissible() const { return optional || hasDefault; }
};

struct Function {
  std::string_view op;                   // "ttnn.slice_static"
  std::string_view name;                 // "slice"; dots are namespaces: "transformer.concatenate_heads"
  std::vector<std::string_view> aliases; // other names of the same function
  std::vector<Parameter> parameters;     // in public order; tensors among them in ODS order
  std::string_view shapeRule;            // a function of runtime/lib/api/shapes.cpp
  std::string_view doc;

  const Parameter *find(std::string_view publicName) const {
    const auto it = std::find_if(parameters.begin(), parameters.end(), [&](auto &p) { return p.name == publicName; });
    return it == parameters.end() ? nullptr : &*it;
  }
  const Parameter *findOds(std::string_view odsName) const {
    const auto it = std::find_if(parameters.begin(), parameters.end(),
                                 [&](auto &p) { return p.role == Role::Value && p.ods == odsName; });
    return it == parameters.end() ? nullptr : &*it;
  }
  /// What the data type of a result is when the call does not say: the public name of one of the function's tensors
  /// (its data type), a data type as ttcore.DataType prints it ("u32"), or "" for that of the first tensor.
  std::string_view defaultType(size_t result) const;
  /// Creation functions: the layout when the call does not say ("tile", "row_major"), or "" for that of the first
  /// tensor.
  std::string_view defaultLayout() const {
    const Parameter *layout = find("layout");
    return layout && layout->hasDefault ? layout->defaultValue : std::string_view();
  }
};

/// An enum or a struct that parameters are of.
struct Enum {
  struct Case {
    std::string_view name, symbol; // public, and as the dialect prints it
    long long value;
  };
  std::string_view type, name; // "ttcore.reduce_type", "ReduceType"
  std::vector<Case> cases;
};
struct Struct {
  struct Field {
    std::string_view name;
    std::string_view kind; // see Api.def; of one element where it is a list
    bool list, optional;
  };
  std::string_view type, name; // "ttnn.conv2d_config", "Conv2dConfig"
  std::vector<Field> fields;
};

namespace detail {

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// The parts of a list; a separator within braces does not count.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t depth = 0, from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '}'))
      text[i] == '{' ? ++depth : --depth;
    if (i < text.size() && (text[i] != separator || depth > 0))
      continue;
    if (const std::string_view part = trimmed(text.substr(from, i - from)); !part.empty())
      parts.push_back(part);
    from = i + 1;
  }
  return parts;
}

inline bool describesResult(std::string_view name) {
  return name == "dtype" || name == "memory_config" || name == "layout";
}

/// `public[=ods][?][:default]`, `*name[=ods]` or `name!value`.
inline Parameter parseParameter(std::string_view text) {
  Parameter parameter;
  if (text.front() == '*') {
    parameter.variadic = true;
    text.remove_prefix(1);
  }
  if (const size_t colon = text.find(':'); colon != text.npos) {
    parameter.hasDefault = true;
    parameter.defaultValue = trimmed(text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  if (const size_t mark = text.find('!'); mark != text.npos) {
    parameter.role = Role::Fixed;
    parameter.defaultValue = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (text.ends_with('?')) {
    parameter.optional = true;
    text.remove_suffix(1);
  }
  const size_t equals = text.find('=');
  parameter.name = text.substr(0, equals);
  parameter.ods = equals == text.npos ? text : text.substr(equals + 1);
  if (describesResult(parameter.name))
    parameter.role = Role::Result;
  else if (parameter.ods == "device" || parameter.ods == "mesh_device")
    parameter.role = Role::Device;
  return parameter;
}

inline Function parse(std::string_view op, std::string_view names, std::string_view parameters, std::string_view rule,
                      std::string_view doc) {
  Function function{op, {}, split(names, '|'), {}, rule, doc};
  function.name = function.aliases.front();
  function.aliases.erase(function.aliases.begin());
  bool keywordOnly = false;
  for (const std::string_view text : split(parameters, ',')) {
    if (text == "*") {
      keywordOnly = true;
      continue;
    }
    function.parameters.push_back(parseParameter(text));
    function.parameters.back().keywordOnly = keywordOnly;
  }
  return function;
}

inline Enum parseEnum(std::string_view type, std::string_view name, std::string_view cases) {
  Enum result{type, name, {}};
  for (const std::string_view text : split(cases, ',')) {
    const size_t equals = text.find('='), colon = text.find(':');
    long long value = 0;
    for (const char digit : text.substr(colon + 1))
      value = value * 10 + (digit - '0');
    result.cases.push_back({text.substr(0, equals), text.substr(equals + 1, colon - equals - 1), value});
  }
  return result;
}

inline Struct parseStruct(std::string_view type, std::string_view name, std::string_view fields) {
  Struct result{type, name, {}};
  for (const std::string_view text : split(fields, ',')) {
    const size_t equals = text.find('=');
    std::string_view kind = text.substr(equals + 1);
    const bool optional = kind.ends_with('?');
    if (optional)
      kind.remove_suffix(1);
    const bool list = kind.starts_with('[');
    if (list)
      kind = kind.substr(1, kind.size() - 2);
    result.fields.push_back({text.substr(0, equals), kind, list, optional});
  }
  return result;
}

struct AttributeType {
  std::string_view ods, type;
};
inline constexpr AttributeType attributeTypes[] = {
#define TTNN_ATTRIBUTE_TYPE(ods, type) {ods, type},
#include "ttmlir/Target/TTNN/Api.def"
};

} // namespace detail

inline std::string_view Function::defaultType(size_t result) const {
  const Parameter *dtype = find("dtype");
  if (!dtype || !dtype->hasDefault)
    return {};
  std::string_view text = dtype->defaultValue;
  if (!text.starts_with('{'))
    return text;
  const auto each = detail::split(text.substr(1, text.size() - 2), ',');
  return result < each.size() ? each[result] : std::string_view();
}

/// All rows, in the order of Api.def.
inline std::span<const Function> functions() {
  static const std::vector<Function> all = {
#define TTNN_FUNCTION(op, name, parameters, rule, doc) detail::parse(op, name, parameters, #rule, doc),
#include "ttmlir/Target/TTNN/Api.def"
  };
  return all;
}

/// The row of an op of the dialect, or nullptr.
inline const Function *findFunction(std::string_view op) {
  static const std::vector<const Function *> sorted = [] {
    std::vector<const Function *> rows;
    for (const Function &function : functions())
      rows.push_back(&function);
    std::sort(rows.begin(), rows.end(), [](auto *a, auto *b) { return a->op < b->op; });
    return rows;
  }();
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), op,
                                   [](auto *row, std::string_view name) { return row->op < name; });
  return it != sorted.end() && (*it)->op == op ? *it : nullptr;
}

inline std::span<const Enum> enums() {
  static const std::vector<Enum> all = {
#define TTNN_ENUM(type, name, cases) detail::parseEnum(type, name, cases),
#include "ttmlir/Target/TTNN/Api.def"
  };
  return all;
}
inline std::span<const Struct> structs() {
  static const std::vector<Struct> all = {
#define TTNN_STRUCT(type, name, fields) detail::parseStruct(type, name, fields),
#include "ttmlir/Target/TTNN/Api.def"
  };
  return all;
}
/// By type ("ttnn.conv2d_config"), or nullptr.
inline const Enum *findEnum(std::string_view type) {
  const auto it = std::find_if(enums().begin(), enums().end(), [&](auto &row) { return row.type == type; });
  return it == enums().end() ? nullptr : &*it;
}
inline const Struct *findStruct(std::string_view type) {
  const auto it = std::find_if(structs().begin(), structs().end(), [&](auto &row) { return row.type == type; });
  return it == structs().end() ? nullptr : &*it;
}

/// The type of an enum or struct attribute as the flatbuffer names it ("ttnn.conv2d_config"), by ODS name, or those it
/// may be with '|' between them; "" for one that is neither.
inline std::string_view attributeType(std::string_view ods) {
  for (const detail::AttributeType &row : detail::attributeTypes)
    if (row.ods == ods)
      return row.type;
  return {};
}

} // namespace tt::ttnn::api

#endif // TTMLIR_TARGET_TTNN_API_H
