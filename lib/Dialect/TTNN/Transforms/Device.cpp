//===- Device.cpp - the device value of a function ------------------------===//

#include "ttmlir/Dialect/TTNN/Transforms/Device.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

Value ttnn::getOrCreateDevice(OpBuilder &builder, Operation *op) {
  Block &entry = op->getParentOfType<FunctionOpInterface>().getFunctionBody().front();
  // It stands before every op that could want it.
  if (!entry.empty())
    if (auto existing = dyn_cast<GetDeviceOp>(entry.front()))
      return existing->getResult(0);

  ttcore::DeviceOp device = ttcore::lookupDevice(op);
  if (!device) {
    op->emitOpError() << "needs a device but the module has none; run ttcore-register-device first";
    return {};
  }
  ArrayRef<int64_t> mesh = device.getDeviceAttr().getMeshShape();
  if (mesh.size() != 2) {
    op->emitOpError() << "needs a mesh of rows and columns but that of the device has " << mesh.size() << " dimensions";
    return {};
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&entry);
  MLIRContext *context = builder.getContext();
  OperationState state(builder.getUnknownLoc(), GetDeviceOp::getOperationName());
  state.addTypes(DeviceType::get(context));
  state.addAttribute("mesh_shape", MeshShapeAttr::get(context, mesh[0], mesh[1]));
  state.addAttribute("mesh_offset", MeshOffsetAttr::get(context, 0, 0));
  return builder.create(state)->getResult(0);
}
