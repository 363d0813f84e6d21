//===- SystemWriter.cpp - serialization of the system descriptor ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "SystemWriter.h"

#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tt;
namespace fb = ::tt::target;

FailureOr<flatbuffers::Offset<fb::SystemDesc>> mlir::tt::writeSystem(ModuleOp module,
                                                                     flatbuffers::FlatBufferBuilder &builder,
                                                                     std::vector<uint32_t> &mesh,
                                                                     std::vector<uint32_t> whole) {
  ttcore::DeviceOp device = module.lookupSymbol<ttcore::DeviceOp>(ttcore::defaultDeviceName);
  auto desc = module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName);
  if (!device || !desc)
    return module.emitError() << "module has no " << (device ? "ttcore.system_desc" : "ttcore.device @default_device")
                              << "; run ttcore-register-device first";
  for (int64_t size : ttcore::rowsAndColumns(device.getDeviceAttr().getMeshShape()))
    mesh.push_back(size);
  if (mesh.size() != 2)
    return device.emitOpError() << "has a mesh of " << mesh.size() << " axes; expected rows and columns";
  ArrayRef<unsigned> indices = desc.getChipDescIndices();
  std::vector<flatbuffers::Offset<fb::ChipDesc>> chips;
  for (unsigned id : device.getDeviceAttr().getChipIds()) {
    if (id >= indices.size() || indices[id] >= desc.getChipDescs().size())
      return device.emitOpError() << "names chip " << id << ", which ttcore.system_desc does not describe";
    ttcore::ChipDescAttr chip = desc.getChipDescs()[indices[id]];
    std::vector<uint32_t> grid(chip.getGrid().begin(), chip.getGrid().end());
    chips.push_back(fb::CreateChipDesc(builder, static_cast<fb::Arch>(chip.getArch().getValue()),
                                       builder.CreateVector(grid), chip.getL1Size(), chip.getNumDramChannels(),
                                       chip.getDramChannelSize(), chip.getNocL1AddressAlignBytes(),
                                       chip.getNocDRAMAddressAlignBytes(), chip.getL1UnreservedBase(),
                                       chip.getDramUnreservedBase(), chip.getDramUnreservedEnd()));
  }
  if (whole.empty())
    whole = mesh;
  else // its parts have the same chips
    for (const size_t described = chips.size(); described && chips.size() < size_t(whole.front()) * whole.back();)
      chips.push_back(chips[chips.size() % described]);
  return fb::CreateSystemDesc(builder, builder.CreateVector(chips), builder.CreateVector(whole));
}
