//===- Base.td - base classes of the TTIR and TTNN op families -*- tablegen -*-===//
//
// A family file defines classes that know a dialect only as a parameter, and, with multiclasses, the rows of the ops
// that both dialects carry alike: `defm Abs : ...` makes TTIR_AbsOp and TTNN_AbsOp. Each dialect's C++ is generated with
// `-op-include-regex=^ttir\.` or `^ttnn\.` from its own ops file.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_BASE_TD
#define TTMLIR_DIALECT_FAMILIES_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreEnums.td"
include "ttmlir/Dialect/TTIR/IR/TTIRBase.td"
include "ttmlir/Dialect/TTNN/IR/TTNNBase.td"

class TT_NativeTrait<string name, code declaration = [{}], code definition = [{}]>
    : NativeOpTrait<name, [], declaration, definition> {
  let cppNamespace = "::mlir::tt::trait";
}

// Markers by which passes recognise a family.
def TT_ElementwiseTrait : TT_NativeTrait<"Elementwise">;
def TT_ReductionTrait : TT_NativeTrait<"Reduction">;
def TT_CreationTrait : TT_NativeTrait<"Creation">;
def TT_CollectiveTrait : TT_NativeTrait<"Collective">;

// Laws by which ops fold (Families/Folds.h).
def TT_IdempotentTrait : TT_NativeTrait<"Idempotent">;
def TT_InvolutionTrait : TT_NativeTrait<"Involution">;
def TT_IdempotentOperandsTrait : TT_NativeTrait<"IdempotentOperands">;

// How many values each operand takes: 1, ? (none or one) or * (any number).
class TT_OperandPattern<dag operands> {
  string pattern = !foldl("", !range(!size(operands)), text, i,
                          text # !cond(!isa<Optional>(!getdagarg<TypeConstraint>(operands, i)): "?",
                                       !isa<Variadic>(!getdagarg<TypeConstraint>(operands, i)): "*",
                                       true: "1"));
}

// Result types by a call of a shape function. In `rule`, `op` is the adaptor (number of operands and attributes are
// checked before), `report` takes errors and `results` the types. Verification is left to `trait`: MLIR's own check
// would add a second, vaguer message to that of the shape function.
class TT_InferShapeWith<string trait, dag operands, string rule> : TraitList<[
    InferTypeOpInterface,
    TT_NativeTrait<trait, [{
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
        using namespace ::mlir::tt::shapes;
        Reporter report(location, getOperationName());
        if (failed(checkArity<$cppClass>(report, "}] # TT_OperandPattern<operands>.pattern # [{", operands, properties)))
          return ::mlir::failure();
        CompleteProperties<$cppClass> complete(context, properties);
        Adaptor op(operands, attributes, complete, regions);
        if (failed(checkAttributes(report, context, op)))
          return ::mlir::failure();
        return ::mlir::tt::shapes::}] # rule # [{;
      }
    }]>]>;

// A declared result may have another element type or encoding than the inferred one, never another shape.
class TT_InferShape<dag operands, string rule> : TT_InferShapeWith<"InferredShape", operands, rule>;

// Operands and attributes do not settle the shape (it may depend on the mesh, which not every module names). A type is
// inferred only to build an op without one; what can be said of a declared type is the op's verifier.
class TT_SuggestShape<dag operands, string rule> : TT_InferShapeWith<"SuggestedShape", operands, rule>;

// What `verify()` of an op is: a call of a function of Shapes.h, written with the op's own accessors.
class TT_Check<string call> {
  string definition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      using namespace ::mlir::tt;
      return shapes::}] # call # [{;
    }
  }];
}

// An op without effects, with one result whose type is inferred by `rule`.
class TT_PureOp<Dialect dialect, string mnemonic, dag operands, dag attributes, string text, string rule,
                list<Trait> traits = []>
    : Op<dialect, mnemonic, !listconcat([Pure], traits, [TT_InferShape<operands, rule>])> {
  let description = [{
    Operands and results are ranked tensors of static shape. The shape of the result follows from operands and attributes;
    its element type is that of the first operand unless another one is declared, to which values are then converted.
  }];
  let summary = text;
  let arguments = !con(operands, attributes);
  let results = (outs AnyRankedTensor:$result);
}

// The same op in both dialects.
multiclass TT_Both<string mnemonic, dag operands, dag attributes, string text, string rule, list<Trait> traits = []> {
  def TTIR_#NAME#Op : TT_PureOp<TTIR_Dialect, mnemonic, operands, attributes, text, rule, traits>;
  def TTNN_#NAME#Op : TT_PureOp<TTNN_Dialect, mnemonic, operands, attributes, text, rule, traits>;
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
