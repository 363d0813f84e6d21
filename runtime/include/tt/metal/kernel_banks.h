//===- kernel_banks.h - interleaved buffers, for kernels --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Pages of an interleaved buffer lie in the banks of a memory in turn: page i
// in bank i % banks, behind the pages before it there. A bank is a channel of
// DRAM, or the L1 of a core.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/metal/kernel_noc.h"

namespace tt::metal {

/// The address of a page of an interleaved buffer.
inline uint64_t pageAddress(bool dram, uint32_t page, uint64_t base, uint32_t pageBytes, uint32_t offset) {
  const uint32_t banks = api->bankCount(dram), alignment = api->bankAlignment(dram);
  const uint64_t size = (uint64_t(pageBytes) + alignment - 1) / alignment * alignment;
  return api->bankAddress(dram, page % banks, base + page / banks * size + offset);
}

/// Two compile-time arguments that describe where a buffer lies: bit 1 of the first says that it is in DRAM, bit 0 that
/// it is sharded, which kernels cannot address page by page; the second is the size of a page.
/// TensorAccessorArgs<index>, of each kernel, takes those from an index on.
template <const auto &arguments, uint32_t count, uint32_t index> struct AccessorArgs {
  static_assert(index + 2 <= count, "TensorAccessorArgs: the kernel has fewer compile-time arguments");
  static_assert((arguments[index] & 1) == 0, "TensorAccessorArgs: expected an interleaved buffer, found a sharded one");
  static constexpr bool is_dram = (arguments[index] & 2) != 0;
  static constexpr uint32_t page_size = arguments[index + 1];
  static constexpr uint32_t next_compile_time_args_offset() { return index + 2; }
  static constexpr uint32_t num_compile_time_args() { return 2; }
  static constexpr uint32_t next_common_runtime_args_offset() { return 0; }
};

} // namespace tt::metal

inline namespace ckernel {

template <bool dram>
inline uint64_t get_noc_addr_from_bank_id(uint32_t bank, uint64_t address, uint8_t = 0,
                                          uint32_t line = __builtin_LINE()) {
  tt::metal::api->at(line);
  return tt::metal::api->bankAddress(dram, bank, address);
}

/// Pages of any size.
template <bool dram> struct InterleavedAddrGen {
  uint32_t bank_base_address;
  uint32_t page_size;
  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const {
    return tt::metal::pageAddress(dram, page, bank_base_address, page_size, offset);
  }
};

/// Numbers of tt.target.DataType.
enum class DataFormat : uint8_t {
  Float32 = 0,
  Float16 = 1,
  Float16_b = 2,
  Bfp8 = 3,
  Bfp8_b = 4,
  Bfp4 = 5,
  Bfp4_b = 6,
  Bfp2 = 7,
  Bfp2_b = 8,
  UInt32 = 9,
  UInt16 = 10,
  UInt8 = 11,
  Int32 = 12,
};

inline DataFormat get_dataformat(uint32_t cb) { return static_cast<DataFormat>(tt::metal::api->cbDataType(cb)); }

/// Tiles: the size of a page is that of a tile.
template <bool dram> struct InterleavedAddrGenFast {
  uint32_t bank_base_address;
  uint32_t page_size;
  DataFormat data_format;
  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const {
    return tt::metal::pageAddress(dram, page, bank_base_address, page_size, offset);
  }
};
template <bool dram> using InterleavedPow2AddrGenFast = InterleavedAddrGen<dram>;

template <class Args> struct TensorAccessor {
  uint32_t address;
  uint32_t page_size;
  constexpr TensorAccessor(const Args &, uint32_t address, uint32_t page_size = Args::page_size)
      : address(address), page_size(page_size) {}
  uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const {
    return tt::metal::pageAddress(Args::is_dram, page, address, page_size, offset);
  }
  uint32_t get_aligned_page_size() const { return page_size; }
};

template <class Generator>
  requires requires(const Generator &generator) { generator.get_noc_addr(0u, 0u); }
inline uint64_t get_noc_addr(uint32_t page, const Generator &generator, uint32_t offset = 0, uint8_t = 0) {
  return generator.get_noc_addr(page, offset);
}
#define TT_KERNEL_PAGE_TRANSFERS(name)                                                                                 \
  template <class Generator>                                                                                           \
  inline void noc_async_read_##name(uint32_t page, const Generator &generator, uint32_t to, uint32_t offset = 0,       \
                                    uint8_t = 0, uint32_t line = __builtin_LINE()) {                                   \
    noc_async_read(generator.get_noc_addr(page, offset), to, generator.page_size - offset, 0, line);                   \
  }                                                                                                                    \
  template <class Generator>                                                                                           \
  inline void noc_async_write_##name(uint32_t page, const Generator &generator, uint32_t from, uint32_t offset = 0,    \
                                     uint8_t = 0, uint32_t line = __builtin_LINE()) {                                  \
    noc_async_write(from, generator.get_noc_addr(page, offset), generator.page_size - offset, 0, line);                \
  }
TT_KERNEL_PAGE_TRANSFERS(page)
TT_KERNEL_PAGE_TRANSFERS(tile)
#undef TT_KERNEL_PAGE_TRANSFERS

} // namespace ckernel
