//===- TTCoreAttrs.td - attributes of the TTCore dialect ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_IR_TTCOREATTRS_TD
#define TTMLIR_DIALECT_TTCORE_IR_TTCOREATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreBase.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreEnums.td"

class TTCore_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<TTCore_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class TTCore_EnumAttr<EnumAttrInfo info, string attrMnemonic> : EnumAttr<TTCore_Dialect, info, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def TTCore_ArchAttr : TTCore_EnumAttr<TTCore_Arch, "arch">;
def TTCore_ArgumentTypeAttr : TTCore_EnumAttr<TTCore_ArgumentType, "argument_type">;
def TTCore_AttentionMaskTypeAttr : TTCore_EnumAttr<TTCore_AttentionMaskType, "attention_mask_type">;
def TTCore_DataTypeAttr : TTCore_EnumAttr<TTCore_DataType, "supportedDataTypes">;
def TTCore_IteratorTypeAttr : TTCore_EnumAttr<TTCore_IteratorType, "iterator_type">;
def TTCore_MemorySpaceAttr : TTCore_EnumAttr<TTCore_MemorySpace, "memory_space">;
def TTCore_MeshShardDirectionAttr : TTCore_EnumAttr<TTCore_MeshShardDirection, "shard_direction">;
def TTCore_MeshShardTypeAttr : TTCore_EnumAttr<TTCore_MeshShardType, "shard_type">;
def TTCore_MoEActivationFunctionAttr : TTCore_EnumAttr<TTCore_MoEActivationFunction, "moe_activation_function">;
def TTCore_OOBValAttr : TTCore_EnumAttr<TTCore_OOBVal, "oob_val">;
def TTCore_ReduceTypeAttr : TTCore_EnumAttr<TTCore_ReduceType, "reduce_type">;
def TTCore_ShardStatusAttr : TTCore_EnumAttr<TTCore_ShardStatus, "shard_status">;
def TTCore_TensorMemoryLayoutAttr : TTCore_EnumAttr<TTCore_TensorMemoryLayout, "tensor_memory_layout">;
def TTCore_TopologyAttr : TTCore_EnumAttr<TTCore_Topology, "topology">;
def TTCore_CPURoleAttr : EnumAttr<TTCore_Dialect, TTCore_CPURole, "cpu_role"> {
  let assemblyFormat = "$value";
}

//===----------------------------------------------------------------------===//
// Coordinates and grids
//===----------------------------------------------------------------------===//

def TTCore_CoreCoordAttr : TTCore_Attr<"CoreCoord", "core_coord"> {
  let summary = "A core of a grid.";
  let parameters = (ins "int64_t":$y, "int64_t":$x);
  let assemblyFormat = "custom<VargDimensionList>($y, $x)";
}

def TTCore_CoreRangeAttr : TTCore_Attr<"CoreRange", "core_range"> {
  let summary = "A rectangle of cores, both corners included.";
  let parameters = (ins "CoreCoordAttr":$start_coord, "CoreCoordAttr":$end_coord);
  let assemblyFormat = "`<` custom<CoordBracketStyle>($start_coord) `,` custom<CoordBracketStyle>($end_coord) `>`";
  let genVerifyDecl = 1;
}

def TTCore_TileSizeAttr : TTCore_Attr<"TileSize", "tile_size"> {
  let summary = "Height and width of a tile, in elements.";
  let parameters = (ins "int64_t":$y, "int64_t":$x);
  let assemblyFormat = "custom<VargDimensionList>($y, $x)";
}

def TTCore_GridAttr : TTCore_Attr<"Grid", "grid"> {
  let summary = "A grid of cores, with the maps between virtual and physical places.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
      DefaultValuedParameter<"AffineMap", "AffineMap::get($_ctxt)">:$virtToPhysicalMap,
      DefaultValuedParameter<"AffineMap", "AffineMap::get($_ctxt)">:$physicalToVirtMap);
  let assemblyFormat = [{
    `<` custom<DimensionList>($shape)
        (`,` `virt_to_physical_map` `=` $virtToPhysicalMap `,` `physical_to_virt_map` `=` $physicalToVirtMap^)? `>`
  }];
}

//===----------------------------------------------------------------------===//
// System description
//===----------------------------------------------------------------------===//

def TTCore_CPUDescAttr : TTCore_Attr<"CPUDesc", "cpu_desc"> {
  let summary = "A CPU of the system.";
  let parameters = (ins "CPURole":$role, "StringAttr":$target_triple);
  let assemblyFormat = "`{` `role` `=` $role `,` `target_triple` `=` $target_triple `}`";
}

def TTCore_ChipDescAttr : TTCore_Attr<"ChipDesc", "chip_desc"> {
  let summary = "A chip: its cores, memories and limits. Sizes are in bytes.";
  let parameters = (ins "ArchAttr":$arch,
      ArrayRefParameter<"int64_t">:$grid,
      ArrayRefParameter<"int64_t">:$coordTranslationOffsets,
      "unsigned":$l1Size, "unsigned":$numDramChannels, "unsigned":$dramChannelSize,
      "unsigned":$nocL1AddressAlignBytes, "unsigned":$pcieAddressAlignBytes, "unsigned":$nocDRAMAddressAlignBytes,
      "unsigned":$l1UnreservedBase, "unsigned":$eriscL1UnreservedBase,
      "unsigned":$dramUnreservedBase, "unsigned":$dramUnreservedEnd,
      ArrayRefParameter<"DataTypeAttr">:$supportedDataTypes,
      ArrayRefParameter<"TileSizeAttr">:$supportedTileSizes,
      "unsigned":$dstPhysicalSizeTiles, "unsigned":$numCBs,
      "unsigned":$numComputeThreads, "unsigned":$numDatamovementThreads,
      ArrayRefParameter<"int64_t">:$dramGrid,
      ArrayRefParameter<"CoreCoordAttr">:$dramBankToLogicalWorkerNoc0,
      ArrayRefParameter<"CoreCoordAttr">:$dramBankToLogicalWorkerNoc1);
  let assemblyFormat = [{
    `{` `arch` `=` $arch `,` `grid` `=` custom<DimensionList>($grid)
    `,` `coord_translation_offsets` `=` custom<DimensionList>($coordTranslationOffsets)
    `,` `l1_size` `=` $l1Size `,` `num_dram_channels` `=` $numDramChannels
    `,` `dram_channel_size` `=` $dramChannelSize
    `,` `noc_l1_address_align_bytes` `=` $nocL1AddressAlignBytes
    `,` `pcie_address_align_bytes` `=` $pcieAddressAlignBytes
    `,` `noc_dram_address_align_bytes` `=` $nocDRAMAddressAlignBytes
    `,` `l1_unreserved_base` `=` $l1UnreservedBase
    `,` `erisc_l1_unreserved_base` `=` $eriscL1UnreservedBase
    `,` `dram_unreserved_base` `=` $dramUnreservedBase
    `,` `dram_unreserved_end` `=` $dramUnreservedEnd
    `,` `supported_data_types` `=` `[` $supportedDataTypes `]`
    `,` `supported_tile_sizes` `=` `[` $supportedTileSizes `]`
    `,` `dst_physical_size_tiles` `=` $dstPhysicalSizeTiles
    `,` `num_cbs` `=` $numCBs
    `,` `num_compute_threads` `=` $numComputeThreads
    `,` `num_datamovement_threads` `=` $numDatamovementThreads
    `,` `dram_grid` `=` custom<DimensionList>($dramGrid)
    `,` `dram_bank_to_logical_worker_noc0` `=` custom<CoreCoordList>($dramBankToLogicalWorkerNoc0)
    `,` `dram_bank_to_logical_worker_noc1` `=` custom<CoreCoordList>($dramBankToLogicalWorkerNoc1) `}`
  }];
  let extraClassDeclaration = [{
    /// Bytes of L1 that a core leaves to tensors.
    unsigned getUsableL1Size() const { return getL1Size() - getL1UnreservedBase(); }
    /// Bytes of a DRAM channel that are left to tensors.
    unsigned getUsableDramChannelSize() const { return getDramUnreservedEnd() - getDramUnreservedBase(); }
  }];
}

def TTCore_ChipCoordAttr : TTCore_Attr<"ChipCoord", "chip_coord"> {
  let summary = "The position of a chip.";
  let parameters = (ins "unsigned":$rack, "unsigned":$shelf, "unsigned":$y, "unsigned":$x);
  let assemblyFormat = "custom<VargDimensionList>($rack, $shelf, $y, $x)";
}

def TTCore_ChipChannelAttr : TTCore_Attr<"ChipChannel", "chip_channel"> {
  let summary = "A link between two chips.";
  let parameters = (ins "unsigned":$deviceId0, ArrayRefParameter<"int64_t">:$ethernetCoreCoord0,
      "unsigned":$deviceId1, ArrayRefParameter<"int64_t">:$ethernetCoreCoord1);
  let assemblyFormat =
      "`<` `[` $deviceId0 `,` $ethernetCoreCoord0 `]` `,` `[` $deviceId1 `,` $ethernetCoreCoord1 `]` `>`";
}

def TTCore_SystemDescAttr : TTCore_Attr<"SystemDesc", "system_desc"> {
  let summary = "The machine a module is compiled for.";
  let parameters = (ins ArrayRefParameter<"CPUDescAttr">:$cpuDescs,
      ArrayRefParameter<"ChipDescAttr">:$chipDescs,
      ArrayRefParameter<"unsigned">:$chipDescIndices,
      ArrayRefParameter<"ChipCapabilityAttr">:$chipCapabilities,
      ArrayRefParameter<"ChipCoordAttr">:$chipCoords,
      OptionalArrayRefParameter<"ChipChannelAttr">:$chipChannels);
  let assemblyFormat = [{
    `<` `[` $cpuDescs `]` `,` `[` $chipDescs `]` `,` `[` $chipDescIndices `]` `,` `[` $chipCapabilities `]`
    `,` `[` $chipCoords `]` (`,` `[` $chipChannels^ `]`)? `>`
  }];
  let extraClassDeclaration = [{
    /// `rows * columns` chips of one architecture, linked as a ring.
    static SystemDescAttr getDefault(MLIRContext *context, Arch arch = Arch::WormholeB0,
                                     ArrayRef<int64_t> meshShape = {1, 1});
  }];
}

def TTCore_DeviceAttr : TTCore_Attr<"Device", "device"> {
  let summary = "A mesh of chips as the compiler sees it.";
  let parameters = (ins "GridAttr":$workerGrid, "GridAttr":$dramGrid, "AffineMap":$l1Map, "AffineMap":$dramMap,
      ArrayRefParameter<"int64_t">:$meshShape, ArrayRefParameter<"unsigned">:$chipIds,
      OptionalArrayRefParameter<"Topology">:$meshTopology);
  let assemblyFormat = [{
    `<` `workerGrid` `=` qualified($workerGrid) `,` `dramGrid` `=` qualified($dramGrid)
    `,` `l1Map` `=` qualified($l1Map) `,` `dramMap` `=` qualified($dramMap)
    `,` `meshShape` `=` custom<DimensionList>($meshShape) `,` `chipIds` `=` `[` $chipIds `]`
    (`,` `meshTopology` `=` `[` $meshTopology^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The device of a system: its first chip's grid, and the requested mesh.
    static DeviceAttr get(SystemDescAttr systemDesc, ArrayRef<int64_t> meshShape,
                          ArrayRef<Topology> meshTopology = {});
  }];
}

def TTCore_FabricConnectionConfigAttr : TTCore_Attr<"FabricConnectionConfig", "fabric_connection_config"> {
  let summary = "The connection of chips along a mesh axis.";
  let parameters = (ins "NocIndex":$noc_index, "Topology":$topology, "uint32_t":$cluster_axis,
      "RoutingMode":$routing_mode, "uint32_t":$num_links);
  let assemblyFormat = [{
    `<` `noc_index` `=` $noc_index `,` `topology` `=` $topology `,` `cluster_axis` `=` $cluster_axis
    `,` `routing_mode` `=` $routing_mode `,` `num_links` `=` $num_links `>`
  }];
}

//===----------------------------------------------------------------------===//
// Meshes and shards
//===----------------------------------------------------------------------===//

def TTCore_MeshAttr : TTCore_Attr<"Mesh", "mesh"> {
  let summary = "A named mesh and its shape.";
  let parameters = (ins "StringAttr":$name, ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` $name `=` custom<DimensionList>($shape) `>`";
  let genVerifyDecl = 1;
}

def TTCore_MeshesAttr : TTCore_Attr<"Meshes", "meshes"> {
  let summary = "The meshes of a module, as its attribute `ttcore.meshes`.";
  let parameters = (ins ArrayRefParameter<"MeshAttr">:$meshes);
  let assemblyFormat = "`<` `[` $meshes `]` `>`";
  let extraClassDeclaration = [{
    /// The mesh of that name, or null.
    MeshAttr getMesh(llvm::StringRef name) const;
  }];
}

def TTCore_MeshTopologyAttr : TTCore_Attr<"MeshTopology", "mesh_topology"> {
  let summary = "The topology of each axis of a mesh.";
  let parameters = (ins ArrayRefParameter<"Topology">:$topologies);
  let assemblyFormat = "`<` `[` $topologies `]` `>`";
}

def TTCore_TensorMeshAttr : TTCore_Attr<"TensorMesh", "tensor_mesh"> {
  let summary = "The mesh a tensor is distributed over.";
  let parameters = (ins "StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

def TTCore_LocalShapeAttr : TTCore_Attr<"LocalShape", "local_shape"> {
  let summary = "The shard of one device of an argument that arrives distributed.";
  let parameters = (ins "RankedTensorType":$localShape);
  let assemblyFormat = "`local_shape` `=` $localShape";
}

def TTCore_RuntimeTensorShardingAttr : TTCore_Attr<"RuntimeTensorSharding", "runtime_tensor_sharding"> {
  let summary = "The distribution of an argument on arrival, and the shard of one device.";
  let parameters = (ins "ShardStatusAttr":$shardStatus, "RankedTensorType":$localShape);
  let assemblyFormat = "`shard_status` `=` $shardStatus `,` `local_shape` `=` $localShape";
}

def TTCore_ArgumentAllocationAttr : TTCore_Attr<"ArgumentAllocation", "arg_alloc"> {
  let summary = "The place of an argument: address and size in bytes, and the memory.";
  let parameters = (ins "uint64_t":$address, "uint64_t":$size, "MemorySpace":$memorySpace);
  let assemblyFormat = "`<` $address `,` $size `,` $memorySpace `>`";
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def TTCore_MetalLayoutAttr : TTCore_Attr<"MetalLayout", "metal_layout"> {
  let summary = "The alignment of a tensor, its collapse to a grid, and its memory.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$logical_shape, ArrayRefParameter<"int64_t">:$dim_alignments,
      "DenseIntElementsAttr":$collapsed_intervals,
      DefaultValuedParameter<"MemorySpace", "MemorySpace::System">:$memory_space,
      "TensorMemoryLayout":$memory_layout);
  let assemblyFormat = [{
    `<` `logical_shape` `=` custom<DimensionList>($logical_shape)
    `,` `dim_alignments` `=` custom<DimensionList>($dim_alignments)
    `,` `collapsed_intervals` `=` $collapsed_intervals `,` $memory_space `,` $memory_layout `>`
  }];
  let genVerifyDecl = 1;
}

def TTCore_ShardLayoutAttr : TTCore_Attr<"ShardLayout", "shard", [MemRefLayoutAttrInterface]> {
  let summary = "A buffer in equal parts, one per core of a grid.";
  let description = [{
    Of a buffer's dimensions the first half is the grid, the second half what each core has, `stride` bytes apart.
    `buffers` is how many of the latter each core has room for.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$stride, "uint32_t":$buffers);
  let assemblyFormat = "`<` custom<DimensionList>($stride) `,` $buffers `>`";
  let extraClassDeclaration = [{
    /// Returns the layout of dense rows of elements with one buffer; `shape` is the shape of one part.
    static ShardLayoutAttr dense(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
    /// The grid, and the bytes into a core's part.
    ::mlir::AffineMap getAffineMap() const;
    bool isIdentity() const { return false; }
    ::llvm::LogicalResult verifyLayout(::llvm::ArrayRef<int64_t> shape,
                                       ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

#endif // TTMLIR_DIALECT_TTCORE_IR_TTCOREATTRS_TD
