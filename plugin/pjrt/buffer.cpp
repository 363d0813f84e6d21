//===- buffer.cpp - transfers, and arrays on a chip -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "buffer.h"
#include "functions.h"
#include "tt/runtime/runtime.h"

#include <cstring>

namespace tt::pjrt {
namespace {

const MemoryConfig deviceMemory{BufferType::DRAM, MemoryLayout::Interleaved, {}, {}};

std::shared_ptr<std::byte> allocate(size_t bytes) {
  // At least one byte, so that an array without elements has an address.
  return {static_cast<std::byte *>(::operator new(std::max<size_t>(bytes, 1), std::align_val_t(64))),
          [](std::byte *memory) { ::operator delete(memory, std::align_val_t(64)); }};
}

/// A host tensor as a tensor of the chip over the same values.
ttnn::Tensor placed(const ttnn::Tensor &host, PJRT_Device &device) {
  const runtime::Device &chip = device.chip();
  TensorSpec spec = host.spec();
  spec.memory = deviceMemory;
  auto allocation = chip->allocate(sim::footprint(chip->chip(), spec), "an array of JAX, " + toString(spec.shape));
  return host.view(std::move(spec), 0, chip, std::move(allocation));
}

PJRT_Buffer *make(PJRT_Memory &memory, const TypeInfo &type, std::span<const int64_t> dims,
                  std::shared_ptr<std::byte> values, Order order = {}) {
  requireAddressable(*memory.device, "an array");
  auto buffer = std::make_unique<PJRT_Buffer>();
  buffer->device = memory.device;
  buffer->memory = &memory;
  buffer->type = &type;
  buffer->dims.assign(dims.begin(), dims.end());
  buffer->order = std::move(order);
  if (type.same && !memory.onHost())
    buffer->tensor = placed(toTensor(type, dims, values, "the array"), *memory.device);
  else
    buffer->values = std::move(values);
  return buffer.release();
}

void requireAlive(const PJRT_Buffer &buffer, const std::string &what) {
  if (buffer.deleted)
    throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, what + " " + buffer.text() + " has been deleted or donated");
}

/// The values in the host's types; the lock is held.
std::shared_ptr<std::byte> hostValues(PJRT_Buffer &buffer, const char *what) {
  requireAlive(buffer, what);
  if (buffer.values)
    return buffer.values;
  if (buffer.type->same && buffer.tensor.dtype() == *buffer.type->same)
    return buffer.tensor.share();
  auto values = allocate(buffer.hostBytes());
  fromTensor(*buffer.type, buffer.tensor, values.get());
  return values;
}

PJRT_Memory &memoryOf(PJRT_Client &client, PJRT_Device *device, PJRT_Memory *memory) {
  if (memory)
    return *memory;
  return (device ? device : client.addressable.front())->memory();
}

PJRT_Buffer *copyTo(PJRT_Buffer &source, PJRT_Memory &memory) {
  std::lock_guard lock(source.mutex);
  const auto from = hostValues(source, "the array to be copied,");
  auto values = allocate(source.hostBytes());
  std::memcpy(values.get(), from.get(), source.hostBytes());
  return make(memory, *source.type, source.dims, std::move(values), source.order);
}

void copyOut(PJRT_Buffer &buffer, void *to, int64_t offset, int64_t size) {
  std::lock_guard lock(buffer.mutex);
  auto values = hostValues(buffer, "the array to be read,");
  if (!buffer.order.empty()) {
    auto ordered = allocate(buffer.hostBytes());
    copyStrided(ordered.get(), orderStrides(buffer.order, *buffer.type, buffer.dims), values.get(),
                rowStrides(*buffer.type, buffer.dims), buffer.dims, buffer.type->bytes);
    values = std::move(ordered);
  }
  const int64_t bytes = static_cast<int64_t>(buffer.hostBytes());
  if (offset < 0 || size < 0 || offset > bytes || size > bytes - offset)
    throw PluginError(PJRT_Error_Code_OUT_OF_RANGE, "bytes " + std::to_string(offset) + " to " +
                                                        std::to_string(offset + size) + " of " + buffer.text() +
                                                        ", which has " + std::to_string(bytes));
  std::memcpy(to, values.get() + offset, static_cast<size_t>(size));
}

} // namespace

PJRT_Buffer *deletedBuffer(PJRT_Device &device, const Slot &slot) {
  auto buffer = std::make_unique<PJRT_Buffer>();
  buffer->device = &device;
  buffer->memory = &device.memory(slot.memory);
  buffer->type = slot.type;
  buffer->dims = slot.dims;
  buffer->order = slot.order;
  buffer->deleted = true;
  return buffer.release();
}

PJRT_Buffer *resultBuffer(PJRT_Device &device, const Slot &slot, ttnn::Tensor tensor) {
  std::unique_ptr<PJRT_Buffer> buffer(deletedBuffer(device, slot));
  buffer->deleted = false;
  if (!tensor.isOnDevice() && !buffer->memory->onHost())
    tensor = placed(tensor, device);
  buffer->tensor = std::move(tensor);
  if (buffer->memory->onHost()) {
    buffer->values = hostValues(*buffer, "a result");
    buffer->tensor = {};
  }
  return buffer.release();
}

ttnn::Tensor partOf(const ttnn::Tensor &result, std::shared_ptr<std::byte> values, PJRT_Device &device) {
  // A separate copy: kernels for one chip's values differ from those for another's.
  TensorSpec spec = result.spec();
  spec.distributed = false;
  spec.memory = deviceMemory;
  const runtime::Device &chip = device.chip();
  auto allocation = chip->allocate(sim::footprint(chip->chip(), spec), "an array of JAX, " + toString(spec.shape));
  return ttnn::Tensor::onDevice(std::move(spec), {std::move(values)}, chip, std::move(allocation));
}

ttnn::Tensor joined(ttnn::Tensor::Shards shards, const runtime::Device &mesh, const TensorSpec &expected,
                    const std::string &what) {
  TensorSpec spec = expected;
  if (spec.memory.buffer == BufferType::SystemMemory)
    return ttnn::Tensor::fromShards(std::move(spec), std::move(shards),
                                    expected.distributed ? mesh->meshShape() : std::vector<uint32_t>());
  auto allocation = mesh->allocate(sim::footprint(mesh->chip(), spec), what);
  return ttnn::Tensor::onDevice(std::move(spec), std::move(shards), mesh, std::move(allocation));
}

ttnn::Tensor argumentTensor(PJRT_Buffer &buffer, PJRT_Device &device, const TensorSpec &expected,
                            const std::string &what) {
  std::lock_guard lock(buffer.mutex);
  requireAlive(buffer, what);
  if (buffer.device != &device)
    invalid(what + " " + buffer.text() + " lies on " + buffer.device->description->debug +
            ", and the program runs on " + device.description->debug);
  const auto fits = [&](const ttnn::Tensor &tensor) {
    const TensorSpec &spec = tensor.spec();
    return spec.dtype == expected.dtype && spec.layout == expected.layout && spec.memory == expected.memory &&
           spec.shape == expected.shape;
  };
  // JAX never writes an array: one that is passed a second time may get the form that kernels prefer.
  const bool again = buffer.uses++ > 0;
  const auto taken = [&](const ttnn::Tensor &tensor) {
    if (again && !tensor.constant())
      tensor.setConstant();
    return tensor;
  };
  if (buffer.memory->onHost())
    return runtime::toLayout(toTensor(*buffer.type, buffer.dims, buffer.values, what), device.chip(), expected);
  if (buffer.tensor && fits(buffer.tensor))
    return taken(buffer.tensor);
  if (buffer.converted && fits(buffer.converted))
    return taken(buffer.converted);
  ttnn::Tensor source = buffer.tensor ? buffer.tensor : toTensor(*buffer.type, buffer.dims, buffer.values, what);
  if (source.shape() != expected.shape)
    source = runtime::toHost(source).front().withSpec([&] {
      TensorSpec spec;
      spec.dtype = source.dtype(), spec.shape = expected.shape;
      return spec;
    }());
  buffer.converted = runtime::toLayout(source, device.chip(), expected);
  return taken(buffer.converted);
}

void deleteBuffer(PJRT_Buffer &buffer) {
  std::lock_guard lock(buffer.mutex);
  if (buffer.references)
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the array " + buffer.text() + " is used from outside and cannot be deleted");
  buffer.deleted = true;
  buffer.tensor = {};
  buffer.converted = {};
  buffer.values.reset();
}

//===- Functions of PJRT --------------------------------------------------===//

void clientBufferFromHost(PJRT_Client_BufferFromHostBuffer_Args &args) {
  const TypeInfo &type = typeInfo(args.type);
  const std::span dims(args.dims, args.num_dims);
  PJRT_Memory &memory = memoryOf(*args.client, args.device, args.memory);
  std::vector<int64_t> strides = rowStrides(type, dims);
  if (args.byte_strides) {
    if (args.num_byte_strides != dims.size())
      invalid("an array has " + std::to_string(args.num_byte_strides) + " strides for " + shapeText(type, dims));
    strides.assign(args.byte_strides, args.byte_strides + dims.size());
  }
  Order order = orderOf(args.device_layout, type, dims);
  const size_t bytes = elementCount(dims) * type.bytes;
  if (bytes && !args.data)
    invalid("the array " + shapeText(type, dims) + " was given no data");
  // Copies under all semantics: the chip does not see later writes of the host to its array.
  auto values = allocate(bytes);
  copyStrided(values.get(), rowStrides(type, dims), static_cast<const std::byte *>(args.data), strides, dims,
              type.bytes);
  args.buffer = make(memory, type, dims, std::move(values), std::move(order));
  args.done_with_host_buffer = readyEvent();
}

void clientUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args &args) {
  const TypeInfo &type = typeInfo(args.shape_element_type);
  const std::span dims(args.shape_dims, args.shape_num_dims);
  const size_t bytes = elementCount(dims) * type.bytes;
  auto values = allocate(bytes);
  std::memset(values.get(), 0, bytes);
  args.buffer = make(memoryOf(*args.client, args.device, args.memory), type, dims, std::move(values));
}

void bufferDestroy(PJRT_Buffer_Destroy_Args &args) { delete args.buffer; }
void bufferElementType(PJRT_Buffer_ElementType_Args &args) { args.type = args.buffer->type->type; }
void bufferDimensions(PJRT_Buffer_Dimensions_Args &args) {
  args.dims = args.buffer->dims.data(), args.num_dims = args.buffer->dims.size();
}
void bufferUnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args &args) {
  args.unpadded_dims = args.buffer->dims.data(), args.num_dims = args.buffer->dims.size();
}
void bufferDynamicDimensions(PJRT_Buffer_DynamicDimensionIndices_Args &args) {
  args.dynamic_dim_indices = nullptr, args.num_dynamic_dims = 0;
}

void bufferMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args &args) {
  // From the last dimension to the first; never freed, with as many dimensions as any array has.
  static const std::vector<int64_t> descending = [] {
    std::vector<int64_t> dims(256);
    for (size_t i = 0; i < dims.size(); ++i)
      dims[i] = static_cast<int64_t>(dims.size() - 1 - i);
    return dims;
  }();
  const size_t rank = args.buffer->dims.size();
  if (rank > descending.size())
    unimplemented("an array of " + std::to_string(rank) + " dimensions");
  args.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args.layout.tiled = {};
  args.layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  const Order &order = args.buffer->order;
  args.layout.tiled.minor_to_major = order.empty() ? descending.data() + (descending.size() - rank) : order.data();
  args.layout.tiled.minor_to_major_size = rank;
}

void bufferOnDeviceSize(PJRT_Buffer_OnDeviceSizeInBytes_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  requireAlive(*args.buffer, "the array");
  args.on_device_size_in_bytes = args.buffer->hostBytes();
}
void bufferDevice(PJRT_Buffer_Device_Args &args) { args.device = args.buffer->device; }
void bufferMemory(PJRT_Buffer_Memory_Args &args) { args.memory = args.buffer->memory; }
void bufferDelete(PJRT_Buffer_Delete_Args &args) { deleteBuffer(*args.buffer); }
void bufferIsDeleted(PJRT_Buffer_IsDeleted_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  args.is_deleted = args.buffer->deleted;
}
void bufferCopyToDevice(PJRT_Buffer_CopyToDevice_Args &args) {
  args.dst_buffer = copyTo(*args.buffer, args.dst_device->memory());
}
void bufferCopyToMemory(PJRT_Buffer_CopyToMemory_Args &args) {
  args.dst_buffer = copyTo(*args.buffer, *args.dst_memory);
}

void bufferToHost(PJRT_Buffer_ToHostBuffer_Args &args) {
  PJRT_Buffer &buffer = *args.src;
  if (!args.dst) {
    args.dst_size = buffer.hostBytes();
    return;
  }
  if (args.dst_size < buffer.hostBytes())
    invalid("the host's array has " + std::to_string(args.dst_size) + " bytes, and " + buffer.text() + " needs " +
            std::to_string(buffer.hostBytes()));
  std::lock_guard lock(buffer.mutex);
  const auto values = hostValues(buffer, "the array to be read,");
  const auto strides = args.host_layout ? stridesOf(args.host_layout, *buffer.type, buffer.dims)
                                        : orderStrides(buffer.order, *buffer.type, buffer.dims);
  copyStrided(static_cast<std::byte *>(args.dst), strides, values.get(), rowStrides(*buffer.type, buffer.dims),
              buffer.dims, buffer.type->bytes);
  args.event = readyEvent();
}

void bufferCopyRawToHost(PJRT_Buffer_CopyRawToHost_Args &args) {
  copyOut(*args.buffer, args.dst, args.offset, args.transfer_size);
  args.event = readyEvent();
}

void bufferIsOnCpu(PJRT_Buffer_IsOnCpu_Args &args) { args.is_on_cpu = false; }
void bufferReadyEvent(PJRT_Buffer_ReadyEvent_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  requireAlive(*args.buffer, "the array");
  args.event = readyEvent();
}

void bufferUnsafePointer(PJRT_Buffer_UnsafePointer_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  requireAlive(*args.buffer, "the array");
  if (!args.buffer->order.empty())
    unimplemented("the array " + args.buffer->text() + " has a layout of its own; only rows have an address");
  const std::byte *data = args.buffer->values ? args.buffer->values.get() : args.buffer->tensor.data();
  args.buffer_pointer = reinterpret_cast<uintptr_t>(data);
}
void bufferIncreaseReferences(PJRT_Buffer_IncreaseExternalReferenceCount_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  requireAlive(*args.buffer, "the array");
  ++args.buffer->references;
}
void bufferDecreaseReferences(PJRT_Buffer_DecreaseExternalReferenceCount_Args &args) {
  std::lock_guard lock(args.buffer->mutex);
  if (!args.buffer->references)
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION, "the array " + args.buffer->text() + " has no references");
  --args.buffer->references;
}

} // namespace tt::pjrt
