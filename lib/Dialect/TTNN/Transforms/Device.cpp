//===- Device.cpp - the device value of a function ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Device.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GetDeviceOp.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

Value ttnn::getOrCreateDevice(OpBuilder &builder, Operation *op, function_ref<void(const Twine &)> refuse) {
  Block &entry = op->getParentOfType<FunctionOpInterface>().getFunctionBody().front();
  // It precedes every op that could use it.
  if (!entry.empty())
    if (auto existing = dyn_cast<GetDeviceOp>(entry.front()))
      return existing.getDevice();

  ttcore::DeviceOp device = ttcore::lookupDevice(op);
  if (!device) {
    refuse("needs a device but the module has none; run ttcore-register-device first");
    return {};
  }
  ArrayRef<int64_t> mesh = device.getDeviceAttr().getMeshShape();
  if (mesh.size() != 2) {
    refuse("needs a mesh of rows and columns but that of the device has " + Twine(mesh.size()) + " dimensions");
    return {};
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&entry);
  MLIRContext *context = builder.getContext();
  return GetDeviceOp::create(builder, builder.getUnknownLoc(), DeviceType::get(context),
                             MeshShapeAttr::get(context, mesh[0], mesh[1]), MeshOffsetAttr::get(context, 0, 0));
}
