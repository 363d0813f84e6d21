//===- api.cpp - table of the kernel API ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "metal/library.h"
#include "tt/sim/formats.h"

namespace tt::metal {

namespace {

uint32_t atPage(const Ring &ring, uint64_t page) {
  const Core &core = currentKernel().core;
  return core.l1.pointer(core.index, ring.address + static_cast<uint32_t>(page % ring.pages) * ring.pageBytes);
}

/// Calls a function of the running kernel; its source line does not apply to later calls.
template <auto function>
constexpr auto call = [](auto... arguments) {
  KernelRun &run = currentKernel();
  (run.*function)(arguments...);
  run.line = 0;
};

/// The same, of a function that gives a value.
template <class F, class... T> auto value(F function, T... arguments) {
  KernelRun &run = currentKernel();
  const auto result = (run.*function)(arguments...);
  run.line = 0;
  return result;
}

} // namespace

const KernelApi &kernelApi() {
  static const KernelApi table = {
      .argument = [](uint32_t index) { return value(&KernelRun::argument, index); },
      .badCompileTimeArgument =
          [](uint32_t index, uint32_t count) {
            currentKernel().fail("get_compile_time_arg_val", "there is no argument " + std::to_string(index) +
                                                                 "; the kernel has " + std::to_string(count));
          },
      .cbWaitFront = call<&KernelRun::waitFront>,
      .cbPopFront = call<&KernelRun::popFront>,
      .cbReserveBack = call<&KernelRun::reserveBack>,
      .cbPushBack = call<&KernelRun::pushBack>,
      .cbAvailable =
          [](uint32_t cb, bool front, const char *function) {
            const Ring &ring = currentKernel().ring(cb, function);
            return front ? ring.front() : ring.back();
          },
      .cbReadAddress =
          [](uint32_t cb) {
            const Ring &ring = currentKernel().ring(cb, "get_read_ptr");
            return atPage(ring, ring.popped);
          },
      .cbWriteAddress =
          [](uint32_t cb) {
            const Ring &ring = currentKernel().ring(cb, "get_write_ptr");
            return atPage(ring, ring.pushed);
          },
      .cbTileBytes =
          [](uint32_t cb) {
            return static_cast<uint32_t>(sim::tileBytes(currentKernel().ring(cb, "get_tile_size").dtype));
          },
      .cbDataType = [](uint32_t cb) { return static_cast<uint32_t>(currentKernel().ring(cb, "get_dataformat").dtype); },
      .cbCheck = [](uint32_t cb, const char *function) { currentKernel().checkRing(cb, function); },
      .coreX =
          [] {
            const Core &core = currentKernel().core;
            return core.index % static_cast<uint32_t>(core.l1.chip.gridColumns);
          },
      .coreY =
          [] {
            const Core &core = currentKernel().core;
            return core.index / static_cast<uint32_t>(core.l1.chip.gridColumns);
          },
      .nocRead = call<&KernelRun::nocRead>,
      .nocWrite = call<&KernelRun::nocWrite>,
      .nocMulticast = call<&KernelRun::nocMulticast>,
      .semaphoreAddress = [](uint32_t id) { return currentKernel().semaphoreAddress(id); },
      .semaphoreIncrease = call<&KernelRun::semaphoreIncrease>,
      .semaphoreSet = call<&KernelRun::semaphoreSet>,
      .semaphoreMulticast = call<&KernelRun::semaphoreMulticast>,
      .semaphoreWait = call<&KernelRun::semaphoreWait>,
      .dstAcquire = [] { currentKernel().acquire(); },
      .dstCommit = [] { currentKernel().commit(); },
      .dstWait = [] { currentKernel().wait(); },
      .dstRelease = [] { currentKernel().release(); },
      .computeCheck = [](const char *function) { currentKernel().requireCompute(function); },
      .copyTile = call<&KernelRun::copyTile>,
      .packTile = call<&KernelRun::packTile>,
      .tileOp = [](TileOp op, const uint32_t *dsts) { currentKernel().tileOp(op, dsts); },
      .rowOp = [](const char *row, uint32_t dst, const uint32_t *numbers, uint32_t count,
                  const char *function) { currentKernel().rowOp(row, dst, {numbers, count}, function); },
      .typecastTile = [](uint32_t dst, uint32_t dataType) { currentKernel().typecastTile(dst, dataType); },
      .fillTile = [](uint32_t dst, float value) { currentKernel().fillTile(dst, value); },
      .fpuTiles = call<&KernelRun::fpuTiles>,
      .tilizeBlock = [](uint32_t in, uint32_t tiles, uint32_t out) { currentKernel().tilizeBlock(in, tiles, out); },
      .untilizeBlock = call<&KernelRun::untilizeBlock>,
      .matmulTiles = call<&KernelRun::matmulTiles>,
      .matmulBlock =
          [](uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t dst, bool transpose, uint32_t ct,
             uint32_t rt, uint32_t rowStride, uint32_t stepStride, uint32_t steps) {
            currentKernel().matmulBlock({cb0, cb1, tile0, tile1, dst, transpose, ct, rt, rowStride, stepStride, steps});
          },
      .packAccumulate = [](bool enable) { currentKernel().packAccumulate(enable); },
      .reduceTile = call<&KernelRun::reduceTile>,
      .transposeTile = [](uint32_t cb, uint32_t tile, uint32_t dst) { currentKernel().transposeTile(cb, tile, dst); },
      .broadcastTile = [](Along along, uint32_t cb, uint32_t tile,
                          uint32_t dst) { currentKernel().broadcastTile(along, cb, tile, dst); },
      .fpuBroadcast = call<&KernelRun::fpuBroadcast>,
      .fpuReuse = call<&KernelRun::fpuReuse>,
      .scalarOp = [](const char *row, bool first, uint32_t dst, uint32_t bits, bool integer,
                     const char *function) { currentKernel().scalarOp(row, first, dst, bits, integer, function); },
      .copyDst = call<&KernelRun::copyDst>,
      .commonArgument = [](uint32_t index) { return value(&KernelRun::commonArgument, index); },
      .bankCount = [](bool dram) { return currentKernel().bankCount(dram); },
      .bankAlignment = [](bool dram) { return currentKernel().bankAlignment(dram); },
      .bankAddress = [](bool dram, uint32_t bank,
                        uint64_t address) { return value(&KernelRun::bankAddress, dram, bank, address); },
      .nocWriteWord = call<&KernelRun::nocWriteWord>,
      .at = [](uint32_t line) { currentKernel().line = line; },
      .print = [](const char *text, uint32_t length) { currentKernel().print({text, length}); },
      .printTile = [](uint32_t cb, uint32_t tile, TileSlice slice) { currentKernel().printTile(cb, tile, slice); },
      .pause = [] { pauseKernel(); },
      .checkPositions = [](uint32_t least, uint32_t greatest, uint32_t size,
                           const char *op) { currentKernel().checkPositions(least, greatest, size, op); },
      .loadWord = [](uint32_t address) { return value(&KernelRun::loadWord, address); },
      .device = [] { return currentKernel().core.mesh.own; },
      .fabricWrite = call<&KernelRun::fabricWrite>,
      .failAssert = [](const char *what) { currentKernel().fail("ASSERT", what); },
      .beginZone = [](const char *name) { currentKernel().beginZone(name); },
      .endZone = [] { endKernelZone(); },
  };
  return table;
}

} // namespace tt::metal
