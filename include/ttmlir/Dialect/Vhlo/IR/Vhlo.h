//===- Vhlo.h - the VHLO dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The versions of StableHLO ops, attributes and types in portable artefacts. None has a class of its own:
// each is a row of a table.

#ifndef TTMLIR_DIALECT_VHLO_IR_VHLO_H
#define TTMLIR_DIALECT_VHLO_IR_VHLO_H

#include "ttmlir/Dialect/Vhlo/IR/Table.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::vhlo {

class VhloDialect : public Dialect {
public:
  explicit VhloDialect(MLIRContext *context);
  static constexpr StringLiteral getDialectNamespace() { return "vhlo"; }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override;
  void printAttribute(Attribute attribute, DialectAsmPrinter &printer) const override;
  Type parseType(DialectAsmParser &parser) const override;
  void printType(Type type, DialectAsmPrinter &printer) const override;

private:
  friend void addBytecode(VhloDialect &dialect);
  void registerData();
};

namespace detail {
struct VhloAttrStorage;
struct VhloTypeStorage;
} // namespace detail

/// An attribute of the dialect: a row, and the values of its fields.
class VhloAttr : public Attribute::AttrBase<VhloAttr, Attribute, detail::VhloAttrStorage> {
public:
  using Base::Base;
  static constexpr StringLiteral name = "vhlo.attribute";
  static VhloAttr get(MLIRContext *context, const DataRow &row, ArrayRef<Attribute> fields);
  static VhloAttr get(MLIRContext *context, StringRef mnemonic, ArrayRef<Attribute> fields);

  const DataRow &row() const;
  ArrayRef<Attribute> fields() const;
  bool is(StringRef mnemonic) const { return row().mnemonic == mnemonic; }
};

/// A type of the dialect.
class VhloType : public Type::TypeBase<VhloType, Type, detail::VhloTypeStorage> {
public:
  using Base::Base;
  static constexpr StringLiteral name = "vhlo.type";
  static VhloType get(MLIRContext *context, const DataRow &row, ArrayRef<Attribute> fields);
  static VhloType get(MLIRContext *context, StringRef mnemonic, ArrayRef<Attribute> fields = {});

  const DataRow &row() const;
  ArrayRef<Attribute> fields() const;
  bool is(StringRef mnemonic) const { return row().mnemonic == mnemonic; }
};

/// The format of a type of floats, and the width of a type of integers.
const llvm::fltSemantics *floatFormat(Type type);
std::optional<unsigned> integerWidth(Type type);
/// The builtin type of a VHLO type of numbers, or null.
Type builtinNumber(VhloType type);
/// The VHLO type of a builtin type of numbers, or null.
VhloType vhloNumber(Type type);

/// The attributes of an op.
DictionaryAttr inherentAttributes(Operation *op);
/// An op with these attributes; regions are empty.
Operation *createOp(OpBuilder &builder, Location loc, const OpRow &row, TypeRange results, ValueRange operands,
                    DictionaryAttr inherent, DictionaryAttr discardable, unsigned regions);

} // namespace mlir::vhlo

MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloAttr)
MLIR_DECLARE_EXPLICIT_TYPE_ID(mlir::vhlo::VhloType)

#endif // TTMLIR_DIALECT_VHLO_IR_VHLO_H
