//===- TtnnArguments.cpp - Python values as operands and attributes -------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnFunctions.h"
#include "tt/sim/formats.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tt::python {
namespace {

using ttnn::Attribute;
using ttnn::AttributeKind;
using ttnn::EnumAttribute;
using ttnn::NamedAttribute;
using ttnn::StructAttribute;
using ttnn::Tensor;

bool isInteger(PyObject *value) { return !PyBool_Check(value) && PyIndex_Check(value); }

/// A number that no attribute can hold.
struct TooLarge {
  std::string found;
  const char *expected;
};

bool toInteger(PyObject *value, int64_t &integer) {
  if (!isInteger(value))
    return false;
  const nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid())
    throw nb::python_error();
  int overflow = 0;
  integer = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (integer == -1 && !overflow && PyErr_Occurred())
    throw nb::python_error();
  if (overflow)
    throw TooLarge{reprOf(index), "an integer of 64 bits"};
  return true;
}

bool toDouble(PyObject *value, double &number) {
  if (!isNumber(value))
    return false;
  number = PyFloat_AsDouble(value);
  if (number != -1 || !PyErr_Occurred())
    return true;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_TypeError))
    throw nb::python_error();
  const bool tooLarge = PyErr_ExceptionMatches(PyExc_OverflowError);
  PyErr_Clear();
  if (tooLarge)
    throw TooLarge{reprOf(value), "a number of 64 bits"};
  return false;
}

/// Converts a list or tuple, or any other sequence except text.
template <class T, class Read> bool toArray(PyObject *value, std::vector<T> &array, const Read &read) {
  const nb::object items = nb::isinstance<Tensor>(nb::handle(value)) ? nb::object() : itemsOf(value);
  if (!items.is_valid())
    return false;
  array.clear();
  for (nb::handle item : nb::borrow<nb::tuple>(items))
    if (!read(item.ptr(), array.emplace_back()))
      return false;
  return true;
}

/// A list may contain itself: raises RecursionError where the interpreter would.
class Recursion {
public:
  Recursion() {
    if (Py_EnterRecursiveCall(" in an attribute"))
      throw nb::python_error();
  }
  Recursion(const Recursion &) = delete;
  ~Recursion() { Py_LeaveRecursiveCall(); }
};

template <class Enum> std::optional<Enum> asEnum(nb::handle value) {
  Enum result;
  return nb::try_cast(value, result, /*convert=*/false) ? std::optional(result) : std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

StructAttribute coreAttribute(const CoreCoord &core) { return {"ttnn.core_coord", {{"x", {core.x}}, {"y", {core.y}}}}; }
StructAttribute coreAttribute(const CoreRange &range) {
  return {"ttnn.core_range",
          {{"start_coord", {coreAttribute(range.start)}}, {"end_coord", {coreAttribute(range.end)}}}};
}
StructAttribute coreAttribute(const CoreRangeSet &set) {
  ttnn::ListAttribute ranges;
  for (const CoreRange &range : set.ranges)
    ranges.items.push_back({coreAttribute(range)});
  return {"ttnn.core_range_set", {{"core_ranges", {std::move(ranges)}}}};
}

StructAttribute memoryAttribute(const MemoryConfig &memory) {
  const auto named = [](const char *type, std::string name, int64_t value) {
    return Attribute{EnumAttribute{type, std::move(name), value}};
  };
  return {"ttnn.memory_config",
          {{"tensor_memory_layout", named("ttnn.tensor_memory_layout", lower(memoryLayoutName(memory.layout)),
                                          static_cast<int64_t>(memory.layout))},
           {"buffer_type",
            named("ttnn.buffer_type", lower(bufferTypeName(memory.buffer)), static_cast<int64_t>(memory.buffer))}}};
}

bool anyAttribute(PyObject *object, Attribute &attribute);

/// Encodes in UTF-8; raises the error of a string that cannot be encoded.
std::string textOf(PyObject *string) {
  Py_ssize_t size = 0;
  const char *text = PyUnicode_AsUTF8AndSize(string, &size);
  if (!text)
    throw nb::python_error();
  return {text, static_cast<size_t>(size)};
}

/// Returns a path as the file system has it.
std::string pathOf(PyObject *string) {
  PyObject *encoded = nullptr;
  if (!PyUnicode_FSConverter(string, &encoded)) // a null character, too
    throw nb::python_error();
  const nb::object bytes = nb::steal(encoded);
  return {PyBytes_AS_STRING(encoded), static_cast<size_t>(PyBytes_GET_SIZE(encoded))};
}

/// An enum or config class of the package: its method _attribute returns (type, symbol, value) or (type, fields).
bool describedAttribute(nb::handle value, Attribute &attribute) {
  if (PyType_Check(value.ptr()) || !nb::hasattr(value, "_attribute"))
    return false;
  const nb::object described = value.attr("_attribute")();
  if (!nb::isinstance<nb::tuple>(described))
    return false;
  const auto parts = nb::borrow<nb::tuple>(described);
  if (EnumAttribute named; parts.size() == 3) {
    if (!nb::try_cast(parts[0], named.type) || !nb::try_cast(parts[1], named.symbol) ||
        !nb::try_cast(parts[2], named.value))
      return false;
    attribute.value = std::move(named);
    return true;
  }
  StructAttribute result;
  if (parts.size() != 2 || !nb::try_cast(parts[0], result.type) || !nb::isinstance<nb::dict>(parts[1]))
    return false;
  const nb::object fields = nb::steal(PyDict_Copy(nb::object(parts[1]).ptr()));
  if (!fields.is_valid())
    throw nb::python_error();
  for (auto [name, field] : nb::borrow<nb::dict>(fields)) {
    NamedAttribute named;
    if (!nb::try_cast(name, named.name))
      return false;
    if (!anyAttribute(field.ptr(), named.attribute))
      throw nb::type_error(
          (className(result.type) + ": " + named.name + " is " + reprOf(field) + ", which a config cannot hold")
              .c_str());
    result.fields.push_back(std::move(named));
  }
  attribute.value = std::move(result);
  return true;
}

/// Enums and classes of this module, by their names in a binary.
bool nativeAttribute(nb::handle value, Attribute &attribute) {
  if (const auto type = asEnum<DataType>(value))
    attribute.value = EnumAttribute{"ttcore.data_type", std::string(toString(*type)), static_cast<int64_t>(*type)};
  else if (const auto layout = asEnum<tt::Layout>(value))
    attribute.value = EnumAttribute{"ttnn.layout", lower(layoutName(*layout)), static_cast<int64_t>(*layout)};
  else if (const auto buffer = asEnum<BufferType>(value))
    attribute.value = EnumAttribute{"ttnn.buffer_type", lower(bufferTypeName(*buffer)), static_cast<int64_t>(*buffer)};
  else if (const auto memory = asEnum<MemoryLayout>(value))
    attribute.value =
        EnumAttribute{"ttnn.tensor_memory_layout", lower(memoryLayoutName(*memory)), static_cast<int64_t>(*memory)};
  else if (nb::isinstance<CoreCoord>(value))
    attribute.value = coreAttribute(nb::cast<CoreCoord>(value));
  else if (nb::isinstance<CoreRange>(value))
    attribute.value = coreAttribute(nb::cast<CoreRange>(value));
  else if (nb::isinstance<CoreRangeSet>(value))
    attribute.value = coreAttribute(nb::cast<CoreRangeSet>(value));
  else if (nb::isinstance<MemoryConfig>(value))
    attribute.value = memoryAttribute(nb::cast<MemoryConfig>(value));
  else
    return false;
  return true;
}

/// Reads the value of a field of a config.
bool anyAttribute(PyObject *object, Attribute &attribute) {
  const Recursion deeper;
  int64_t integer;
  double number;
  if (PyBool_Check(object)) {
    attribute.value = object == Py_True;
  } else if (toInteger(object, integer)) {
    attribute.value = integer;
  } else if (toDouble(object, number)) {
    attribute.value = number;
  } else if (PyUnicode_Check(object)) {
    attribute.value = textOf(object);
  } else if (nativeAttribute(object, attribute) || describedAttribute(object, attribute)) {
    return true;
  } else if (std::vector<int64_t> integers; toArray(object, integers, toInteger)) {
    attribute.value = std::move(integers);
  } else if (std::vector<double> numbers; toArray(object, numbers, toDouble)) {
    attribute.value = std::move(numbers);
  } else if (ttnn::ListAttribute list; toArray(object, list.items, anyAttribute)) {
    attribute.value = std::move(list);
  } else {
    return false;
  }
  return true;
}

/// The types that an attribute may have; none if it may have any.
std::vector<std::string_view> typesOf(const ttnn::AttributeSpec &attribute) {
  return ttnn::api::split(attribute.type, '|');
}

/// An enum or config of the expected type.
bool toTyped(PyObject *value, const Argument &argument, Attribute &attribute, Mismatch &mismatch) {
  const auto types = typesOf(*argument.attribute);
  const auto expected = [&](const std::string &type) {
    return types.empty() || std::ranges::find(types, type) != types.end();
  };
  for (const std::string_view type : types)
    mismatch.expected += (mismatch.expected.empty() ? "ttnn." : ", ttnn.") + className(type);
  if (types.empty())
    mismatch.expected = "an enum or config of ttnn";
  if (!(nativeAttribute(value, attribute) || describedAttribute(value, attribute)))
    return false;
  const bool isEnum = argument.attribute->kind == AttributeKind::Enum;
  if (const auto *found = std::get_if<EnumAttribute>(&attribute.value))
    return isEnum && expected(found->type);
  const auto *found = std::get_if<StructAttribute>(&attribute.value);
  return found && !isEnum && expected(found->type);
}

/// Whether a string is the place of a file.
bool isPath(const Parameter &parameter) { return parameter.ods == "file_path"; }

/// Returns the name of a kind for typeText.
std::string kindText(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Bool:
    return "bool";
  case AttributeKind::Int:
    return "int";
  case AttributeKind::Float:
  case AttributeKind::Number:
    return "float";
  case AttributeKind::String:
    return "str";
  case AttributeKind::IntArray:
  case AttributeKind::Integers:
    return "int | Sequence[int]";
  case AttributeKind::FloatArray:
    return "Sequence[float]";
  default:
    return "Any";
  }
}

} // namespace

bool isNumber(PyObject *value) {
  if (PyFloat_Check(value) || PyLong_Check(value))
    return true;
  // Numbers of numpy and similar libraries; an array is not a number, though it may convert to one.
  const PyNumberMethods *methods = Py_TYPE(value)->tp_as_number;
  if (!methods || !(methods->nb_float || methods->nb_index) || nb::isinstance<Tensor>(nb::handle(value)))
    return false;
  const nb::object rank = nb::getattr(nb::handle(value), "ndim", nb::int_(0));
  return rank.equal(nb::int_(0));
}

std::string className(std::string_view attributeType) {
  if (const ttnn::api::Enum *row = ttnn::api::findEnum(attributeType))
    return std::string(row->name);
  if (const ttnn::api::Struct *row = ttnn::api::findStruct(attributeType))
    return std::string(row->name);
  if (attributeType == "ttnn.memory_config")
    return "MemoryConfig";
  return "Any";
}

static bool readAttribute(PyObject *value, const Argument &argument, Attribute &attribute, Mismatch &mismatch) {
  int64_t integer;
  double number;
  std::vector<int64_t> integers;
  switch (argument.attribute->kind) {
  case AttributeKind::Bool:
    mismatch.expected = "True or False";
    attribute.value = value == Py_True;
    return PyBool_Check(value);
  case AttributeKind::Int:
    mismatch.expected = "an integer";
    if (!toInteger(value, integer))
      return false;
    attribute.value = integer;
    return true;
  case AttributeKind::Number:
    try {
      if (toInteger(value, integer)) {
        attribute.value = integer;
        return true;
      }
    } catch (const TooLarge &) { // for an integer; a float may hold it
    }
    [[fallthrough]];
  case AttributeKind::Float:
    mismatch.expected = "a number";
    if (!toDouble(value, number))
      return false;
    attribute.value = number;
    return true;
  case AttributeKind::String: {
    const bool path = isPath(*argument.parameter);
    mismatch.expected = path ? "a path" : "a string";
    const nb::object text =
        path && nb::hasattr(nb::handle(value), "__fspath__") ? nb::steal(PyOS_FSPath(value)) : nb::borrow(value);
    if (!text.is_valid())
      throw nb::python_error();
    if (!PyUnicode_Check(text.ptr()))
      return false;
    const std::string string = path ? pathOf(text.ptr()) : textOf(text.ptr());
    attribute.value = string;
    return true;
  }
  case AttributeKind::IntArray:
  case AttributeKind::Integers:
    mismatch.expected = "an integer or a sequence of integers";
    if (toInteger(value, integer)) {
      if (argument.attribute->kind == AttributeKind::Integers)
        attribute.value = integer;
      else
        attribute.value = std::vector<int64_t>{integer};
      return true;
    }
    if (!toArray(value, integers, toInteger))
      return false;
    attribute.value = std::move(integers);
    return true;
  case AttributeKind::FloatArray: {
    mismatch.expected = "a sequence of numbers";
    std::vector<double> numbers;
    if (!toArray(value, numbers, toDouble))
      return false;
    attribute.value = std::move(numbers);
    return true;
  }
  case AttributeKind::Enum:
  case AttributeKind::Struct:
    return toTyped(value, argument, attribute, mismatch);
  case AttributeKind::List:
  case AttributeKind::Constant:
    break;
  }
  mismatch.expected = "a list";
  return anyAttribute(value, attribute);
}

bool toAttribute(PyObject *value, const Argument &argument, Attribute &attribute, Mismatch &mismatch) {
  try {
    return readAttribute(value, argument, attribute, mismatch);
  } catch (const TooLarge &number) {
    mismatch.expected = number.expected;
    mismatch.instead = number.found;
    mismatch.isValue = true;
    return false;
  }
}

bool numberTensor(PyObject *value, const Tensor &like, Tensor &tensor, Mismatch &mismatch) {
  TensorSpec spec;
  spec.dtype = sim::isBlockFormat(like.dtype()) ? DataType::BFloat16 : like.dtype();
  spec.layout = like.spec().layout;
  double number;
  mismatch.isValue = true;
  try {
    if (!toDouble(value, number))
      return mismatch.isValue = false;
  } catch (const TooLarge &large) {
    mismatch.expected = large.expected;
    mismatch.instead = large.found;
    return false;
  }
  const auto single = static_cast<float>(number);
  if (std::isfinite(number) && !std::isfinite(single)) {
    mismatch.expected = "a number that 32 bits have room for";
    mismatch.instead = reprOf(value);
    return false;
  }
  struct Range {
    double low, high;
  };
  const auto store = [&]<class T>(T stored, std::optional<Range> range) {
    if (range && !(number >= range->low && number <= range->high && std::trunc(number) == number)) {
      mismatch.expected = std::string("a number that the data type ") + dataTypeName(spec.dtype) +
                          " of the tensor has (typecast it to another first)";
      mismatch.instead = reprOf(value);
      return false;
    }
    auto memory = sim::allocateHost(sizeof(T), "a number");
    std::memcpy(memory.get(), &stored, sizeof(T));
    tensor = Tensor::fromShards(spec, {std::move(memory)});
    return true;
  };
  const auto integer = std::fabs(number) < 0x1p62 ? static_cast<int64_t>(number) : 0;
  switch (storageType(spec.dtype)) {
  case tt::StorageType::F32:
    return store(single, {});
  case tt::StorageType::F16:
    return store(sim::f32ToF16(single), {});
  case tt::StorageType::BF16:
    return store(sim::f32ToBf16(single), {});
  case tt::StorageType::I32:
    return store(static_cast<int32_t>(integer), Range{-0x1p31, 0x1p31 - 1});
  case tt::StorageType::U32:
    return store(static_cast<uint32_t>(integer), Range{0, 0x1p32 - 1});
  case tt::StorageType::U16:
    return store(static_cast<uint16_t>(integer), Range{0, 0xffff});
  case tt::StorageType::U8:
    return store(static_cast<uint8_t>(integer), Range{0, spec.dtype == DataType::Bool ? 1.0 : 255.0});
  }
  return false;
}

std::string typeText(const FunctionRow &row, const Argument &argument) {
  const Parameter &parameter = *argument.parameter;
  if (argument.operand)
    return parameter.variadic ? "Sequence[Tensor]" : row.takesNumbers ? "Tensor | float" : "Tensor";
  if (parameter.role == Role::Device)
    return "Device";
  if (parameter.role == Role::Fixed)
    return "bool";
  if (parameter.role == Role::Result) {
    const std::string one = parameter.name == "dtype"    ? "DataType"
                            : parameter.name == "layout" ? "Layout"
                                                         : "MemoryConfig";
    return row.callable->info->outs > 1 ? one + " | Sequence[" + one + "]" : one;
  }
  if (argument.attribute->kind == AttributeKind::Enum || argument.attribute->kind == AttributeKind::Struct) {
    std::string text;
    for (const std::string_view type : typesOf(*argument.attribute))
      text += (text.empty() ? "" : " | ") + className(type);
    return text.empty() ? "Any" : text;
  }
  if (isPath(parameter))
    return "str | PathLike[str]";
  return kindText(argument.attribute->kind);
}

} // namespace tt::python
