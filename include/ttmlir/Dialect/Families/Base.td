//===- Base.td - base classes of the TTIR and TTNN op families -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A family file defines classes that take the dialect as a parameter, and, with multiclasses, the rows of the ops that
// both dialects share: `defm Abs : ...` defines TTIR_AbsOp and TTNN_AbsOp. Each dialect's C++ is generated with
// `-op-include-regex=^ttir\.` or `^ttnn\.` from its own ops file.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_BASE_TD
#define TTMLIR_DIALECT_FAMILIES_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreEnums.td"
include "ttmlir/Dialect/TTIR/IR/TTIRBase.td"
include "ttmlir/Dialect/TTNN/IR/TTNNBase.td"

class TT_NativeTrait<string name, code declaration = [{}], code definition = [{}]>
    : NativeOpTrait<name, [], declaration, definition> {
  let cppNamespace = "::mlir::tt::trait";
}

// Markers by which passes recognise a family.
def TT_ElementwiseTrait : TT_Fact<"Elementwise", "elementwise">;
def TT_ReductionTrait : TT_NativeTrait<"Reduction">;
def TT_CollectiveTrait : TT_NativeTrait<"Collective">;
def TT_UnpublishedTrait : TT_NativeTrait<"Unpublished">;
def TT_PeriodicTrait : TT_NativeTrait<"Periodic">;

// Laws by which ops fold (Families/Folds.h).
def TT_IdempotentTrait : TT_NativeTrait<"Idempotent">;
def TT_InvolutionTrait : TT_NativeTrait<"Involution">;
def TT_IdempotentOperandsTrait : TT_NativeTrait<"IdempotentOperands">;
def TT_CancellingTrait : TT_NativeTrait<"Cancelling">;
class TT_FoldsNeutral<string ofFloats, string ofIntegers, bit commutes = 0, string absorbing = "::std::nullopt">
    : TraitList<[TT_Neutral<ofFloats, ofIntegers, commutes, absorbing>, TT_NativeTrait<"FoldsNeutral">]>;

// Names of operands: `?` follows an optional one, and `*` a variadic one.
class TT_OperandNames<dag operands> {
  string names = !foldl("", !range(!size(operands)), text, i,
                        text # !if(i, " ", "") # !getdagname(operands, i) #
                        !cond(!isa<Optional>(!getdagarg<TypeConstraint>(operands, i)): "?",
                              !isa<Variadic>(!getdagarg<TypeConstraint>(operands, i)): "*",
                              true: ""));
}

// The shape rule of that name (lib/shapes) checks the op. It finds operands and attributes by their names.
class TT_ShapeRule<string trait, dag operands, string rule, string types, code declaration = [{}],
                   code definition = [{}]>
    : TT_NativeTrait<trait, [{
      static const ::mlir::tt::shapes::OpShapes &getOpShapes();
    }] # declaration, [{
      const ::mlir::tt::shapes::OpShapes &$cppClass::getOpShapes() {
        static constexpr ::mlir::tt::shapes::OpShapes shapes = {"}] # TT_OperandNames<operands>.names # [{", "}] # rule #
            [{", "}] # types # [{", &readConfig};
        return shapes;
      }
    }] # definition> {
  string shapeRule = rule; // for tools/opgen
}

// An op whose rule only checks it: one without results, or whose results are always declared.
class TT_CheckShape<dag operands, string rule> : TT_ShapeRule<"CheckedShape", operands, rule, "">;

// The rule of that name in lib/shapes also relates the dimensions of operands and results.
def TT_FactorsOfShapeRule : NativeOpTrait<"FactorsOpInterface::Trait"> {
  let cppNamespace = "::mlir::tt";
}

// In addition, the rule computes the shapes of the results. `types` states their element types (see OpShapes). A
// declared result may differ from the inferred one in element type or encoding, never in shape. The trait verifies
// this, because MLIR's own check would add a second, vaguer message to that of the rule. If operands and attributes do
// not determine a shape (it may depend on the mesh, which not every module names), the rule checks the declared one.
class TT_InferShape<dag operands, string rule, string types = ""> : TraitList<[
    InferTypeOpInterface,
    TT_FactorsOfShapeRule,
    TT_ShapeRule<"CheckedShape", operands, rule, types, [{
      static ::llvm::LogicalResult inferReturnTypes(
          ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
          ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
          ::llvm::SmallVectorImpl<::mlir::Type> &results);
      static ::llvm::LogicalResult refineReturnTypes(
          ::mlir::MLIRContext *, ::std::optional<::mlir::Location>, ::mlir::ValueRange, ::mlir::DictionaryAttr,
          ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
        return ::mlir::success();
      }
      static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
        return ::mlir::tt::shapes::haveSameShapes(inferred, declared);
      }
    }], [{
      ::llvm::LogicalResult $cppClass::inferReturnTypes(
          ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
          ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
          ::llvm::SmallVectorImpl<::mlir::Type> &results) {
        return ::mlir::tt::shapes::inferTypes<$cppClass>(context, location, operands, attributes, properties, regions,
                                                         results);
      }
    }]>]>;

// An op without side effects, with one result whose shape the rule computes.
class TT_PureOp<Dialect dialect, string mnemonic, dag operands, dag attributes, string text, string rule,
                list<Trait> traits = [], string types = "">
    : Op<dialect, mnemonic, !listconcat([Pure], traits, [TT_InferShape<operands, rule, types>])> {
  let description = [{
    Operands and results are ranked tensors of static shape. The shape of the result follows from operands and attributes;
    its element type is that of the first operand unless another one is declared, to which values are then converted.
  }];
  let summary = text;
  let arguments = !con(operands, attributes);
  let results = (outs AnyRankedTensor:$result);
}

// The same op in both dialects.
multiclass TT_Both<string mnemonic, dag operands, dag attributes, string text, string rule, list<Trait> traits = [],
                   string types = ""> {
  def TTIR_#NAME#Op : TT_PureOp<TTIR_Dialect, mnemonic, operands, attributes, text, rule, traits, types>;
  def TTNN_#NAME#Op : TT_PureOp<TTNN_Dialect, mnemonic, operands, attributes, text, rule, traits, types>;
}

// The same op with several results in both dialects.
multiclass TT_Many<string mnemonic, dag operands, dag attributes, dag outputs, string text, string rule,
                   list<Trait> traits = []> {
  let results = outputs in
  defm NAME : TT_Both<mnemonic, operands, attributes, text, rule, traits>;
}

// Operands of the common arities.
defvar TT_Unary = (ins AnyRankedTensor:$input);
defvar TT_Binary = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
defvar TT_Ternary = (ins AnyRankedTensor:$first, AnyRankedTensor:$second, AnyRankedTensor:$third);

class TT_Bool<string default> : DefaultValuedAttr<BoolAttr, default>;
class TT_F32<string default> : DefaultValuedAttr<F32Attr, default>;
class TT_I64<string default> : DefaultValuedAttr<I64Attr, default>;
def TT_Number : AnyAttrOf<[F32Attr, I32Attr], "32-bit float or 32-bit integer">;
def TT_IntOrInts : AnyAttrOf<[I32Attr, DenseI32ArrayAttr], "32-bit integer or array of them">;
def TT_ScaleFactor : AnyAttrOf<[SI32Attr, DenseI32ArrayAttr], "signed 32-bit integer or array of 32-bit integers">;
def TT_DType : OptionalAttr<TTCore_DataTypeAttr>;

#endif // TTMLIR_DIALECT_FAMILIES_BASE_TD
