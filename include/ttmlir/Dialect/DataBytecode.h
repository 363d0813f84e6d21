//===- DataBytecode.h - attributes and types of a dialect in bytecode -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The attributes and types of a dialect are a table of rows: a code, and the parameters in file order.

#ifndef TTMLIR_DIALECT_DATABYTECODE_H
#define TTMLIR_DIALECT_DATABYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

#include <optional>
#include <tuple>

namespace mlir::bytecode {

template <class T, class R> R resultOf(R (T::*)() const);
template <class T, class R> T ownerOf(R (T::*)() const);

/// The type that holds a parameter while it is read: lists by value.
template <class T> struct Held {
  using type = T;
};
template <class T> struct Held<ArrayRef<T>> {
  using type = SmallVector<T>;
};

/// Parameters by kind: numbers are signed varints, flags a byte, floats f64, attributes and types indices.
template <auto getter> struct Parameter {
  using Value = std::remove_cvref_t<decltype(resultOf(getter))>;
  using Store = typename Held<Value>::type;

  static LogicalResult read(DialectBytecodeReader &reader, std::optional<Store> &into) {
    if constexpr (std::is_same_v<Store, APFloat>) {
      FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
      if (succeeded(value))
        into = *value;
      return value;
    } else {
      Store value{};
      if constexpr (std::is_same_v<Store, int64_t>) {
        if (failed(reader.readSignedVarInt(value)))
          return failure();
      } else if constexpr (std::is_same_v<Store, bool>) {
        if (failed(reader.readBool(value)))
          return failure();
      } else if constexpr (std::is_same_v<Store, StringRef>) {
        if (failed(reader.readString(value)))
          return failure();
      } else if constexpr (std::is_base_of_v<Type, Store>) {
        if (failed(reader.readType(value)))
          return failure();
      } else if constexpr (std::is_base_of_v<Attribute, Store>) {
        if (failed(reader.readAttribute(value)))
          return failure();
      } else if (failed(readList(reader, value))) {
        return failure();
      }
      into = std::move(value);
      return success();
    }
  }

  template <class T> static void write(T data, DialectBytecodeWriter &writer) {
    Value value = (data.*getter)();
    if constexpr (std::is_same_v<Value, APFloat>)
      writer.writeAPFloatWithKnownSemantics(value);
    else if constexpr (std::is_same_v<Value, int64_t>)
      writer.writeSignedVarInt(value);
    else if constexpr (std::is_same_v<Value, bool>)
      writer.writeOwnedBool(value);
    else if constexpr (std::is_same_v<Value, StringRef>)
      writer.writeOwnedString(value);
    else if constexpr (std::is_base_of_v<Type, Value>)
      writer.writeType(value);
    else if constexpr (std::is_base_of_v<Attribute, Value>)
      writer.writeAttribute(value);
    else if constexpr (std::is_same_v<Value, ArrayRef<int64_t>>)
      writer.writeSignedVarInts(value);
    else if constexpr (std::is_same_v<Value, ArrayRef<Type>>)
      writer.writeTypes(value);
    else
      writer.writeAttributes(value);
  }

private:
  /// Reserves memory for the bytes that exist, not for the length that the file states.
  template <class T> static LogicalResult readList(DialectBytecodeReader &reader, SmallVector<T> &values) {
    uint64_t size = 0;
    if (failed(reader.readVarInt(size)))
      return failure();
    for (uint64_t i = 0; i < size; ++i) {
      T value{};
      LogicalResult result = success();
      if constexpr (std::is_same_v<T, int64_t>)
        result = reader.readSignedVarInt(value);
      else if constexpr (std::is_same_v<T, Type>)
        result = reader.readType(value);
      else
        result = reader.readAttribute(value);
      if (failed(result))
        return failure();
      values.push_back(value);
    }
    return success();
  }
};

/// An attribute that may be absent.
template <auto getter> struct OptionalParameter {
  using Value = std::remove_cvref_t<decltype(resultOf(getter))>;
  using Store = Value;
  static LogicalResult read(DialectBytecodeReader &reader, std::optional<Store> &into) {
    into = Store();
    return reader.readOptionalAttribute(*into);
  }
  template <class T> static void write(T data, DialectBytecodeWriter &writer) {
    writer.writeOptionalAttribute((data.*getter)());
  }
};

/// A row of the table of attributes (T is Attribute) or of types.
template <class T> struct Row {
  uint64_t code;
  T (*read)(DialectBytecodeReader &reader);
  /// Returns false for data of another row.
  bool (*write)(T data, uint64_t code, DialectBytecodeWriter &writer);
};

/// Builds an attribute or a type from its parameters; null after an error.
template <class T, class... Values> T make(DialectBytecodeReader &reader, const Values &...values) {
  auto emitError = [&] { return reader.emitError(); };
  MLIRContext *context = reader.getContext();
  if constexpr (requires { T::verify(emitError, values...); })
    if (failed(T::verify(emitError, values...)))
      return {};
  if constexpr (sizeof...(Values) == 0)
    return T::get(context);
  else
    return T::get(context, values...);
}

template <class T> const T &passed(const T &value) { return value; }
template <class T> ArrayRef<T> passed(const SmallVector<T> &value) { return value; }

/// A row of the parameters of a class.
template <class Base, class T, class... Parameters> constexpr Row<Base> row(uint64_t code) {
  return {code,
          [](DialectBytecodeReader &reader) -> Base {
            std::tuple<std::optional<typename Parameters::Store>...> values;
            bool good =
                std::apply([&](auto &...value) { return (... && succeeded(Parameters::read(reader, value))); }, values);
            if (!good)
              return {};
            return std::apply([&](auto &...value) { return make<T>(reader, passed(*value)...); }, values);
          },
          [](Base data, uint64_t code, DialectBytecodeWriter &writer) {
            auto typed = dyn_cast<T>(data);
            if (!typed)
              return false;
            writer.writeVarInt(code);
            (Parameters::write(typed, writer), ...);
            return true;
          }};
}

/// A row of an attribute whose parameters are all plain.
template <auto first, auto... others> constexpr Row<Attribute> attributeRow(uint64_t code) {
  return row<Attribute, decltype(ownerOf(first)), Parameter<first>, Parameter<others>...>(code);
}

/// A row of an enum: the number of an existing value.
template <class T, auto symbolize> constexpr Row<Attribute> enumRow(uint64_t code) {
  return {code,
          [](DialectBytecodeReader &reader) -> Attribute {
            uint64_t value = 0;
            if (failed(reader.readVarInt(value)))
              return {};
            auto symbol = value <= UINT32_MAX ? symbolize(static_cast<uint32_t>(value)) : std::nullopt;
            if (symbol)
              return T::get(reader.getContext(), *symbol);
            reader.emitError() << T::name << " is " << value << ", which is none of its values";
            return {};
          },
          [](Attribute data, uint64_t code, DialectBytecodeWriter &writer) {
            auto typed = dyn_cast<T>(data);
            if (!typed)
              return false;
            writer.writeVarInt(code);
            writer.writeVarInt(static_cast<uint64_t>(typed.getValue()));
            return true;
          }};
}

/// Reads and writes by the rows of two tables.
class Interface : public BytecodeDialectInterface {
public:
  Interface(Dialect *dialect, ArrayRef<Row<Attribute>> attributes, ArrayRef<Row<Type>> types)
      : BytecodeDialectInterface(dialect), attributes(attributes), types(types) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    return read(attributes, "attribute", reader);
  }
  Type readType(DialectBytecodeReader &reader) const override { return read(types, "type", reader); }

  /// Failure means that the text was written.
  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter &writer) const override {
    return write(attributes, attribute, writer);
  }
  LogicalResult writeType(Type type, DialectBytecodeWriter &writer) const override {
    return write(types, type, writer);
  }

private:
  template <class T> T read(ArrayRef<Row<T>> rows, StringRef what, DialectBytecodeReader &reader) const {
    uint64_t code = 0;
    if (failed(reader.readVarInt(code)))
      return {};
    for (const Row<T> &row : rows)
      if (row.code == code)
        return row.read(reader);
    reader.emitError() << getDialect()->getNamespace() << " has no " << what << " of code " << code;
    return {};
  }
  template <class T> LogicalResult write(ArrayRef<Row<T>> rows, T data, DialectBytecodeWriter &writer) const {
    return success(llvm::any_of(rows, [&](const Row<T> &row) { return row.write(data, row.code, writer); }));
  }

  ArrayRef<Row<Attribute>> attributes;
  ArrayRef<Row<Type>> types;
};

} // namespace mlir::bytecode

#endif // TTMLIR_DIALECT_DATABYTECODE_H
