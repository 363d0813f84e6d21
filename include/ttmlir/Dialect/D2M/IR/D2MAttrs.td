//===- D2MAttrs.td - attributes and types of the D2M dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2MATTRS_TD
#define TTMLIR_DIALECT_D2M_IR_D2MATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "ttmlir/Dialect/D2M/IR/D2MBase.td"
include "ttmlir/Dialect/D2M/IR/D2MEnums.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class D2M_Attr<string name, string attrMnemonic> : AttrDef<D2M_Dialect, name> {
  let mnemonic = attrMnemonic;
}
class D2M_EnumAttr<EnumAttrInfo info, string attrMnemonic> : EnumAttr<D2M_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def D2M_ReduceDimAttr : D2M_EnumAttr<D2M_ReduceDim, "reduce_dim">;
def D2M_ResolutionStageAttr : D2M_EnumAttr<D2M_ResolutionStage, "resolution_stage">;
def D2M_TileBcastTypeAttr : D2M_EnumAttr<D2M_TileBcastType, "tile_bcast_type">;

def D2M_ThreadAttr : D2M_Attr<"Thread", "thread"> {
  let summary = "A thread of a core: what it does, the function that is its program once it has one, and its processor.";
  let parameters = (ins "ThreadType":$threadType, OptionalParameter<"::mlir::SymbolRefAttr">:$kernelSymbol,
      DefaultValuedParameter<"int32_t", "-1">:$dmCoreIndex);
  let hasCustomAssemblyFormat = 1;
}

def D2M_TopKPlacementAttr : D2M_Attr<"TopKPlacement", "topk_placement"> {
  let summary = "The buffers of a stage of a top-k.";
  let parameters = (ins "::mlir::RankedTensorType":$type, "::mlir::tt::ttcore::GridAttr":$grid,
      OptionalParameter<"::mlir::AffineMapAttr">:$vgmForward, OptionalParameter<"::mlir::AffineMapAttr">:$vgmInverse);
  let assemblyFormat = "`<` struct(params) `>`";
}
def D2M_TopKPlanAttr : D2M_Attr<"TopKPlan", "topk_plan"> {
  let summary = "The shards of a top-k and the order in which they are merged.";
  let parameters = (ins "int64_t":$numShards, "int64_t":$ntShards, ArrayRefParameter<"int64_t">:$mergeSchedule,
      ArrayRefParameter<"TopKPlacementAttr">:$placements);
  let assemblyFormat = "`<` struct(params) `>`";
}

def D2M_ThreadArrayAttr : TypedArrayAttrBase<D2M_ThreadAttr, "array of threads">;
def D2M_IteratorTypeArrayAttr : TypedArrayAttrBase<TTCore_IteratorTypeAttr, "array of iterator types">;
def D2M_CoreRangeArrayAttr : TypedArrayAttrBase<TTCore_CoreRangeAttr, "array of core ranges">;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class D2M_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<D2M_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def D2M_CB : D2M_Type<"CB", "cb", [ShapedTypeInterface]> {
  let summary = "circular buffer between the threads of a core";
  let parameters = (ins "::mlir::ShapedType":$underlying);
  let assemblyFormat = "`<` $underlying `>`";
  let extraClassDeclaration = [{
    ::mlir::ShapedType cloneWith(std::optional<llvm::ArrayRef<int64_t>> shape, ::mlir::Type elementType) const;
    ::mlir::Type getElementType() const { return getUnderlying().getElementType(); }
    bool hasRank() const { return getUnderlying().hasRank(); }
    llvm::ArrayRef<int64_t> getShape() const { return getUnderlying().getShape(); }
  }];
}
def D2M_GlobalSemaphore : D2M_Type<"GlobalSemaphore", "global_semaphore"> {
  let summary = "semaphore at one address of every core";
}
def D2M_LocalSemaphore : D2M_Type<"LocalSemaphore", "local_semaphore"> {
  let summary = "semaphore of one generic";
}
def D2M_MemTx : D2M_Type<"MemTx", "mem_tx"> {
  let summary = "transfer that may be under way";
  let parameters = (ins "DMAType":$dmaType);
  let assemblyFormat = "`<` $dmaType `>`";
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

def AnyRankedTensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyNon0RankedMemRef]>;
def AnyRankedTensorOrAnyMemRef : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
def TileOrScalar : AnyTypeOf<[TTCore_TileType, AnyFloat, AnyInteger]>;

class MemRefIn<string spaces, string text>
    : ConfinedType<AnyNon0RankedMemRef, [CPred<"::mlir::tt::d2m::liesIn($_self, {" # spaces # "})">], "memref in " # text,
                   "::mlir::MemRefType">;
def DeviceMemRef : MemRefIn<"::mlir::tt::ttcore::MemorySpace::DeviceDRAM, ::mlir::tt::ttcore::MemorySpace::DeviceL1",
                            "a memory of the device">;
def DeviceL1MemRef : MemRefIn<"::mlir::tt::ttcore::MemorySpace::DeviceL1", "L1">;
def RegisterDstMemRef : MemRefIn<"::mlir::tt::ttcore::MemorySpace::RegisterDst", "the destination registers">;

#endif // TTMLIR_DIALECT_D2M_IR_D2MATTRS_TD
