//===- StableHLOBase.td - the StableHLO dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let summary = "The portable tensor operations that frameworks export.";
  let cppNamespace = "::mlir::stablehlo";
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Element types and tensors
//===----------------------------------------------------------------------===//

def StableHLO_Pred : TypeAlias<I1, "pred (i1)">;
def StableHLO_SInt : SignlessIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def StableHLO_UInt : UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def StableHLO_Int : AnyTypeOf<[StableHLO_SInt, StableHLO_UInt], "2/4/8/16/32/64-bit integer">;
def StableHLO_Float : AnyTypeOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ,
                                 F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F16, F32, F64, BF16], "4 to 64-bit float">;
def StableHLO_Float32Or64 : AnyTypeOf<[F32, F64], "32 or 64-bit float">;
def StableHLO_Complex : Complex<StableHLO_Float32Or64>;

/// Integers that stand for floats: (integer - zero point) * scale, with one scale or one for each index of a dimension.
class StableHLO_UniformQuantized<string type, string text>
    : Type<And<[CPred<"::mlir::isa<::mlir::quant::" # type # ">($_self)">,
                CPred<"::mlir::isa<::mlir::FloatType>(::mlir::cast<::mlir::quant::QuantizedType>($_self).getExpressedType())">,
                CPred<"::llvm::is_contained({2, 4, 8, 16, 32}, "
                      "::mlir::cast<::mlir::quant::QuantizedType>($_self).getStorageTypeIntegralWidth())">]>, text>;
def StableHLO_Quantized : StableHLO_UniformQuantized<"UniformQuantizedType", "integers quantized with one scale">;
def StableHLO_PerAxisQuantized
    : StableHLO_UniformQuantized<"UniformQuantizedPerAxisType", "integers quantized with a scale for each index">;

/// One scale for each index of a dimension of the tensor.
def StableHLO_HasQuantizedDimension
    : CPred<"::mlir::stablehlo::hasQuantizedDimension(::mlir::cast<::mlir::RankedTensorType>($_self))">;
class StableHLO_TensorOf<list<Type> elements> : RankedTensorOf<elements, [StableHLO_HasQuantizedDimension],
                                                               "ranked tensor">;

def StableHLO_PredTensor : RankedTensorOf<[StableHLO_Pred]>;
def StableHLO_IntTensor : RankedTensorOf<[StableHLO_Int]>;
def StableHLO_FloatTensor : RankedTensorOf<[StableHLO_Float]>;
def StableHLO_Float32Or64Tensor : RankedTensorOf<[StableHLO_Float32Or64]>;
def StableHLO_ComplexTensor : RankedTensorOf<[StableHLO_Complex]>;
def StableHLO_PredOrIntTensor : RankedTensorOf<[StableHLO_Pred, StableHLO_Int]>;
def StableHLO_FloatOrComplexTensor : RankedTensorOf<[StableHLO_Float, StableHLO_Complex]>;
def StableHLO_PlainTensor : RankedTensorOf<[StableHLO_Float, StableHLO_Pred, StableHLO_Int, StableHLO_Complex]>;

// With quantized elements.
def StableHLO_FloatOrQuantizedTensor : RankedTensorOf<[StableHLO_Float, StableHLO_Quantized]>;
def StableHLO_FloatComplexOrQuantizedTensor
    : RankedTensorOf<[StableHLO_Float, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_NumberTensor
    : RankedTensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_SignedNumberTensor
    : RankedTensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_SignedRealTensor : RankedTensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Quantized]>;
def StableHLO_QuantizedTensor : StableHLO_TensorOf<[StableHLO_Quantized, StableHLO_PerAxisQuantized]>;
def StableHLO_QuantizableTensor
    : StableHLO_TensorOf<[StableHLO_Float, StableHLO_Quantized, StableHLO_PerAxisQuantized]>;
/// Any types except those with several scales, and including them.
def StableHLO_Tensor
    : RankedTensorOf<[StableHLO_Float, StableHLO_Pred, StableHLO_Int, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_AnyTensor
    : StableHLO_TensorOf<[StableHLO_Float, StableHLO_Pred, StableHLO_Int, StableHLO_Complex, StableHLO_Quantized,
                          StableHLO_PerAxisQuantized]>;

def StableHLO_ScalarTensor
    : 0DTensorOf<[StableHLO_Float, StableHLO_Pred, StableHLO_Int, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_ScalarIntTensor : 0DTensorOf<[StableHLO_Int]>;
def StableHLO_StaticTensor : StaticShapeTensorOf<[StableHLO_Float, StableHLO_Pred, StableHLO_Int, StableHLO_Complex,
                                                  StableHLO_Quantized, StableHLO_PerAxisQuantized]>;
def StableHLO_StaticNumberTensor
    : StaticShapeTensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_Complex, StableHLO_Quantized]>;
def StableHLO_PredScalarTensor : 0DTensorOf<[StableHLO_Pred]>;
def StableHLO_I32ScalarTensor : 0DTensorOf<[I32]>;
def StableHLO_UI32ScalarTensor : 0DTensorOf<[UI32]>;
/// Sizes or positions, one for each dimension.
def StableHLO_ShapeTensor : 1DTensorOf<[StableHLO_Int, Index]>;

//===----------------------------------------------------------------------===//
// Values that are not tensors
//===----------------------------------------------------------------------===//

def StableHLO_Token : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "token, which orders effects";
}
def StableHLO_Future : TypeDef<Stablehlo_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "future, what an op that has begun will give";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}
def StableHLO_TensorOrToken : AnyTypeOf<[StableHLO_AnyTensor, StableHLO_Token]>;

#endif // TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD
