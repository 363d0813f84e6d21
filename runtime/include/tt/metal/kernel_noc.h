//===- kernel_noc.h - circular buffers and the NOC, for kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Coordinates of the NOC are those of the grid of worker cores. A function that
// takes a line is told that of the kernel's source by its default.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_abi.h"

namespace tt::metal {
/// The API of the library that is being compiled.
inline const KernelApi *api = nullptr;

/// The kernel's core has these circular buffers.
template <class... Cb> inline void checkBuffers(const char *function, Cb... cbs) { (api->cbCheck(cbs, function), ...); }
template <class T> inline T valueOf(uint32_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
} // namespace tt::metal

#define NAMESPACE kernel_namespace
#define MAIN kernel_entry()
#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI inline __attribute__((always_inline))
#define tt_l1_ptr

/// Kernels may qualify names with this namespace, or not.
inline namespace ckernel {

//===- Arguments ----------------------------------------------------------===//

template <class T> inline T get_arg_val(uint32_t index, uint32_t line = __builtin_LINE()) {
  static_assert(sizeof(T) == sizeof(uint32_t), "arguments have 32 bits");
  tt::metal::api->at(line);
  return tt::metal::valueOf<T>(tt::metal::api->argument(index));
}

/// Alike on all cores.
template <class T> inline T get_common_arg_val(uint32_t index, uint32_t line = __builtin_LINE()) {
  static_assert(sizeof(T) == sizeof(uint32_t), "arguments have 32 bits");
  tt::metal::api->at(line);
  return tt::metal::valueOf<T>(tt::metal::api->commonArgument(index));
}

//===- Circular buffers ---------------------------------------------------===//

inline void cb_wait_front(uint32_t cb, uint32_t pages, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->cbWaitFront(cb, pages);
}
inline void cb_pop_front(uint32_t cb, uint32_t pages, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->cbPopFront(cb, pages);
}
inline void cb_reserve_back(uint32_t cb, uint32_t pages, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->cbReserveBack(cb, pages);
}
inline void cb_push_back(uint32_t cb, uint32_t pages, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->cbPushBack(cb, pages);
}
inline bool cb_pages_available_at_front(uint32_t cb, uint32_t pages) {
  return tt::metal::api->cbAvailable(cb, true, "cb_pages_available_at_front") >= pages;
}
inline bool cb_pages_reservable_at_back(uint32_t cb, uint32_t pages) {
  return tt::metal::api->cbAvailable(cb, false, "cb_pages_reservable_at_back") >= pages;
}
inline uint32_t get_read_ptr(uint32_t cb) { return tt::metal::api->cbReadAddress(cb); }
inline uint32_t get_write_ptr(uint32_t cb) { return tt::metal::api->cbWriteAddress(cb); }
inline uint32_t get_tile_size(uint32_t cb) { return tt::metal::api->cbTileBytes(cb); }

//===- Data movement ------------------------------------------------------===//

inline uint32_t get_absolute_logical_x() { return tt::metal::api->coreX(); }
inline uint32_t get_absolute_logical_y() { return tt::metal::api->coreY(); }
/// my_x[noc] and my_y[noc]: the same on both NOCs, in the grid of worker cores.
inline constexpr struct CoreX {
  uint32_t operator[](uint32_t) const { return get_absolute_logical_x(); }
} my_x = {};
inline constexpr struct CoreY {
  uint32_t operator[](uint32_t) const { return get_absolute_logical_y(); }
} my_y = {};

inline constexpr uint32_t noc_address_bits = 36, noc_coordinate_bits = 6;
inline constexpr uint64_t noc_dram_bit = uint64_t(1) << 63; // of a bank of DRAM, whose number is in the place of x
inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = 0) {
  return (uint64_t(y) << (noc_address_bits + noc_coordinate_bits)) | (uint64_t(x) << noc_address_bits) | address;
}
inline uint64_t get_noc_addr(uint32_t address, uint8_t = 0) {
  return get_noc_addr(get_absolute_logical_x(), get_absolute_logical_y(), address);
}
inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes, uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->nocRead(from, to, bytes);
}
inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes, uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->nocWrite(from, to, bytes);
}
/// All cores of a rectangle, its first and its last.
inline uint64_t get_noc_multicast_addr(uint32_t x_start, uint32_t y_start, uint32_t x_end, uint32_t y_end,
                                       uint32_t address, uint8_t = 0) {
  const uint64_t first = get_noc_addr(x_end, y_end, address), last = get_noc_addr(x_start, y_start, 0);
  return first | last << 2 * noc_coordinate_bits;
}
inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers, bool = false,
                                      uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->nocMulticast(from, to, bytes, receivers, false);
}
inline void noc_async_write_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers,
                                                   bool = false, uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->nocMulticast(from, to, bytes, receivers, true);
}

/// The address of a semaphore of this program, which is 0 when it starts.
inline uint32_t get_semaphore(uint32_t id) { return tt::metal::api->semaphoreAddress(id); }
inline void noc_semaphore_inc(uint64_t to, uint32_t value, uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreIncrease(to, value);
}
inline void noc_semaphore_set(uint32_t address, uint32_t value, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreSet(address, value);
}
inline void noc_semaphore_wait(uint32_t address, uint32_t value, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreWait(address, value, false);
}
inline void noc_semaphore_wait_min(uint32_t address, uint32_t value, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreWait(address, value, true);
}
// Pointers to L1 are addresses.
inline void noc_semaphore_set(volatile uint32_t *address, uint32_t value, uint32_t line = __builtin_LINE()) {
  noc_semaphore_set(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value, line);
}
inline void noc_semaphore_wait(volatile uint32_t *address, uint32_t value, uint32_t line = __builtin_LINE()) {
  noc_semaphore_wait(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value, line);
}
inline void noc_semaphore_wait_min(volatile uint32_t *address, uint32_t value, uint32_t line = __builtin_LINE()) {
  noc_semaphore_wait_min(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)), value, line);
}
inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t receivers, bool = false, uint8_t = 0,
                                        uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreMulticast(from, to, receivers, false);
}
inline void noc_semaphore_set_multicast_loopback_src(uint32_t from, uint64_t to, uint32_t receivers, bool = false,
                                                     uint8_t = 0, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->semaphoreMulticast(from, to, receivers, true);
}

// Transfers of at most the size of a packet, and with a size that is set before.
template <uint32_t...>
inline void noc_async_read_one_packet(uint64_t from, uint32_t to, uint32_t bytes, uint8_t = 0,
                                      uint32_t line = __builtin_LINE()) {
  noc_async_read(from, to, bytes, 0, line);
}
template <uint32_t...>
inline void noc_async_write_one_packet(uint32_t from, uint64_t to, uint32_t bytes, uint8_t = 0,
                                       uint32_t line = __builtin_LINE()) {
  noc_async_write(from, to, bytes, 0, line);
}
inline void noc_async_write_multicast_one_packet(uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers,
                                                 bool = false, uint8_t = 0, uint32_t line = __builtin_LINE()) {
  noc_async_write_multicast(from, to, bytes, receivers, false, 0, line);
}
/// Writes 32 bits to a core's L1.
inline void noc_inline_dw_write(uint64_t to, uint32_t value, uint8_t = 0xf, uint8_t = 0,
                                uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->nocWriteWord(to, value);
}
inline void invalidate_l1_cache() {}
/// 32 bits of the core's L1, `offset` words behind an address.
inline uint32_t load_from_l1(uint32_t address, uint32_t offset, uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  return tt::metal::api->loadWord(address + offset * uint32_t(sizeof(uint32_t)));
}

namespace experimental {
/// The number of the chip in the mesh, row by row.
inline uint32_t get_my_device_id() { return tt::metal::api->device(); }
/// Writes to a core's L1 or a bank of DRAM of a chip of the mesh, by as many packets as it takes.
inline void fabric_fast_write_any_len(uint32_t device, uint64_t to, uint32_t from, uint32_t bytes,
                                      uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  tt::metal::api->fabricWrite(device, to, from, bytes);
}
} // namespace experimental

// Transfers are done when they are requested.
inline void noc_async_atomic_barrier(uint8_t = 0) {}
inline void noc_async_read_barrier(uint8_t = 0) {}
inline void noc_async_write_barrier(uint8_t = 0) {}
inline void noc_async_writes_flushed(uint8_t = 0) {}
inline void noc_async_full_barrier(uint8_t = 0) {}

} // namespace ckernel
