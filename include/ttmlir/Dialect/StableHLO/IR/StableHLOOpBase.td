//===- StableHLOOpBase.td - base classes of StableHLO ops --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPBASE_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPBASE_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOAttrs.td"

class StableHLO_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits> {
  let description = [{
    As in the StableHLO specification: operands, attributes and result types are those it names.
  }];
}

/// Checks declared result types against the inferred ones. The interface's own check would report the same error a
/// second time, so it is switched off (`refineReturnTypes`).
def StableHLO_InferredResults : NativeOpTrait<"InferredResults"> {
  let cppNamespace = "::mlir::stablehlo";
}

/// An op with one shape function, `inferTypes(location, adaptor, types)`, written next to its family. Builders call it
/// before any verifier, so operand count and attributes are checked first: the shape function may rely on them, and on
/// nothing else. `compatible` decides which declared results agree with an inferred one: `compatibleTypes`, or
/// `compatibleShapes` if the author chooses the element type.
class StableHLO_InferredOp<string mnemonic, list<Trait> traits = [], string compatible = "compatibleTypes">
    : StableHLO_Op<mnemonic, !listconcat([StableHLO_InferredResults, DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared);
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
    static ::llvm::LogicalResult inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                            ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
  code inferenceBody = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
      return }] # compatible # [{(inferred, declared);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      ::mlir::Location at = location.value_or(::mlir::UnknownLoc::get(context));
      Adaptor adaptor(operands, attributes, properties, regions);
      if (failed(checkOperandCount<$cppClass>(at, operands.size())) || failed(adaptor.verify(at)))
        return ::mlir::failure();
      return inferTypes(location, adaptor, types);
    }
  }];
  let extraClassDefinition = inferenceBody;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPBASE_TD
