//===- TTCoreTypes.td - types of the TTCore dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCORETYPES_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCORETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"

def TTCore_TileType : TypeDef<TTCore_Dialect, "Tile", [MemRefElementTypeInterface]> {
  let mnemonic = "tile";
  let summary = "A tile of values in one data format.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "DataType":$dataType);
  let assemblyFormat = "`<` custom<DimensionList>($shape) `,` $dataType `>`";
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilder<(ins "DataType":$dataType), [{
      return $_get($_ctxt, llvm::ArrayRef<int64_t>{32, 32}, dataType);
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getHeight() const { return getShape()[0]; }
    int64_t getWidth() const { return getShape()[1]; }
    /// Bytes of one tile, including exponents of block formats.
    uint64_t getSizeBytes() const;
    /// The builtin type that holds values of this format without loss.
    Type getElementType() const;
  }];
}

def TTCore_DictType : TypeDef<TTCore_Dialect, "Dict"> {
  let mnemonic = "dict";
  let summary = "Lists of values by a name or a number, kept between calls.";
}

def TTCore_Tuple : Type<CPred<"::llvm::isa<::mlir::TupleType>($_self)">, "tuple", "::mlir::TupleType">;

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCORETYPES_TD
