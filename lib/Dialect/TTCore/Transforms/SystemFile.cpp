//===- SystemFile.cpp - system descriptor files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SystemFile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

namespace {
/// The properties of a chip that the runtime reports; all others are those of the default chip of its architecture.
struct ChipFigures {
  std::string arch;
  std::vector<int64_t> grid;
  unsigned l1Size, channels, channelSize, l1Alignment, dramAlignment, l1Base, dramBase, dramEnd;
};

bool fromJSON(const llvm::json::Value &value, ChipFigures &chip, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return object && object.map("arch", chip.arch) && object.map("grid", chip.grid) &&
         object.map("l1_size", chip.l1Size) && object.map("num_dram_channels", chip.channels) &&
         object.map("dram_channel_size", chip.channelSize) &&
         object.map("noc_l1_address_align_bytes", chip.l1Alignment) &&
         object.map("noc_dram_address_align_bytes", chip.dramAlignment) &&
         object.map("l1_unreserved_base", chip.l1Base) && object.map("dram_unreserved_base", chip.dramBase) &&
         object.map("dram_unreserved_end", chip.dramEnd);
}

struct SystemFigures {
  std::vector<int64_t> mesh;
  std::vector<ChipFigures> chips;
};

bool fromJSON(const llvm::json::Value &value, SystemFigures &system, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return object && object.map("mesh_shape", system.mesh) && object.map("chips", system.chips);
}

ChipDescAttr withFigures(ChipDescAttr chip, const ChipFigures &figures) {
  // A chip with fewer channels than its architecture lacks the last ones.
  auto ofChannels = [&](ArrayRef<CoreCoordAttr> cores) { return cores.take_front(figures.channels); };
  int64_t dramGrid[] = {1, figures.channels};
  return ChipDescAttr::get(
      chip.getContext(), chip.getArch(), figures.grid, chip.getCoordTranslationOffsets(), figures.l1Size,
      figures.channels, figures.channelSize, figures.l1Alignment, chip.getPcieAddressAlignBytes(),
      figures.dramAlignment, figures.l1Base, chip.getEriscL1UnreservedBase(), figures.dramBase, figures.dramEnd,
      chip.getSupportedDataTypes(), chip.getSupportedTileSizes(), chip.getDstPhysicalSizeTiles(), chip.getNumCBs(),
      chip.getNumComputeThreads(), chip.getNumDatamovementThreads(), dramGrid,
      ofChannels(chip.getDramBankToLogicalWorkerNoc0()), ofChannels(chip.getDramBankToLogicalWorkerNoc1()));
}

/// A machine of chips that the compiler knows, with the figures of the file.
FailureOr<SystemDescAttr> fromFigures(const SystemFigures &system, MLIRContext *context,
                                      function_ref<InFlightDiagnostic(const Twine &)> fail) {
  if (system.chips.empty())
    return fail("has no chips");
  const std::string &arch = system.chips.front().arch;
  std::optional<Arch> known = symbolizeArch(arch);
  for (const ChipFigures &chip : system.chips) {
    if (chip.arch != arch)
      return fail("has chips of " + arch + " and " + chip.arch + "; expected chips of one architecture");
    if (chip.grid.size() != 2 || chip.grid[0] < 1 || chip.grid[1] < 1)
      return fail("has a chip whose grid is not rows and columns of cores");
  }
  SystemDescAttr plain;
  if (known)
    plain = SystemDescAttr::getDefault(context, *known, {1, static_cast<int64_t>(system.chips.size())});
  if (!plain)
    return fail("has chips of '" + Twine(arch) + "', which the compiler does not know");
  SmallVector<ChipDescAttr> chips;
  for (auto [chip, figures] : llvm::zip_equal(plain.getChipDescs(), system.chips))
    chips.push_back(withFigures(chip, figures));
  return SystemDescAttr::get(context, plain.getCpuDescs(), chips, plain.getChipDescIndices(),
                             plain.getChipCapabilities(), plain.getChipCoords(), plain.getChipChannels());
}
} // namespace

FailureOr<SystemDescAttr> ttcore::readSystemFile(StringRef path, MLIRContext *context,
                                                 function_ref<InFlightDiagnostic()> emitError) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &problem);
  if (!file)
    return emitError() << "system-desc-path: " << problem;
  auto fail = [&](const Twine &what) { return emitError() << "system-desc-path: '" << path << "' " << what; };
  StringRef text = file->getBuffer().trim();
  if (!text.starts_with("{")) {
    // The parser's message prints the text, which may be anything.
    std::string message;
    Attribute parsed;
    {
      ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
        if (message.empty())
          message = diagnostic.str();
        return success();
      });
      parsed = text.starts_with("#ttcore.") ? parseAttribute(text, context) : Attribute();
    }
    auto system = dyn_cast_or_null<SystemDescAttr>(parsed);
    if (!system || system.getChipDescs().empty())
      return fail("does not hold a #ttcore.system_desc with at least one chip, nor the JSON of the runtime" +
                  (message.empty() ? message : ": " + message));
    return system;
  }
  llvm::Expected<SystemFigures> figures = llvm::json::parse<SystemFigures>(text, "system");
  if (!figures)
    return fail("is not the description of a machine: " + llvm::toString(figures.takeError()));
  return fromFigures(*figures, context, fail);
}
