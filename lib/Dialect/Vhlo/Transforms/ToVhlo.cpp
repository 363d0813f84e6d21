//===- ToVhlo.cpp - attributes and types as VHLO has them -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Data.h"
#include "Enums.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The types, or nothing where one has no counterpart.
static std::optional<ArrayAttr> typeFields(MLIRContext *context, TypeRange types, bool allowOthers) {
  SmallVector<Type> converted;
  for (Type type : types) {
    converted.push_back(toVhlo(type, allowOthers));
    if (!converted.back() && allowOthers)
      converted.back() = type;
    if (!converted.back())
      return std::nullopt;
  }
  return Builder(context).getTypeArrayAttr(converted);
}

static Type quantized(quant::QuantizedType type) {
  Builder builder(type.getContext());
  Type storage = toVhlo(type.getStorageType(), false), expressed = toVhlo(type.getExpressedType(), false);
  if (!storage || !expressed)
    return {};
  Attribute flags = builder.getI64IntegerAttr(type.getFlags());
  Attribute least = builder.getI64IntegerAttr(type.getStorageTypeMin());
  Attribute most = builder.getI64IntegerAttr(type.getStorageTypeMax());
  Attribute storageField = TypeAttr::get(storage), expressedField = TypeAttr::get(expressed);
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
    return VhloType::get(type.getContext(), "quant_v1",
                         {flags, storageField, expressedField, builder.getF64FloatAttr(uniform.getScale()),
                          builder.getI64IntegerAttr(uniform.getZeroPoint()), least, most});
  if (auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(type))
    return VhloType::get(type.getContext(), "quant_per_axis_v1",
                         {flags, storageField, expressedField, builder.getI64IntegerAttr(axis.getQuantizedDimension()),
                          least, most, builder.getDenseF64ArrayAttr(axis.getScales()),
                          builder.getDenseI64ArrayAttr(axis.getZeroPoints())});
  return {};
}

Type vhlo::toVhlo(Type type, bool allowOthers) {
  MLIRContext *context = type.getContext();
  Builder builder(context);
  if (isa<VhloType>(type))
    return type;
  if (VhloType number = vhloNumber(type))
    return number;
  auto element = [&](Type given) -> TypeAttr {
    Type converted = toVhlo(given, allowOthers);
    return converted ? TypeAttr::get(converted) : TypeAttr();
  };
  auto list = [&](StringRef mnemonic, TypeRange types) -> Type {
    auto fields = typeFields(context, types, allowOthers);
    return fields ? VhloType::get(context, mnemonic, {*fields}) : VhloType();
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    TypeAttr elements = element(tensor.getElementType());
    if (!elements)
      return {};
    Attribute shape = builder.getDenseI64ArrayAttr(tensor.getShape());
    if (!tensor.getEncoding())
      return VhloType::get(context, "tensor_v1", {shape, elements});
    Attribute encoding = toVhlo(tensor.getEncoding(), allowOthers);
    if (!encoding && allowOthers)
      encoding = tensor.getEncoding();
    return encoding ? VhloType::get(context, *findType(21), {encoding, shape, elements}) : VhloType();
  }
  if (auto complex = dyn_cast<ComplexType>(type)) {
    TypeAttr elements = element(complex.getElementType());
    return elements ? VhloType::get(context, "complex_v1", {elements}) : VhloType();
  }
  if (auto unranked = dyn_cast<UnrankedTensorType>(type)) {
    TypeAttr elements = element(unranked.getElementType());
    return elements ? VhloType::get(context, "unranked_tensor_v1", {elements}) : VhloType();
  }
  if (auto buffer = dyn_cast<MemRefType>(type)) {
    TypeAttr elements = element(buffer.getElementType());
    if (!elements || !buffer.getLayout().isIdentity() || buffer.getMemorySpace())
      return {};
    return VhloType::get(context, "buffer_v1", {builder.getDenseI64ArrayAttr(buffer.getShape()), elements});
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    auto inputs = typeFields(context, function.getInputs(), allowOthers);
    auto outputs = typeFields(context, function.getResults(), allowOthers);
    return inputs && outputs ? VhloType::get(context, "func_v1", {*inputs, *outputs}) : VhloType();
  }
  if (auto tuple = dyn_cast<TupleType>(type))
    return list("tuple_v1", tuple.getTypes());
  if (auto future = dyn_cast<stablehlo::FutureType>(type))
    return list("future_v1", future.getTypes());
  if (isa<stablehlo::TokenType>(type))
    return VhloType::get(context, "token_v1");
  if (isa<NoneType>(type))
    return VhloType::get(context, "none_v1");
  if (auto number = dyn_cast<quant::QuantizedType>(type))
    return quantized(number);
  return {};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

VhloAttr vhlo::makeString(MLIRContext *context, StringRef text) {
  return VhloAttr::get(context, "string_v1", {StringAttr::get(context, text)});
}
VhloAttr vhlo::makeBool(MLIRContext *context, bool value) {
  return VhloAttr::get(context, "bool_v1", {BoolAttr::get(context, value)});
}
VhloAttr vhlo::makeArray(MLIRContext *context, ArrayRef<Attribute> values) {
  return VhloAttr::get(context, "array_v1", {ArrayAttr::get(context, values)});
}
VhloAttr vhlo::makeEnum(MLIRContext *context, StringRef mnemonic, StringRef value) {
  const DataRow &row = *findAttribute(mnemonic);
  return VhloAttr::get(context, row, {Builder(context).getI64IntegerAttr(static_cast<int64_t>(*row.valueOf(value)))});
}
VhloAttr vhlo::makeInteger(MLIRContext *context, int64_t value) {
  return VhloAttr::get(context, "integer_v1",
                       {TypeAttr::get(VhloType::get(context, "i64_v1")), Builder(context).getI64IntegerAttr(value)});
}
VhloAttr vhlo::makeNoType(MLIRContext *context) {
  return VhloAttr::get(context, "type_v1", {TypeAttr::get(VhloType::get(context, "none_v1"))});
}
VhloAttr vhlo::makeDefaultAccuracy(MLIRContext *context) {
  Builder builder(context);
  Attribute zero = builder.getF64FloatAttr(0);
  return VhloAttr::get(
      context, "result_accuracy_v1",
      {zero, zero, builder.getI64IntegerAttr(0), makeEnum(context, "result_accuracy_mode_v1", "DEFAULT")});
}
VhloAttr vhlo::makeTensor(MLIRContext *context, ArrayRef<int64_t> values, ArrayRef<int64_t> shape) {
  const int64_t size = static_cast<int64_t>(values.size());
  auto type = RankedTensorType::get(shape.empty() ? ArrayRef(size) : shape, IntegerType::get(context, 64));
  return makeTensor(DenseElementsAttr::get(type, values));
}

/// Booleans are packed, from the lowest bit on.
static std::string packed(DenseElementsAttr elements) {
  if (elements.isSplat() && elements.getNumElements() > 1)
    return std::string(1, elements.getSplatValue<bool>() ? '\xFF' : '\0');
  std::string bytes((elements.getNumElements() + 7) / 8, '\0');
  for (auto [i, value] : llvm::enumerate(elements.getValues<bool>()))
    if (value)
      bytes[i / 8] |= static_cast<char>(1 << (i % 8));
  return bytes;
}

VhloAttr vhlo::makeTensor(DenseElementsAttr elements) {
  MLIRContext *context = elements.getContext();
  Type type = toVhlo(elements.getType(), /*allowOthers=*/false);
  if (!type)
    return {};
  ArrayRef<char> raw = elements.getRawData();
  std::string bytes;
  if (elements.getElementType().isInteger(1)) {
    bytes = packed(elements);
    raw = ArrayRef(bytes.data(), bytes.size());
  }
  return VhloAttr::get(context, "tensor_v1",
                       {TypeAttr::get(type), StringAttr::get(context, StringRef(raw.data(), raw.size()))});
}

/// A part of an array or dictionary.
static Attribute partOf(Attribute given, bool allowOthers) {
  Attribute converted = toVhlo(given, allowOthers);
  return !converted && allowOthers ? given : converted;
}

static Attribute mesh(stablehlo::ReplicaGroupMeshAxesAttr attribute, bool allowOthers) {
  Attribute mesh = toVhlo(attribute.getMesh(), allowOthers), axes = toVhlo(attribute.getAxes(), allowOthers);
  if (!mesh || !axes)
    return {};
  return VhloAttr::get(attribute.getContext(), "replica_group_mesh_axes_v1", {mesh, axes});
}

static Attribute container(Attribute given, bool allowOthers) {
  MLIRContext *context = given.getContext();
  SmallVector<Attribute> values;
  if (auto array = dyn_cast<ArrayAttr>(given)) {
    for (Attribute each : array) {
      values.push_back(partOf(each, allowOthers));
      if (!values.back())
        return {};
    }
    return makeArray(context, values);
  }
  for (NamedAttribute each : cast<DictionaryAttr>(given)) {
    values.push_back(makeString(context, each.getName()));
    values.push_back(partOf(each.getValue(), allowOthers));
    if (!values.back())
      return {};
  }
  return VhloAttr::get(context, "dict_v1", {ArrayAttr::get(context, values)});
}

/// Integers, floats and types, which hold a type.
static Attribute typed(Attribute given) {
  MLIRContext *context = given.getContext();
  Type type = isa<TypeAttr>(given) ? cast<TypeAttr>(given).getValue() : cast<TypedAttr>(given).getType();
  Type converted = isa<TypeAttr>(given) ? toVhlo(type, /*allowOthers=*/false) : vhloNumber(type);
  if (!converted)
    return {};
  if (isa<TypeAttr>(given))
    return VhloAttr::get(context, "type_v1", {TypeAttr::get(converted)});
  return VhloAttr::get(context, isa<FloatAttr>(given) ? "float_v1" : "integer_v1", {TypeAttr::get(converted), given});
}

Attribute vhlo::toVhlo(Attribute given, bool allowOthers) {
  MLIRContext *context = given.getContext();
  Builder builder(context);
  if (isa<VhloAttr>(given))
    return given;
  for (const EnumRow &row : enumRows)
    if (std::optional<uint64_t> value = row.value(given))
      return VhloAttr::get(context, row.mnemonic, {builder.getI64IntegerAttr(static_cast<int64_t>(*value))});
  if (auto value = dyn_cast<BoolAttr>(given))
    return makeBool(context, value.getValue());
  if (auto text = dyn_cast<StringAttr>(given))
    return isa<NoneType>(text.getType()) ? makeString(context, text.getValue()) : VhloAttr();
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(given))
    return makeString(context, symbol.getValue());
  if (isa<ArrayAttr, DictionaryAttr>(given))
    return container(given, allowOthers);
  if (isa<IntegerAttr, FloatAttr, TypeAttr>(given))
    return typed(given);
  if (auto elements = dyn_cast<DenseElementsAttr>(given))
    return isa<RankedTensorType>(elements.getType()) ? makeTensor(elements) : VhloAttr();
  if (auto array = dyn_cast<DenseI64ArrayAttr>(given))
    return makeTensor(context, array.asArrayRef());
  if (auto array = dyn_cast<DenseBoolArrayAttr>(given))
    return makeTensor(DenseElementsAttr::get(
        RankedTensorType::get(static_cast<int64_t>(array.size()), builder.getI1Type()), array.asArrayRef()));
  if (auto alias = dyn_cast<stablehlo::OutputOperandAliasAttr>(given))
    return VhloAttr::get(context, "output_operand_alias_v1",
                         {builder.getDenseI64ArrayAttr(alias.getOutputTupleIndices()),
                          builder.getI64IntegerAttr(alias.getOperandIndex()),
                          builder.getDenseI64ArrayAttr(alias.getOperandTupleIndices())});
  if (auto extensions = dyn_cast<stablehlo::TypeExtensionsAttr>(given))
    return VhloAttr::get(context, "type_extensions_v1", {builder.getDenseI64ArrayAttr(extensions.getBounds())});
  if (auto accuracy = dyn_cast<stablehlo::ResultAccuracyAttr>(given))
    return VhloAttr::get(context, "result_accuracy_v1",
                         {builder.getFloatAttr(builder.getF64Type(), accuracy.getAtol()),
                          builder.getFloatAttr(builder.getF64Type(), accuracy.getRtol()),
                          builder.getI64IntegerAttr(accuracy.getUlps()), toVhlo(accuracy.getMode(), allowOthers)});
  if (auto info = dyn_cast<stablehlo::SubAxisInfoAttr>(given))
    return VhloAttr::get(context, "sub_axis_info_v1",
                         {builder.getI64IntegerAttr(info.getPreSize()), builder.getI64IntegerAttr(info.getSize())});
  if (auto axis = dyn_cast<stablehlo::AxisRefAttr>(given)) {
    auto info = axis.getSubAxisInfo();
    return VhloAttr::get(context, "axis_ref_v1",
                         {makeString(context, axis.getName()), info ? toVhlo(info, allowOthers) : Attribute()});
  }
  if (auto groups = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(given))
    return mesh(groups, allowOthers);
  return {};
}
