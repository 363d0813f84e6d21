//===- TtnnArguments.cpp - Python values as operands and attributes -------===//

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

/// False, without an exception, for an integer of more than 64 bits as well.
bool toInteger(PyObject *value, int64_t &integer) {
  if (!isInteger(value))
    return false;
  const nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid())
    throw nb::python_error();
  int overflow = 0;
  integer = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  return overflow == 0;
}

bool toDouble(PyObject *value, double &number) {
  if (!isNumber(value))
    return false;
  number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

/// A list or tuple, or anything else that is a sequence and no text.
bool isSequence(PyObject *value) {
  return PyList_Check(value) || PyTuple_Check(value) ||
         (PySequence_Check(value) && !PyUnicode_Check(value) && !PyBytes_Check(value) &&
          !nb::isinstance<Tensor>(value));
}

template <class T, class Read> bool toArray(PyObject *value, std::vector<T> &array, const Read &read) {
  if (!isSequence(value))
    return false;
  const nb::object fast = nb::steal(PySequence_Fast(value, ""));
  if (!fast.is_valid()) {
    PyErr_Clear();
    return false;
  }
  array.resize(static_cast<size_t>(PySequence_Fast_GET_SIZE(fast.ptr())));
  for (size_t i = 0; i < array.size(); ++i)
    if (!read(PySequence_Fast_GET_ITEM(fast.ptr(), static_cast<Py_ssize_t>(i)), array[i]))
      return false;
  return true;
}

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

bool anyAttribute(PyObject *object, Attribute &attribute);

/// An enum or config class of the package: its method _attribute gives (type, symbol, value) or (type, fields).
bool describedAttribute(nb::handle value, Attribute &attribute) {
  if (!nb::hasattr(value, "_attribute"))
    return false;
  const auto parts = nb::cast<nb::tuple>(value.attr("_attribute")());
  if (parts.size() == 3) {
    attribute.value =
        EnumAttribute{nb::cast<std::string>(parts[0]), nb::cast<std::string>(parts[1]), nb::cast<int64_t>(parts[2])};
    return true;
  }
  StructAttribute result{nb::cast<std::string>(parts[0]), {}};
  for (auto [name, field] : nb::cast<nb::dict>(parts[1])) {
    NamedAttribute named{nb::cast<std::string>(name), {}};
    if (!anyAttribute(field.ptr(), named.attribute))
      throw nb::type_error((className(result.type) + ": " + named.name + " is " +
                            nb::cast<std::string>(nb::repr(field)) + ", which a config cannot hold")
                               .c_str());
    result.fields.push_back(std::move(named));
  }
  attribute.value = std::move(result);
  return true;
}

/// Enums and classes of this module, by the names that a binary has for them.
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
  else
    return false;
  return true;
}

/// What a field of a config may be.
bool anyAttribute(PyObject *object, Attribute &attribute) {
  int64_t integer;
  double number;
  if (PyBool_Check(object)) {
    attribute.value = object == Py_True;
  } else if (toInteger(object, integer)) {
    attribute.value = integer;
  } else if (toDouble(object, number)) {
    attribute.value = number;
  } else if (PyUnicode_Check(object)) {
    attribute.value = nb::cast<std::string>(nb::handle(object));
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

/// The types that an attribute may have; none when it may be of any.
std::vector<std::string_view> typesOf(std::string_view ods) {
  return ttnn::api::detail::split(ttnn::api::attributeType(ods), '|');
}

/// An enum or config of a wanted type.
bool toTyped(PyObject *value, const Argument &argument, Attribute &attribute, Mismatch &mismatch) {
  const auto types = typesOf(argument.parameter->ods);
  const auto wanted = [&](const std::string &type) {
    return types.empty() || std::ranges::find(types, type) != types.end();
  };
  for (const std::string_view type : types)
    mismatch.expected += (mismatch.expected.empty() ? "ttnn." : ", ttnn.") + className(type);
  if (types.empty())
    mismatch.expected = "an enum or config of ttnn";
  if (!(nativeAttribute(value, attribute) || describedAttribute(value, attribute)))
    return false;
  const bool isEnum = argument.attribute && argument.attribute->kind == AttributeKind::Enum;
  if (const auto *found = std::get_if<EnumAttribute>(&attribute.value))
    return isEnum && wanted(found->type);
  const auto *found = std::get_if<StructAttribute>(&attribute.value);
  return found && !isEnum && wanted(found->type);
}

/// Whether a string is the place of a file.
bool isPath(const Parameter &parameter) { return parameter.ods == "file_path"; }

/// What typeText says of a kind.
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
  // Those of numpy and the like; an array is no number, though it may be asked for one.
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
  return "Any";
}

bool toAttribute(PyObject *value, const Argument &argument, Attribute &attribute, Mismatch &mismatch) {
  if (argument.struct_)
    return toTyped(value, argument, attribute, mismatch);
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
    if (toInteger(value, integer)) {
      attribute.value = integer;
      return true;
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
    attribute.value = nb::cast<std::string>(text);
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

bool numberTensor(PyObject *value, const Tensor &like, Tensor &tensor, Mismatch &mismatch) {
  TensorSpec spec;
  spec.dtype = sim::isBlockFormat(like.dtype()) ? DataType::BFloat16 : like.dtype();
  spec.layout = like.spec().layout;
  double number;
  if (!toDouble(value, number))
    return false;
  struct Range {
    double low, high;
  };
  const auto store = [&]<class T>(T stored, std::optional<Range> range) {
    if (range && !(number >= range->low && number <= range->high && std::trunc(number) == number)) {
      mismatch.expected = std::string("a number that the data type ") + dataTypeName(spec.dtype) +
                          " of the tensor has (typecast it to another first)";
      mismatch.instead = nb::cast<std::string>(nb::repr(value));
      return false;
    }
    auto memory = sim::allocateHost(sizeof(T), "a number");
    std::memcpy(memory.get(), &stored, sizeof(T));
    tensor = Tensor::fromShards(spec, {std::move(memory)});
    return true;
  };
  const auto single = static_cast<float>(number);
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
  if (argument.struct_ || argument.attribute->kind == AttributeKind::Enum ||
      argument.attribute->kind == AttributeKind::Struct) {
    std::string text;
    for (const std::string_view type : typesOf(parameter.ods))
      text += (text.empty() ? "" : " | ") + className(type);
    return text.empty() ? "Any" : text;
  }
  if (isPath(parameter))
    return "str | PathLike[str]";
  return kindText(argument.attribute->kind);
}

} // namespace tt::python
