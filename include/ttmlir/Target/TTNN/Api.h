//===- Api.h - the ops and functions of TTNN -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tables of the ops of ttnn and debug, as ODS describes them, and of names, parameters and defaults of the public
// functions. The compiler, which writes calls and flatbuffers, and the runtime, which accepts them, read them. Written
// by tools/opgen; lib/Target/Api/Api.cpp holds them. Plain C++ without LLVM or the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_TTNN_API_H
#define TTMLIR_TARGET_TTNN_API_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tt::ttnn::api {

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

enum class AttributeKind : uint8_t {
  Bool,
  Int,
  Float,
  String,
  IntArray,
  FloatArray,
  Constant,
  Enum,
  Struct,
  List,
  Number,  // Int or Float
  Integers // Int or IntArray
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  bool required = true;
  std::string_view type = {}; // of an Enum or Struct as flatbuffers name it, '|' between those that it may be
};

struct Operand {
  std::string_view name;
  bool optional, variadic;
};

/// An op of the dialect. The device is not one of its operands.
struct Op {
  std::string_view name; // "ttnn.topk"
  std::span<const Operand> operands;
  std::span<const AttributeSpec> attributes; // those that a flatbuffer holds
  std::span<const std::string_view> results; // their names
  bool anyResults;                           // any number of them
  int optionalResults = 0;                   // of the last ones, as many may be absent
  std::span<const std::string_view> facts;   // "moves_values", see Dialect/Families/Facts.td

  const AttributeSpec *find(std::string_view attribute) const {
    const auto it = std::ranges::find(attributes, attribute, &AttributeSpec::name);
    return it == attributes.end() ? nullptr : &*it;
  }
  bool has(std::string_view fact) const { return std::ranges::find(facts, fact) != facts.end(); }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The role of a parameter. A Value is an operand, or an attribute if the op has one of the name `ods`.
enum class Role : unsigned char {
  Value,
  Device, // the device operand, which a program's flatbuffer does not record
  Result, // dtype, memory_config or layout of the results
  Fixed,  // nothing in the op: of the rows of one public name, it picks this one
};

struct Parameter {
  std::string_view name;         // public
  std::string_view ods;          // of the dialect
  std::string_view defaultValue; // as in tools/opgen/functions.py; the value itself where the role is Fixed
  Role role = Role::Value;
  bool optional = false;    // may be absent
  bool hasDefault = false;  // left out, it is defaultValue
  bool variadic = false;    // a list of tensors
  bool keywordOnly = false; // in Python
  /// A call may omit it.
  bool omissible() const { return optional || hasDefault; }
};

/// The data type of a result if the call does not state it.
struct DefaultType {
  enum class Rule : unsigned char {
    Plain, // that of a tensor, or one as ttcore.DataType prints it ("u32")
    Float, // that of a tensor, or f32 where it has integers
    Rows,  // that of a tensor, or bf16 where it has a block format
    Index, // u16, or u32 where the dimension `dim` of the first tensor has more than 65536 elements
  };
  Rule rule = Rule::Plain;
  std::string_view name = {}; // of a tensor parameter or data type; empty: the first tensor
};

struct Function {
  std::string_view op;                       // "ttnn.slice_static"
  std::string_view name;                     // "slice"; dots are namespaces: "transformer.concatenate_heads"
  std::span<const std::string_view> aliases; // other names of the same function
  std::span<const Parameter> parameters;     // in public order; tensors among them in ODS order
  std::string_view shapeRule;                // in lib/shapes
  std::string_view doc;
  std::string_view into;    // what takes tensors for the results; empty: nothing does
  std::string_view demands; // of a strict device, '|' between them: "floats|tiles" (functions.py)

  const Parameter *find(std::string_view publicName) const {
    const auto it = std::ranges::find(parameters, publicName, &Parameter::name);
    return it == parameters.end() ? nullptr : &*it;
  }
  const Parameter *findOds(std::string_view odsName) const {
    const auto it =
        std::ranges::find_if(parameters, [&](auto &p) { return p.role == Role::Value && p.ods == odsName; });
    return it == parameters.end() ? nullptr : &*it;
  }
  DefaultType defaultType(size_t result) const;
  /// Whether results are in DRAM if the call does not state it, instead of in the memory of the first tensor.
  bool defaultsToDram() const {
    const Parameter *memory = find("memory_config");
    return memory && memory->defaultValue == "dram";
  }
  /// The layout of results if the call does not state it: "tile", "row_major", the name of the tensor parameter that
  /// they follow, or "" for the first tensor.
  std::string_view defaultLayout() const {
    const Parameter *layout = find("layout");
    return layout && layout->hasDefault ? layout->defaultValue : std::string_view();
  }
};

/// An enum or a struct that is the type of parameters.
struct Enum {
  struct Case {
    std::string_view name, symbol; // public, and as the dialect prints it
    long long value;
  };
  std::string_view type, name; // "ttcore.reduce_type", "ReduceType"
  std::span<const Case> cases;
};
struct Struct {
  struct Field {
    std::string_view name;       // of the dialect
    std::string_view publicName; // in Python
    /// bool, int, float, string, ints, floats, or the type of an enum or struct; for a list, the type of one element.
    std::string_view kind;
    bool list, optional;
  };
  std::string_view type, name; // "ttnn.conv2d_config", "Conv2dConfig"
  std::span<const Field> fields;
};

/// The parts of a list; a separator within braces does not count.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Returns all ops, sorted by name.
std::span<const Op> ops();
/// Returns all functions. Functions of one public name are in the order in which a call tries them.
std::span<const Function> functions();
/// Returns all enums and configs, each after those that it contains.
std::span<const Enum> enums();
std::span<const Struct> structs();

/// Finds an op by name ("ttnn.topk"); nullptr if there is none.
const Op *findOp(std::string_view name);
/// The function of an op of the dialect, or nullptr.
const Function *findFunction(std::string_view op);
/// Finds an enum by type ("ttnn.conv2d_config"); nullptr if there is none.
const Enum *findEnum(std::string_view type);
const Struct *findStruct(std::string_view type);

} // namespace tt::ttnn::api

#endif // TTMLIR_TARGET_TTNN_API_H
