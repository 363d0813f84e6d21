//===- VhloBytecode.cpp - attributes and types in files -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bytecode.h"

#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::vhlo;

namespace {

/// Reads the fields of one attribute or type.
class FieldReader {
public:
  FieldReader(DialectBytecodeReader &reader, const DataRow &row)
      : reader(reader), row(row), builder(reader.getContext()) {}

  FailureOr<SmallVector<Attribute>> read() {
    SmallVector<Attribute> fields;
    for (const Field &field : row.fields) {
      FailureOr<Attribute> value = read(field, fields);
      if (failed(value))
        return failure();
      fields.push_back(*value);
    }
    return fields;
  }

private:
  /// An error that names the field.
  InFlightDiagnostic error(const Field &field) const {
    return reader.emitError() << "vhlo." << row.mnemonic << ": " << field.name << " ";
  }

  /// A list whose elements must fit into the rest of the file: none takes less than a byte.
  template <class T, class Read> FailureOr<SmallVector<T>> readList(Read read) {
    uint64_t size = 0;
    if (failed(reader.readVarInt(size)))
      return failure();
    SmallVector<T> list;
    list.reserve(std::min<uint64_t>(size, 1024));
    for (uint64_t i = 0; i < size; ++i) {
      T element{};
      if (failed(read(element)))
        return failure();
      list.push_back(element);
    }
    return list;
  }

  FailureOr<Attribute> readDouble() {
    FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
    if (failed(value))
      return failure();
    return Attribute(builder.getF64FloatAttr(value->convertToDouble()));
  }

  FailureOr<Attribute> readNumber(const Field &field) {
    uint64_t value = 0;
    if (failed(reader.readVarInt(value)))
      return failure();
    if (field.kind == Kind::Enum && !row.nameOf(value))
      return error(field) << "is " << value << ", which is none of its values", failure();
    if (field.kind == Kind::Bool && value > 1)
      return error(field) << "is " << value << "; expected 0 or 1", failure();
    if (field.kind == Kind::Bool)
      return Attribute(builder.getBoolAttr(value != 0));
    return Attribute(builder.getI64IntegerAttr(static_cast<int64_t>(value)));
  }

  /// A number of the type that was read before it.
  FailureOr<Attribute> readOfType(const Field &field, ArrayRef<Attribute> before) {
    Type type = cast<TypeAttr>(before.back()).getValue();
    auto vhlo = dyn_cast<VhloType>(type);
    Type number = vhlo ? builtinNumber(vhlo) : Type();
    if (field.kind == Kind::Float) {
      const llvm::fltSemantics *format = floatFormat(type);
      if (!format)
        return error(field) << "has the type " << type << "; expected one of floats", failure();
      FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(*format);
      if (failed(value))
        return failure();
      return Attribute(FloatAttr::get(number, *value));
    }
    std::optional<unsigned> width = integerWidth(type);
    if (!width)
      return error(field) << "has the type " << type << "; expected one of integers", failure();
    FailureOr<APInt> value = reader.readAPIntWithKnownWidth(*width);
    if (failed(value))
      return failure();
    return Attribute(IntegerAttr::get(number, *value));
  }

  FailureOr<Attribute> read(const Field &field, ArrayRef<Attribute> before) {
    switch (field.kind) {
    case Kind::Bool:
    case Kind::Enum:
    case Kind::Number:
      return readNumber(field);
    case Kind::Signed: {
      int64_t value = 0;
      if (failed(reader.readSignedVarInt(value)))
        return failure();
      return Attribute(builder.getI64IntegerAttr(value));
    }
    case Kind::Numbers:
    case Kind::Shape: {
      auto list = readList<int64_t>([&](int64_t &value) { return reader.readSignedVarInt(value); });
      if (failed(list))
        return failure();
      return Attribute(builder.getDenseI64ArrayAttr(*list));
    }
    case Kind::Integer:
    case Kind::Float:
      return readOfType(field, before);
    case Kind::Double:
      return readDouble();
    case Kind::Doubles: {
      auto list = readList<double>([&](double &value) -> LogicalResult {
        FailureOr<Attribute> number = readDouble();
        if (failed(number))
          return failure();
        value = cast<FloatAttr>(*number).getValueAsDouble();
        return success();
      });
      if (failed(list))
        return failure();
      return Attribute(builder.getDenseF64ArrayAttr(*list));
    }
    case Kind::String: {
      StringRef text;
      if (failed(reader.readString(text)))
        return failure();
      return Attribute(builder.getStringAttr(text));
    }
    case Kind::Blob: {
      ArrayRef<char> bytes;
      if (failed(reader.readBlob(bytes)))
        return failure();
      return Attribute(builder.getStringAttr(StringRef(bytes.data(), bytes.size())));
    }
    case Kind::Type: {
      Type type;
      if (failed(reader.readType(type)))
        return failure();
      return Attribute(TypeAttr::get(type));
    }
    case Kind::Types: {
      auto list = readList<Type>([&](Type &type) { return reader.readType(type); });
      if (failed(list))
        return failure();
      return Attribute(builder.getTypeArrayAttr(*list));
    }
    case Kind::Attr: {
      Attribute value;
      if (failed(reader.readAttribute(value)))
        return failure();
      return value;
    }
    case Kind::Optional:
      return readOptional(field);
    case Kind::Attrs:
    case Kind::Pairs: {
      bool isPairs = field.kind == Kind::Pairs;
      auto list = readList<std::pair<Attribute, Attribute>>([&](std::pair<Attribute, Attribute> &element) {
        return failure(failed(reader.readAttribute(element.first)) ||
                       (isPairs && failed(reader.readAttribute(element.second))));
      });
      if (failed(list))
        return failure();
      SmallVector<Attribute> values;
      for (auto [first, second] : *list) {
        values.push_back(first);
        if (isPairs)
          values.push_back(second);
      }
      return Attribute(builder.getArrayAttr(values));
    }
    }
    llvm_unreachable("a field of no kind");
  }

  /// An axis has a flag before an optional part; elsewhere it is the index of the attribute.
  FailureOr<Attribute> readOptional(const Field &field) {
    Attribute value;
    if (row.mnemonic != "axis_ref_v1") {
      if (failed(reader.readOptionalAttribute(value)))
        return failure();
      return value;
    }
    uint64_t flag = 0;
    if (failed(reader.readVarInt(flag)))
      return failure();
    if (flag > 1)
      return error(field) << "has the flag " << flag << "; expected 0 or 1", failure();
    if (flag && failed(reader.readAttribute(value)))
      return failure();
    return value;
  }

  DialectBytecodeReader &reader;
  const DataRow &row;
  Builder builder;
};

/// The inverse of `FieldReader`.
void writeFields(const DataRow &row, ArrayRef<Attribute> fields, DialectBytecodeWriter &writer) {
  auto number = [](Attribute value) { return cast<IntegerAttr>(value).getInt(); };
  writer.writeVarInt(row.code);
  for (auto [field, value] : llvm::zip_equal(row.fields, fields)) {
    switch (field.kind) {
    case Kind::Bool:
      writer.writeVarInt(cast<BoolAttr>(value).getValue());
      break;
    case Kind::Enum:
    case Kind::Number:
      writer.writeVarInt(static_cast<uint64_t>(number(value)));
      break;
    case Kind::Signed:
      writer.writeSignedVarInt(number(value));
      break;
    case Kind::Numbers:
    case Kind::Shape:
      writer.writeSignedVarInts(cast<DenseI64ArrayAttr>(value).asArrayRef());
      break;
    case Kind::Integer:
      writer.writeAPIntWithKnownWidth(cast<IntegerAttr>(value).getValue());
      break;
    case Kind::Float:
    case Kind::Double:
      writer.writeAPFloatWithKnownSemantics(cast<FloatAttr>(value).getValue());
      break;
    case Kind::Doubles:
      writer.writeList(cast<DenseF64ArrayAttr>(value).asArrayRef(),
                       [&](double each) { writer.writeAPFloatWithKnownSemantics(APFloat(each)); });
      break;
    case Kind::String:
      writer.writeOwnedString(cast<StringAttr>(value).getValue());
      break;
    case Kind::Blob: {
      StringRef bytes = cast<StringAttr>(value).getValue();
      writer.writeOwnedBlob(ArrayRef(bytes.data(), bytes.size()));
      break;
    }
    case Kind::Type:
      writer.writeType(cast<TypeAttr>(value).getValue());
      break;
    case Kind::Types:
      writer.writeList(cast<ArrayAttr>(value),
                       [&](Attribute each) { writer.writeType(cast<TypeAttr>(each).getValue()); });
      break;
    case Kind::Attr:
      writer.writeAttribute(value);
      break;
    case Kind::Optional:
      if (row.mnemonic != "axis_ref_v1") {
        writer.writeOptionalAttribute(value);
        break;
      }
      writer.writeVarInt(value ? 1 : 0);
      if (value)
        writer.writeAttribute(value);
      break;
    case Kind::Attrs:
      writer.writeAttributes(cast<ArrayAttr>(value).getValue());
      break;
    case Kind::Pairs: {
      ArrayRef<Attribute> values = cast<ArrayAttr>(value).getValue();
      writer.writeVarInt(values.size() / 2);
      for (Attribute each : values)
        writer.writeAttribute(each);
      break;
    }
    }
  }
}

struct VhloBytecode : BytecodeDialectInterface {
  explicit VhloBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return read<VhloAttr>(reader, findAttribute, "attribute");
  }
  Type readType(DialectBytecodeReader &reader) const override { return read<VhloType>(reader, findType, "type"); }

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    auto vhlo = cast<VhloAttr>(attribute);
    return writeFields(vhlo.row(), vhlo.fields(), writer), success();
  }
  LogicalResult writeType(Type type, DialectBytecodeWriter &writer) const override {
    auto vhlo = cast<VhloType>(type);
    return writeFields(vhlo.row(), vhlo.fields(), writer), success();
  }

private:
  template <class T> static T read(DialectBytecodeReader &reader, const DataRow *(*find)(uint64_t), StringRef what) {
    uint64_t code = 0;
    if (failed(reader.readVarInt(code)))
      return {};
    const DataRow *row = find(code);
    if (!row) {
      reader.emitError() << "vhlo has no " << what << " of code " << code;
      return {};
    }
    FailureOr<SmallVector<Attribute>> fields = FieldReader(reader, *row).read();
    return failed(fields) ? T() : T::get(reader.getContext(), *row, *fields);
  }
};

} // namespace

void vhlo::addBytecode(VhloDialect &dialect) { dialect.addInterface<VhloBytecode>(); }
