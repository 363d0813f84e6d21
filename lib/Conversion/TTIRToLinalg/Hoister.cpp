//===- Hoister.cpp - making functions of the host -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Hoister.h"

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::host;

ModuleOp host::deviceModule(ModuleOp module) {
  for (auto wrapped : module.getOps<ttcore::DeviceModuleOp>())
    return cast<ModuleOp>(wrapped->getRegion(0).front().front());
  return module;
}

Value host::castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return ttir::TypecastOp::create(builder, loc, TypeRange(type), ValueRange(value))->getResult(0);
}

func::FuncOp Hoister::create(Location loc, const Twine &name, FunctionType declared, FunctionType own) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(device.getBody());
  auto declaration = func::FuncOp::create(builder, loc, name.str(), declared);
  declaration.setPrivate();
  declaration->setAttr(ttcore::functionTypeName, builder.getStringAttr(declarationType));
  symbols.insert(declaration, device.getBody()->end());
  builder.setInsertionPointToEnd(host().getBody());
  auto function = func::FuncOp::create(builder, loc, declaration.getSymName(), own);
  function->setAttr(ttcore::functionTypeName, builder.getStringAttr(ttcore::forwardCPUType));
  function.addEntryBlock();
  return function;
}

void Hoister::erase(func::FuncOp function) {
  symbols.erase(symbols.lookup(function.getSymName()));
  function.erase();
}

func::CallOp Hoister::call(OpBuilder &builder, Location loc, func::FuncOp function, TypeRange results,
                           ValueRange operands) {
  auto created = func::CallOp::create(builder, loc, function.getSymName(), results, operands);
  created->setAttr(callName, builder.getUnitAttr());
  return created;
}

ModuleOp Hoister::host() {
  for (auto wrapped : root.getOps<ttcore::CPUModuleOp>())
    return cast<ModuleOp>(wrapped->getRegion(0).front().front());
  builder.setInsertionPointToStart(root.getBody());
  auto wrapped = ttcore::CPUModuleOp::create(builder, root.getLoc());
  if (wrapped->getRegion(0).empty())
    wrapped->getRegion(0).emplaceBlock();
  builder.setInsertionPointToStart(&wrapped->getRegion(0).front());
  return ModuleOp::create(builder, root.getLoc());
}
