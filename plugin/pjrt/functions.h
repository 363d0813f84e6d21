//===- functions.h - the functions of PJRT -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each implemented function, by its name in PJRT and here, and those that are not implemented, which return an error
// with their name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "common.h"

// clang-format off
#define TT_PJRT_FUNCTIONS(X) \
  X(PJRT_Error_GetCode, errorGetCode) \
  X(PJRT_Plugin_Initialize, pluginInitialize) \
  X(PJRT_Plugin_Attributes, pluginAttributes) \
  X(PJRT_Event_Destroy, eventDestroy) \
  X(PJRT_Event_IsReady, eventIsReady) \
  X(PJRT_Event_Error, eventError) \
  X(PJRT_Event_Await, eventAwait) \
  X(PJRT_Event_OnReady, eventOnReady) \
  X(PJRT_Client_Create, clientCreate) \
  X(PJRT_Client_Destroy, clientDestroy) \
  X(PJRT_Client_PlatformName, clientPlatformName) \
  X(PJRT_Client_ProcessIndex, clientProcessIndex) \
  X(PJRT_Client_PlatformVersion, clientPlatformVersion) \
  X(PJRT_Client_Devices, clientDevices) \
  X(PJRT_Client_AddressableDevices, clientAddressableDevices) \
  X(PJRT_Client_LookupDevice, clientLookupDevice) \
  X(PJRT_Client_LookupAddressableDevice, clientLookupAddressableDevice) \
  X(PJRT_Client_AddressableMemories, clientAddressableMemories) \
  X(PJRT_Client_Compile, clientCompile) \
  X(PJRT_Client_DefaultDeviceAssignment, clientDefaultDeviceAssignment) \
  X(PJRT_Client_BufferFromHostBuffer, clientBufferFromHost) \
  X(PJRT_DeviceDescription_Id, descriptionId) \
  X(PJRT_DeviceDescription_ProcessIndex, descriptionProcessIndex) \
  X(PJRT_DeviceDescription_Attributes, descriptionAttributes) \
  X(PJRT_DeviceDescription_Kind, descriptionKind) \
  X(PJRT_DeviceDescription_DebugString, descriptionDebugString) \
  X(PJRT_DeviceDescription_ToString, descriptionToString) \
  X(PJRT_Device_GetDescription, deviceGetDescription) \
  X(PJRT_Device_IsAddressable, deviceIsAddressable) \
  X(PJRT_Device_LocalHardwareId, deviceLocalHardwareId) \
  X(PJRT_Device_AddressableMemories, deviceAddressableMemories) \
  X(PJRT_Device_DefaultMemory, deviceDefaultMemory) \
  X(PJRT_Device_MemoryStats, deviceMemoryStats) \
  X(PJRT_Memory_Id, memoryId) \
  X(PJRT_Memory_Kind, memoryKind) \
  X(PJRT_Memory_DebugString, memoryDebugString) \
  X(PJRT_Memory_ToString, memoryToString) \
  X(PJRT_Memory_AddressableByDevices, memoryAddressableByDevices) \
  X(PJRT_Executable_Destroy, executableDestroy) \
  X(PJRT_Executable_Name, executableName) \
  X(PJRT_Executable_NumReplicas, executableReplicas) \
  X(PJRT_Executable_NumPartitions, executablePartitions) \
  X(PJRT_Executable_NumOutputs, executableOutputs) \
  X(PJRT_Executable_SizeOfGeneratedCodeInBytes, executableCodeSize) \
  X(PJRT_Executable_GetCostAnalysis, executableCost) \
  X(PJRT_Executable_OutputMemoryKinds, executableOutputMemoryKinds) \
  X(PJRT_Executable_OptimizedProgram, executableOptimizedProgram) \
  X(PJRT_Executable_Serialize, executableSerialize) \
  X(PJRT_LoadedExecutable_Destroy, loadedDestroy) \
  X(PJRT_LoadedExecutable_GetExecutable, loadedGetExecutable) \
  X(PJRT_LoadedExecutable_AddressableDevices, loadedDevices) \
  X(PJRT_LoadedExecutable_Delete, loadedDelete) \
  X(PJRT_LoadedExecutable_IsDeleted, loadedIsDeleted) \
  X(PJRT_LoadedExecutable_Execute, loadedExecute) \
  X(PJRT_Executable_DeserializeAndLoad, executableDeserialize) \
  X(PJRT_LoadedExecutable_Fingerprint, loadedFingerprint) \
  X(PJRT_Buffer_Destroy, bufferDestroy) \
  X(PJRT_Buffer_ElementType, bufferElementType) \
  X(PJRT_Buffer_Dimensions, bufferDimensions) \
  X(PJRT_Buffer_UnpaddedDimensions, bufferUnpaddedDimensions) \
  X(PJRT_Buffer_DynamicDimensionIndices, bufferDynamicDimensions) \
  X(PJRT_Buffer_GetMemoryLayout, bufferMemoryLayout) \
  X(PJRT_Buffer_OnDeviceSizeInBytes, bufferOnDeviceSize) \
  X(PJRT_Buffer_Device, bufferDevice) \
  X(PJRT_Buffer_Memory, bufferMemory) \
  X(PJRT_Buffer_Delete, bufferDelete) \
  X(PJRT_Buffer_IsDeleted, bufferIsDeleted) \
  X(PJRT_Buffer_CopyToDevice, bufferCopyToDevice) \
  X(PJRT_Buffer_ToHostBuffer, bufferToHost) \
  X(PJRT_Buffer_IsOnCpu, bufferIsOnCpu) \
  X(PJRT_Buffer_ReadyEvent, bufferReadyEvent) \
  X(PJRT_Buffer_UnsafePointer, bufferUnsafePointer) \
  X(PJRT_Buffer_IncreaseExternalReferenceCount, bufferIncreaseReferences) \
  X(PJRT_Buffer_DecreaseExternalReferenceCount, bufferDecreaseReferences) \
  X(PJRT_TopologyDescription_Create, topologyCreate) \
  X(PJRT_TopologyDescription_Destroy, topologyDestroy) \
  X(PJRT_TopologyDescription_PlatformName, topologyPlatformName) \
  X(PJRT_TopologyDescription_PlatformVersion, topologyPlatformVersion) \
  X(PJRT_TopologyDescription_GetDeviceDescriptions, topologyDeviceDescriptions) \
  X(PJRT_TopologyDescription_Attributes, topologyAttributes) \
  X(PJRT_Compile, compileForTopology) \
  X(PJRT_Executable_OutputElementTypes, executableOutputTypes) \
  X(PJRT_Executable_OutputDimensions, executableOutputDimensions) \
  X(PJRT_Buffer_CopyToMemory, bufferCopyToMemory) \
  X(PJRT_Executable_Fingerprint, executableFingerprint) \
  X(PJRT_Client_TopologyDescription, clientTopology) \
  X(PJRT_Executable_GetCompiledMemoryStats, executableMemory) \
  X(PJRT_Memory_Kind_Id, memoryKindId) \
  X(PJRT_ExecuteContext_Create, contextCreate) \
  X(PJRT_ExecuteContext_Destroy, contextDestroy) \
  X(PJRT_Buffer_CopyRawToHost, bufferCopyRawToHost) \
  X(PJRT_Client_CreateUninitializedBuffer, clientUninitializedBuffer) \
  X(PJRT_Client_UpdateGlobalProcessInfo, clientUpdateGlobalProcessInfo) \
  X(PJRT_LoadedExecutable_GetDeviceAssignment, loadedDeviceAssignment) \
  X(PJRT_Executable_GetCompileOptions, executableCompileOptions) \
  X(PJRT_Event_Create, eventCreate) \
  X(PJRT_Event_Set, eventSet)

#define TT_PJRT_MISSING(X) \
  X(PJRT_Buffer_OpaqueDeviceMemoryDataPointer) \
  X(PJRT_CopyToDeviceStream_Destroy) \
  X(PJRT_CopyToDeviceStream_AddChunk) \
  X(PJRT_CopyToDeviceStream_TotalBytes) \
  X(PJRT_CopyToDeviceStream_GranuleSize) \
  X(PJRT_CopyToDeviceStream_CurrentBytes) \
  X(PJRT_TopologyDescription_Serialize) \
  X(PJRT_Client_CreateViewOfDeviceBuffer) \
  X(PJRT_AsyncHostToDeviceTransferManager_Destroy) \
  X(PJRT_AsyncHostToDeviceTransferManager_TransferData) \
  X(PJRT_Client_CreateBuffersForAsyncHostToDevice) \
  X(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer) \
  X(PJRT_AsyncHostToDeviceTransferManager_Device) \
  X(PJRT_AsyncHostToDeviceTransferManager_BufferCount) \
  X(PJRT_AsyncHostToDeviceTransferManager_BufferSize) \
  X(PJRT_AsyncHostToDeviceTransferManager_SetBufferError) \
  X(PJRT_AsyncHostToDeviceTransferManager_AddMetadata) \
  X(PJRT_Client_DmaMap) \
  X(PJRT_Client_DmaUnmap) \
  X(PJRT_TopologyDescription_Deserialize) \
  X(PJRT_Client_CreateAliasBuffer) \
  X(PJRT_Client_FulfillAliasBuffer) \
  X(PJRT_Client_CreateErrorBuffer) \
  X(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral) \
  X(PJRT_Buffer_CopyRawToHostFuture) \
  X(PJRT_Device_PoisonExecution) \
  X(PJRT_Device_CreateAsyncTrackingEvent) \
  X(PJRT_AsyncTrackingEvent_Destroy) \
  X(PJRT_Buffer_DonateWithControlDependency)
// clang-format on

namespace tt::pjrt {

#define X(name, function) void function(name##_Args &args);
TT_PJRT_FUNCTIONS(X)
#undef X

} // namespace tt::pjrt
