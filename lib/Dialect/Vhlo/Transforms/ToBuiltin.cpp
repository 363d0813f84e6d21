//===- ToBuiltin.cpp - attributes and types of VHLO as they were ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Data.h"
#include "Enums.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Type typeOf(Attribute field, Emit emitError) { return toBuiltin(cast<TypeAttr>(field).getValue(), emitError); }
static ArrayRef<int64_t> numbersOf(Attribute field) { return cast<DenseI64ArrayAttr>(field).asArrayRef(); }
static int64_t numberOf(Attribute field) { return cast<IntegerAttr>(field).getInt(); }
static double doubleOf(Attribute field) { return cast<FloatAttr>(field).getValueAsDouble(); }

static FailureOr<SmallVector<Type>> typesOf(Attribute field, Emit emitError) {
  SmallVector<Type> types;
  for (Attribute each : cast<ArrayAttr>(field)) {
    types.push_back(typeOf(each, emitError));
    if (!types.back())
      return failure();
  }
  return types;
}

/// Flags of a quantized type are those of the quant dialect.
static Type quantized(VhloType type, Emit emitError) {
  ArrayRef<Attribute> fields = type.fields();
  Type storage = typeOf(fields[1], emitError), expressed = typeOf(fields[2], emitError);
  if (!storage || !expressed)
    return {};
  storage.getContext()->loadDialect<quant::QuantDialect>();
  auto flags = static_cast<unsigned>(numberOf(fields[0]));
  if (type.is("quant_v1"))
    return quant::UniformQuantizedType::getChecked(emitError, flags, storage, expressed, doubleOf(fields[3]),
                                                   numberOf(fields[4]), numberOf(fields[5]), numberOf(fields[6]));
  ArrayRef<double> scales = cast<DenseF64ArrayAttr>(fields[6]).asArrayRef();
  ArrayRef<int64_t> zeroPoints = numbersOf(fields[7]);
  if (scales.size() != zeroPoints.size()) {
    emitError() << "has a quantised type with " << scales.size() << " scales and " << zeroPoints.size()
                << " zero points; expected as many";
    return {};
  }
  return quant::UniformQuantizedPerAxisType::getChecked(emitError, flags, storage, expressed, scales, zeroPoints,
                                                        static_cast<int32_t>(numberOf(fields[3])), numberOf(fields[4]),
                                                        numberOf(fields[5]));
}

static Type tensor(VhloType type, Emit emitError) {
  ArrayRef<Attribute> fields = type.fields();
  Attribute encoding;
  if (fields.size() == 3) {
    encoding = toBuiltin(fields.front(), emitError);
    if (!encoding)
      return {};
    fields = fields.drop_front();
  }
  Type element = typeOf(fields[1], emitError);
  return element ? RankedTensorType::getChecked(emitError, numbersOf(fields[0]), element, encoding) : Type();
}

Type vhlo::toBuiltin(Type given, Emit emitError) {
  auto type = dyn_cast<VhloType>(given);
  if (!type)
    return given;
  if (Type number = builtinNumber(type))
    return number;
  MLIRContext *context = given.getContext();
  ArrayRef<Attribute> fields = type.fields();
  StringRef name = type.row().mnemonic;
  if (name == "tensor_v1")
    return tensor(type, emitError);
  if (name == "quant_v1" || name == "quant_per_axis_v1")
    return quantized(type, emitError);
  if (name == "token_v1")
    return stablehlo::TokenType::get(context);
  if (name == "none_v1")
    return NoneType::get(context);
  if (name == "complex_v1") {
    Type element = typeOf(fields[0], emitError);
    return element ? ComplexType::getChecked(emitError, element) : Type();
  }
  if (name == "unranked_tensor_v1") {
    Type element = typeOf(fields[0], emitError);
    return element ? UnrankedTensorType::getChecked(emitError, element) : Type();
  }
  if (name == "buffer_v1") {
    Type element = typeOf(fields[1], emitError);
    return element ? MemRefType::getChecked(emitError, numbersOf(fields[0]), element, MemRefLayoutAttrInterface(),
                                            Attribute())
                   : Type();
  }
  if (name == "func_v1") {
    auto inputs = typesOf(fields[0], emitError), outputs = typesOf(fields[1], emitError);
    return failed(inputs) || failed(outputs) ? Type() : FunctionType::get(context, *inputs, *outputs);
  }
  if (name == "tuple_v1" || name == "future_v1") {
    auto types = typesOf(fields[0], emitError);
    if (failed(types))
      return {};
    return name == "tuple_v1" ? Type(TupleType::get(context, *types)) : stablehlo::FutureType::get(context, *types);
  }
  emitError() << "has the type " << given << ", which StableHLO has not";
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The number of elements, or nothing if the shape is dynamic or too large.
static std::optional<int64_t> elementCount(ShapedType type) {
  int64_t count = 1;
  if (!type.hasStaticShape())
    return std::nullopt;
  for (int64_t size : type.getShape()) {
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

static DenseElementsAttr booleans(ShapedType type, int64_t count, StringRef bytes, Emit emitError) {
  auto size = static_cast<int64_t>(bytes.size());
  if (count != 1 && size == 1 && (bytes[0] == '\xFF' || count == 0 || count > 8))
    return DenseElementsAttr::get(type, bytes[0] != 0);
  const int64_t packed = llvm::divideCeil(count, 8);
  SmallVector<bool> values;
  values.reserve(std::max(size, count));
  if (size == packed && size != count) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back((static_cast<unsigned char>(bytes[i / 8]) >> (i % 8)) & 1);
  } else if (size == count) {
    for (char byte : bytes)
      values.push_back(byte != 0);
  } else {
    emitError() << "has " << size << " bytes for " << type << "; expected " << packed << ", " << count << " or one";
    return {};
  }
  return DenseElementsAttr::get(type, values);
}

/// The bytes of an element in a file, which equal those in memory.
static std::optional<int64_t> elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part = elementBytes(complex.getElementType());
    return part ? std::optional(2 * *part) : std::nullopt;
  }
  if (isa<IndexType>(type))
    return sizeof(int64_t);
  if (!type.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static Attribute elements(VhloAttr attribute, Emit emitError) {
  Type converted = typeOf(attribute.fields()[0], emitError);
  StringRef bytes = cast<StringAttr>(attribute.fields()[1]).getValue();
  if (!converted)
    return {};
  auto type = dyn_cast<RankedTensorType>(converted);
  std::optional<int64_t> count = type ? elementCount(type) : std::nullopt;
  std::optional<int64_t> width = type ? elementBytes(type.getElementType()) : std::nullopt;
  if (!count || !width) {
    emitError() << "has elements of the type " << converted << "; expected a tensor of numbers with a static shape";
    return {};
  }
  if (type.getElementType().isInteger(1))
    return booleans(type, *count, bytes, emitError);
  auto size = static_cast<int64_t>(bytes.size());
  std::optional<int64_t> whole = llvm::checkedMul(*count, *width);
  // One element is stored even if a tensor has none: the value that all would have.
  if (size != whole && size != *width) {
    emitError() << "has " << size << " bytes for " << type << "; expected " << whole.value_or(-1) << ", or " << *width
                << " for all elements the same";
    return {};
  }
  ArrayRef<char> raw(bytes.data(), bytes.size());
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, raw, isSplat)) {
    emitError() << "has " << size << " bytes that are no elements of " << type;
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(type, raw);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static Attribute dictionary(VhloAttr attribute, Emit emitError) {
  NamedAttrList values;
  ArrayRef<Attribute> pairs = cast<ArrayAttr>(attribute.fields()[0]).getValue();
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    auto key = dyn_cast_or_null<StringAttr>(toBuiltin(pairs[i], emitError));
    if (!key || key.empty()) {
      emitError() << "has a dictionary with the key " << pairs[i] << "; expected a name";
      return {};
    }
    Attribute value = toBuiltin(pairs[i + 1], emitError);
    if (!value)
      return {};
    values.append(key, value);
  }
  if (auto twice = values.findDuplicate()) {
    emitError() << "has a dictionary with the key " << twice->getName() << " twice";
    return {};
  }
  return values.getDictionary(attribute.getContext());
}

static Attribute array(VhloAttr attribute, Emit emitError) {
  SmallVector<Attribute> values;
  for (Attribute each : cast<ArrayAttr>(attribute.fields()[0])) {
    values.push_back(toBuiltin(each, emitError));
    if (!values.back())
      return {};
  }
  return ArrayAttr::get(attribute.getContext(), values);
}

/// A part that must have one kind.
template <class T> static T part(VhloAttr whole, unsigned index, Emit emitError) {
  Attribute converted = whole.fields()[index] ? toBuiltin(whole.fields()[index], emitError) : Attribute();
  auto typed = dyn_cast_or_null<T>(converted);
  if (!typed && converted)
    emitError() << "has " << whole << ", in which " << whole.row().fields[index].name << " is of another kind";
  return typed;
}

/// A mesh by its name, as symbol.
static Attribute meshAxes(VhloAttr attribute, Emit emitError) {
  MLIRContext *context = attribute.getContext();
  Attribute mesh = toBuiltin(attribute.fields()[0], emitError);
  auto axes = part<ArrayAttr>(attribute, 1, emitError);
  if (!mesh || !axes)
    return {};
  if (auto name = dyn_cast<StringAttr>(mesh))
    mesh = FlatSymbolRefAttr::get(name);
  return stablehlo::ReplicaGroupMeshAxesAttr::get(context, mesh, axes);
}

Attribute vhlo::toBuiltin(Attribute given, Emit emitError) {
  auto attribute = dyn_cast<VhloAttr>(given);
  if (!attribute)
    return given;
  MLIRContext *context = given.getContext();
  ArrayRef<Attribute> fields = attribute.fields();
  StringRef name = attribute.row().mnemonic;
  for (const EnumRow &row : enumRows)
    if (row.mnemonic == name)
      return row.make(context, numberOf(fields[0]));
  if (name == "bool_v1" || name == "string_v1")
    return fields[0];
  if (name == "integer_v1" || name == "float_v1")
    return fields[1];
  if (name == "api_version_v1")
    return Builder(context).getI32IntegerAttr(static_cast<int32_t>(numberOf(fields[0])));
  if (name == "array_v1")
    return array(attribute, emitError);
  if (name == "dict_v1")
    return dictionary(attribute, emitError);
  if (name == "tensor_v1")
    return elements(attribute, emitError);
  if (name == "type_v1") {
    Type type = typeOf(fields[0], emitError);
    return type ? TypeAttr::get(type) : TypeAttr();
  }
  if (name == "output_operand_alias_v1")
    return stablehlo::OutputOperandAliasAttr::get(context, numbersOf(fields[0]), numberOf(fields[1]),
                                                  numbersOf(fields[2]));
  if (name == "type_extensions_v1")
    return stablehlo::TypeExtensionsAttr::get(context, numbersOf(fields[0]));
  if (name == "result_accuracy_v1") {
    auto mode = part<stablehlo::ResultAccuracyModeAttr>(attribute, 3, emitError);
    if (!mode)
      return {};
    return stablehlo::ResultAccuracyAttr::getChecked(emitError, context, cast<FloatAttr>(fields[0]).getValue(),
                                                     cast<FloatAttr>(fields[1]).getValue(), numberOf(fields[2]), mode);
  }
  if (name == "sub_axis_info_v1")
    return stablehlo::SubAxisInfoAttr::get(context, numberOf(fields[0]), numberOf(fields[1]));
  if (name == "axis_ref_v1") {
    auto axis = part<StringAttr>(attribute, 0, emitError);
    auto info = part<stablehlo::SubAxisInfoAttr>(attribute, 1, emitError);
    return axis && !fields[1] == !info ? stablehlo::AxisRefAttr::get(context, axis.getValue(), info) : Attribute();
  }
  if (name == "replica_group_mesh_axes_v1")
    return meshAxes(attribute, emitError);
  emitError() << "has the attribute " << given << ", which this version of StableHLO has not";
  return {};
}
