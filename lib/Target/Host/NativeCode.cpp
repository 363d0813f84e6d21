//===- NativeCode.cpp - functions of the host as machine code -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Target/TTNN/NativeCode.h"

#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// Code for every CPU of this machine's architecture: the file may run on another machine.
static std::unique_ptr<llvm::TargetMachine> targetMachine(std::string &error) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, /*CPU=*/"", /*Features=*/"", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
}

static void optimize(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(code, modules);
}

/// Converts an object file to a shared one, which the system's loader accepts. The process provides the functions of
/// the C library.
static LogicalResult link(StringRef object, StringRef library, function_ref<InFlightDiagnostic()> emitError) {
  static constexpr StringLiteral linkers[] = {"ld.lld", "ld.lld-22", "ld", "ld.gold"};
  std::string linker;
  for (StringRef name : linkers)
    if (auto found = llvm::sys::findProgramByName(name); found && linker.empty())
      linker = *found;
  if (linker.empty())
    return emitError() << "functions of the host need a linker; install lld or binutils (looked for ld.lld, ld.lld-22, "
                          "ld and ld.gold)";
  StringRef arguments[] = {linker, "-shared", "-o", library, object};
  std::string error;
  int result = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt, {}, /*SecondsToWait=*/60, 0, &error);
  if (result != 0)
    return emitError() << linker << " failed with " << result << (error.empty() ? "" : ": " + error);
  return success();
}

/// Bytes of the tensors with which a function is called, operands and then results.
using Sizes = llvm::StringMap<SmallVector<uint64_t>>;

static FailureOr<Sizes> sizesOf(ModuleOp module, const llvm::StringSet<> &functions) {
  Sizes sizes;
  WalkResult result = module.walk([&](debug::HostCallOp call) -> WalkResult {
    if (!functions.contains(call.getFunction()))
      return WalkResult::advance();
    SmallVector<uint64_t> bytes;
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(call->getOperandTypes()), llvm::to_vector(call->getResultTypes()))) {
      auto tensor = cast<RankedTensorType>(type);
      if (!tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
        return call.emitOpError() << "calls native code '" << call.getFunction() << "' with " << tensor
                                  << "; expected tensors of static sizes, of integers or floats";
      bytes.push_back(tensor.getNumElements() * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
    }
    // The runtime refuses a call that needs others.
    sizes.try_emplace(call.getFunction(), std::move(bytes));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return sizes;
}

/// The sizes are part of the code: a file that has this code with smaller tensors must not make it leave them.
static void addSizes(llvm::Module &code, const Sizes &sizes) {
  for (const auto &[function, bytes] : sizes) {
    SmallVector<uint64_t> values = {bytes.size()};
    llvm::append_range(values, bytes);
    auto *list = llvm::ConstantDataArray::get(code.getContext(), values);
    new llvm::GlobalVariable(code, list->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, list,
                             function + ::tt::target::codeSizesSuffix);
  }
}

static FailureOr<SmallVector<char>> compile(ModuleOp module, const Sizes &sizes, std::string &triple) {
  auto emitError = [&] { return module.emitError() << "host functions: "; };
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "host");
  if (!code)
    return failure();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(error);
  if (!machine)
    return emitError() << "LLVM has no code generator for this machine: " << error;
  triple = machine->getTargetTriple().str();
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  addSizes(*code, sizes);
  optimize(*code, *machine);

  SmallString<128> object, library;
  if (llvm::sys::fs::createTemporaryFile("host", "o", object) ||
      llvm::sys::fs::createTemporaryFile("host", "so", library))
    return emitError() << "no temporary file can be created";
  llvm::FileRemover removeObject(object), removeLibrary(library);
  {
    std::error_code failed;
    llvm::raw_fd_ostream out(object, failed);
    llvm::legacy::PassManager passes;
    if (failed || machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
      return emitError() << "no object file can be written";
    passes.run(*code);
  }
  if (mlir::failed(link(object, library, emitError)))
    return failure();
  auto bytes = llvm::MemoryBuffer::getFile(library);
  if (!bytes)
    return emitError() << "cannot read " << library << ": " << bytes.getError().message();
  return SmallVector<char>((*bytes)->getBufferStart(), (*bytes)->getBufferEnd());
}

FailureOr<std::optional<NativeCode>> ttnn::compileHostFunctions(ModuleOp module) {
  for (auto wrapped : module.getOps<ttcore::CPUModuleOp>()) {
    auto host = cast<ModuleOp>(wrapped->getRegion(0).front().front());
    NativeCode code;
    for (auto function : host.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        code.functions.insert(function.getSymName());
    if (host.getBody()->empty())
      continue;
    if (code.functions.empty())
      return host.emitError() << "host functions are not in the LLVM dialect; run convert-ttir-to-linalg and "
                                 "linalg-to-llvm-pipeline in the ttcore.cpu_module first";
    FailureOr<Sizes> sizes = sizesOf(module, code.functions);
    if (failed(sizes))
      return failure();
    FailureOr<SmallVector<char>> library = compile(host, *sizes, code.triple);
    if (failed(library))
      return failure();
    code.library = std::move(*library);
    code.hash = ::tt::target::hashOfCode(code.library.data(), code.library.size());
    return std::optional(std::move(code));
  }
  return std::optional<NativeCode>();
}
