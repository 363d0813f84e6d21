//===- Table.h - ops, attributes and types of VHLO in rows ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_VHLO_IR_TABLE_H
#define TTMLIR_DIALECT_VHLO_IR_TABLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <tuple>

namespace mlir::vhlo {

/// A version of the opset.
struct Version {
  int64_t majorNumber = 0, minorNumber = 0, patchNumber = 0;

  static constexpr Version current() { return {1, 20, 0}; }
  static constexpr Version minimum() { return {0, 9, 0}; }
  /// `1.16.2`; nothing if the text is not a version.
  static std::optional<Version> parse(StringRef text);
  /// A version that can be written, or the error.
  static FailureOr<Version> parseTarget(StringRef text, function_ref<void(const Twine &)> error);
  /// Without its patch number, which does not change what a file may contain.
  Version withoutPatch() const { return {majorNumber, minorNumber, 0}; }
  std::string str() const {
    return std::to_string(majorNumber) + '.' + std::to_string(minorNumber) + '.' + std::to_string(patchNumber);
  }

  friend bool operator<(const Version &a, const Version &b) {
    return std::tie(a.majorNumber, a.minorNumber, a.patchNumber) <
           std::tie(b.majorNumber, b.minorNumber, b.patchNumber);
  }
  friend bool operator==(const Version &a, const Version &b) { return !(a < b) && !(b < a); }
};

/// The kind of a field of an attribute or type in a file, and the builtin attribute that holds it in memory.
enum class Kind {
  Bool,     // varint 0 or 1: BoolAttr
  Enum,     // varint: i64 IntegerAttr
  Number,   // varint: i64 IntegerAttr
  Signed,   // signed varint: i64 IntegerAttr
  Numbers,  // signed varints: DenseI64ArrayAttr
  Shape,    // the same, printed as dimensions before a type
  Integer,  // of the width of the type before it: IntegerAttr
  Float,    // of the format of the type before it: FloatAttr
  Double,   // f64: FloatAttr
  Doubles,  // list of f64: DenseF64ArrayAttr
  String,   // StringAttr
  Blob,     // bytes in place: StringAttr
  Type,     // TypeAttr
  Types,    // ArrayAttr of TypeAttr
  Attr,     // the attribute
  Optional, // the attribute or none
  Attrs,    // ArrayAttr
  Pairs     // key and value in turn: ArrayAttr
};

struct Field {
  StringRef name;
  Kind kind;
};

/// A row of Attributes.def or Types.def: code in a file, mnemonic, first version, `name:kind` of each field in file
/// order, names of the values of an enum.
struct DataRow {
  uint64_t code;
  StringRef mnemonic;
  Version since;
  SmallVector<Field> fields;
  SmallVector<std::pair<StringRef, uint64_t>> values;

  std::optional<uint64_t> valueOf(StringRef name) const;
  std::optional<StringRef> nameOf(uint64_t value) const;
};

/// The form in which StableHLO writes an attribute of an op.
enum class Form {
  Plain,   // by its own kind
  Array,   // `:array`, a tensor as DenseI64ArrayAttr
  Bools,   // `:bools`, a tensor as DenseBoolArrayAttr
  Symbol,  // `:symbol`, a string as FlatSymbolRefAttr
  Symbols, // `:symbols`, strings as FlatSymbolRefAttr
  Unit,    // `:unit`, a bool as UnitAttr or nothing
  Part     // `@name`, with others a part of the attribute `name`
};

/// The value that a file holds for an attribute that a StableHLO op omits.
enum class Default {
  None,
  False,
  Zero,
  MinusOne,
  EmptyString,
  EmptyArray,
  EmptyDictionary,
  EmptyTensor,
  Ones,
  Zeros,
  Falses,
  Precision,
  NoType,
  Accuracy,
  NoComparisonType,
  OriginalApi,
  Config
};

struct Inherent {
  StringRef name;
  Form form = Form::Plain;
  Default value = Default::None;
  StringRef whole; // what a part is of
};

/// A row of Ops.def: name, first and last version ("" if there is no last one), the StableHLO op ("" if a later version
/// replaced it), and the attributes in alphabetical order, as `name`, form and `=default`.
struct OpRow {
  StringRef name;
  Version since;
  std::optional<Version> until;
  StringRef stablehlo;
  SmallVector<Inherent> attributes;

  const Inherent *find(StringRef attribute) const;
  bool legalIn(const Version &version) const { return !(version < since) && !(until && *until < version); }
  /// The name without its version, and the version's number.
  std::pair<StringRef, unsigned> split() const;
};

ArrayRef<OpRow> opRows();
ArrayRef<DataRow> attributeRows();
ArrayRef<DataRow> typeRows();

/// The row of a name with or without `vhlo.`, or null.
const OpRow *findOp(StringRef name);
/// The row of `base_vN`, or null.
const OpRow *findOp(StringRef base, unsigned number);
/// The row that writes an op of another dialect, or null.
const OpRow *findOpFor(StringRef stablehlo);
const DataRow *findAttribute(StringRef mnemonic);
const DataRow *findAttribute(uint64_t code);
const DataRow *findType(StringRef mnemonic);
const DataRow *findType(uint64_t code);

} // namespace mlir::vhlo

#endif // TTMLIR_DIALECT_VHLO_IR_TABLE_H
