//===- KernelPrograms.cpp - kernels that programs bring -------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A ttnn.generic becomes a function of its tensors, which describes the kernels and runs them. Their sources are
// constants in front of it.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "ttmlir/Target/TTNN/AttributeVisitor.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::emit;

namespace {
/// Writes the function of one ttnn.generic.
class KernelWriter {
public:
  /// `sourceName` gives the name of a constant with the source of a kernel, which is a reader, writer or computes.
  KernelWriter(ttnn::GenericOp op, const Syntax &syntax, function_ref<std::string(StringAttr, StringRef)> sourceName)
      : op(op), syntax(syntax), sourceName(sourceName) {}
  FailureOr<std::string> run(StringRef name);

private:
  using Text = FailureOr<std::string>;
  using Fields = SmallVector<std::string>;

  bool isPython() const { return syntax.language == Language::Python; }
  std::string path(StringRef name) const { return (isPython() ? "ttnn." : "tt::tt_metal::") + name.str(); }
  std::string make(StringRef name, ArrayRef<std::string> fields) const {
    const std::string joined = llvm::join(fields, ", ");
    return path(name) + (isPython() ? "(" + joined + ")" : "{" + joined + "}");
  }
  std::string value(StringRef name, StringRef of) const { return path(name) + (isPython() ? "." : "::") + of.str(); }
  /// Adds a list that is not empty.
  void addList(Fields &fields, StringRef name, ArrayRef<std::string> items) const {
    if (!items.empty())
      fields.push_back(syntax.field(name, syntax.list(items)));
  }
  void addFlag(Fields &fields, StringRef name, bool value) const {
    if (value)
      fields.push_back(syntax.field(name, syntax.boolean(true)));
  }
  std::string tensorName(size_t index) {
    return index + 1 == op.getInputsAndOutputs().size() ? "out" : "in" + std::to_string(index);
  }
  std::string cores(ttnn::CoreRangeSetAttr set);
  /// The layout of an operand, which `what` names; reported if there is no such operand.
  FailureOr<ttnn::TTNNLayoutAttr> operand(size_t index, const Twine &what);
  LogicalResult argument(Attribute arg, Fields &words);
  template <class Range> FailureOr<Fields> arguments(Range args);
  template <class Kernel> Text kernel(Kernel attr, StringRef kind, const std::string &config);
  Text kernel(Attribute attr);
  Text buffer(ttnn::KernelCBAttr attr);
  Text semaphore(ttnn::KernelSemaphoreAttr attr);
  /// The texts of the items of a list.
  template <class Range, class Write> FailureOr<Fields> each(Range range, Write write);

  ttnn::GenericOp op;
  const Syntax &syntax;
  function_ref<std::string(StringAttr, StringRef)> sourceName;
  llvm::MapVector<Attribute, std::string> coreNames;
  Fields statements; // of circular buffers that tensors do not describe
};
} // namespace

/// The name of a variable with a set of cores.
std::string KernelWriter::cores(ttnn::CoreRangeSetAttr set) {
  std::string &name = coreNames[set];
  if (name.empty())
    name = coreNames.size() == 1 ? "cores" : "cores_" + std::to_string(coreNames.size() - 1);
  return name;
}

FailureOr<ttnn::TTNNLayoutAttr> KernelWriter::operand(size_t index, const Twine &what) {
  auto tensors = op.getInputsAndOutputs();
  if (index >= tensors.size())
    return op.emitOpError() << what << " is operand " << index << "; expected one below " << tensors.size();
  auto layout = ttnn::TTNNLayoutAttr::of(tensors[index].getType());
  if (!layout)
    return op.emitOpError() << "operand " << index << " is " << tensors[index].getType()
                            << "; expected a tensor with a #ttnn.ttnn_layout (run ttnn-layout first)";
  return layout;
}

LogicalResult KernelWriter::argument(Attribute arg, Fields &words) {
  if (auto buffer = dyn_cast<ttnn::KernelArgCBBufferIndexAttr>(arg)) {
    words.push_back(std::to_string(buffer.getBufferIndex()));
  } else if (auto semaphore = dyn_cast<ttnn::KernelArgSemaphoreAtAttr>(arg)) {
    words.push_back(std::to_string(semaphore.getSemaphoreIndex()));
  } else if (auto named = dyn_cast<ttnn::KernelArgNamedArgAttr>(arg)) {
    words.push_back(std::to_string(named.getValue()));
  } else if (auto address = dyn_cast<ttnn::KernelArgAddressOfTensorAttr>(arg)) {
    if (failed(operand(address.getTensorIndex(), "a tensor whose address is a kernel argument")))
      return failure();
    const std::string tensor = tensorName(address.getTensorIndex());
    words.push_back(isPython() ? tensor + ".buffer_address()" : path("buffer_address") + "(" + tensor + ")");
  } else if (auto accessor = dyn_cast<ttnn::KernelArgTensorAccessorArgsAttr>(arg)) {
    FailureOr<ttnn::TTNNLayoutAttr> layout = operand(accessor.getOperandIndex(), "a tensor that a kernel accesses");
    if (failed(layout))
      return failure();
    if (layout->isSharded() || !layout->isOnDevice())
      return op.emitOpError() << "has " << arg << ", an operand that is sharded or on the host; expected an "
                              << "interleaved one";
    // As TensorAccessorArgs has them: where the pages lie, and the bytes of one.
    const uint64_t tile = ttcore::tileBytes(layout->getDataType());
    auto shape = cast<RankedTensorType>(op.getInputsAndOutputs()[accessor.getOperandIndex()].getType()).getShape();
    const uint64_t width = shape.empty() ? 1 : static_cast<uint64_t>(shape.back());
    words.push_back(layout->getBufferType() == ttnn::BufferType::DRAM ? "2" : "0");
    words.push_back(std::to_string(layout->isTiled() ? tile : width * (tile / 1024)));
  } else {
    return op.emitOpError() << "has the kernel argument " << arg << ", which a program cannot write";
  }
  return success();
}

template <class Range> FailureOr<KernelWriter::Fields> KernelWriter::arguments(Range args) {
  Fields words;
  for (Attribute arg : args)
    if (failed(argument(arg, words)))
      return failure();
  return words;
}

template <class Kernel>
FailureOr<std::string> KernelWriter::kernel(Kernel attr, StringRef kind, const std::string &config) {
  FailureOr<Fields> compileTime = arguments(attr.getCtArgs()), common = arguments(attr.getCommonRtArgs());
  if (failed(compileTime) || failed(common))
    return failure();
  Fields ofCores;
  for (ttnn::CoreRuntimeArgsAttr each : attr.getRtArgs()) {
    FailureOr<Fields> words = arguments(each.getArgs());
    FailureOr<std::string> core = syntax.attribute(each.getCoreCoord());
    if (failed(words) || failed(core))
      return failure();
    ofCores.push_back((isPython() ? "(" : "{") + *core + ", " + syntax.list(*words) + (isPython() ? ")" : "}"));
  }
  const std::string type = (isPython() ? "." : "::") + std::string("SourceType");
  Fields fields = {syntax.field("kernel_source", sourceName(attr.getSource(), kind)),
                   syntax.field("source_type", value(("KernelDescriptor" + type), "SOURCE_CODE")),
                   syntax.field("core_ranges", cores(attr.getCoreRanges()))};
  addList(fields, "compile_time_args", *compileTime);
  addList(fields, "runtime_args", ofCores);
  addList(fields, "common_runtime_args", *common);
  fields.push_back(syntax.field("config", config));
  return make("KernelDescriptor", fields);
}

FailureOr<std::string> KernelWriter::kernel(Attribute attr) {
  return llvm::TypeSwitch<Attribute, Text>(attr)
      .Case([&](ttnn::SourceReadKernelAttr read) { return kernel(read, "reader", make("ReaderConfigDescriptor", {})); })
      .Case([&](ttnn::SourceWriteKernelAttr write) {
        return kernel(write, "writer", make("WriterConfigDescriptor", {}));
      })
      .Case([&](ttnn::SourceComputeKernelAttr compute) {
        Fields fields = {syntax.field(
            "math_fidelity", syntax.enumeration(ttnn::enumName<ttnn::MathFidelity>,
                                                ttnn::stringifyComputeKernelMathFidelity(compute.getMathFidelity())))};
        addFlag(fields, "fp32_dest_acc_en", compute.getFp32DestAccEn());
        addFlag(fields, "dst_full_sync_en", compute.getDstFullSyncEn());
        Fields modes;
        bool areDefault = true;
        for (ttnn::ComputeKernelUnpackToDestMode mode : compute.getUnpackToDestModes()) {
          const bool isFp32 = mode == ttnn::ComputeKernelUnpackToDestMode::Fp32;
          areDefault &= !isFp32;
          modes.push_back(value("UnpackToDestMode", isFp32 ? "UnpackToDestFp32" : "Default"));
        }
        if (!areDefault)
          addList(fields, "unpack_to_dest_mode", modes);
        addFlag(fields, "bfp8_pack_precise", compute.getBfp8PackPrecise());
        addFlag(fields, "math_approx_mode", compute.getMathApproxMode());
        return kernel(compute, "compute", make("ComputeConfigDescriptor", fields));
      })
      .Default([&](Attribute) -> Text {
        return op.emitOpError() << "runs a kernel that is named by its symbol; run ttnn-embed-kernels first";
      });
}

FailureOr<std::string> KernelWriter::buffer(ttnn::KernelCBAttr attr) {
  const std::string size = std::to_string(attr.getTotalSize()), onCores = cores(attr.getCoreRanges());
  Fields formats;
  for (ttnn::KernelCBFormatAttr format : attr.getFormats())
    formats.push_back(make("CBFormatDescriptor", {syntax.field("buffer_index", std::to_string(format.getBufferIndex())),
                                                  syntax.field("data_format", syntax.dataType(format.getDtype())),
                                                  syntax.field("page_size", std::to_string(format.getPageSize()))}));
  const std::string listed = syntax.list(formats);
  ttnn::KernelCBGlobalBufferAddressOfTensorAttr of = attr.getBuffer();
  if (!of)
    return make("CBDescriptor", {syntax.field("total_size", size), syntax.field("core_ranges", onCores),
                                 syntax.field("format_descriptors", listed)});
  FailureOr<ttnn::TTNNLayoutAttr> layout = operand(of.getTensorOperandIndex(), "the tensor of a circular buffer");
  if (failed(layout))
    return failure();
  if (!layout->isSharded() || layout->getBufferType() != ttnn::BufferType::L1)
    return op.emitOpError() << "has a circular buffer in operand " << of.getTensorOperandIndex() << ", " << *layout
                            << "; expected a tensor that is sharded in L1";
  ttnn::KernelCBFormatAttr first = attr.getFormats().front();
  const std::string index = std::to_string(first.getBufferIndex());
  const std::string descriptor =
      path("cb_descriptor_from_sharded_tensor") + "(" + index + ", " + tensorName(of.getTensorOperandIndex()) +
      (isPython() ? ", total_size=" + size + ", core_ranges=" : ", /*address_offset=*/0, " + size + ", ") + onCores +
      ")";
  // The tensor says the type and the pages, if they are those of the buffer.
  const uint64_t tile = ttcore::tileBytes(layout->getDataType()),
                 row = static_cast<uint64_t>(layout->getShardShape().back()) * (tile / 1024);
  if (attr.getFormats().size() == 1 && first.getDtype() == layout->getDataType() &&
      first.getPageSize() == (layout->isTiled() ? tile : row))
    return descriptor;
  // Others of this index are on other cores.
  std::string name = "cb_" + index;
  const auto others = llvm::count_if(statements, [&](StringRef statement) {
    return statement.consume_front(name) && (statement.starts_with(".") || statement.starts_with("_"));
  });
  if (others)
    name += "_" + std::to_string(others);
  statements.push_back((isPython() ? "" : path("CBDescriptor") + " ") + name + " = " + descriptor);
  statements.push_back(name + ".format_descriptors = " + listed);
  return name;
}

FailureOr<std::string> KernelWriter::semaphore(ttnn::KernelSemaphoreAttr attr) {
  if (attr.getCoreType() != ttnn::KernelCoreType::Worker)
    return op.emitOpError() << "has the semaphore " << attr << "; expected core_type worker";
  return make("SemaphoreDescriptor", {syntax.field("id", std::to_string(attr.getId())),
                                      syntax.field("core_ranges", cores(attr.getCoreRanges())),
                                      syntax.field("initial_value", std::to_string(attr.getInitialValue()))});
}

template <class Range, class Write> FailureOr<KernelWriter::Fields> KernelWriter::each(Range range, Write write) {
  Fields texts;
  for (auto item : range) {
    FailureOr<std::string> text = write(item);
    if (failed(text))
      return failure();
    texts.push_back(*text);
  }
  return texts;
}

FailureOr<std::string> KernelWriter::run(StringRef name) {
  auto program = dyn_cast<ttnn::ProgramAttr>(op.getProgram());
  if (!program)
    return op.emitOpError() << "has programs of a mesh; expected a #ttnn.program";
  if (!op.getAdditionalArgs().empty())
    return op.emitOpError() << "has " << op.getAdditionalArgs().size()
                            << " additional_args, which a program cannot write; expected none";
  if (op.getInputsAndOutputs().empty())
    return op.emitOpError() << "has no operands; expected at least the result";
  FailureOr<Fields> kernels = each(program.getKernels(), [&](Attribute attr) { return kernel(attr); }),
                    buffers = each(program.getCbs(), [&](ttnn::KernelCBAttr attr) { return buffer(attr); }),
                    semaphores =
                        each(program.getSemaphores(), [&](ttnn::KernelSemaphoreAttr attr) { return semaphore(attr); });
  if (failed(kernels) || failed(buffers) || failed(semaphores))
    return failure();
  Fields fields, tensors, parameters;
  addList(fields, "kernels", *kernels);
  addList(fields, "semaphores", *semaphores);
  addList(fields, "cbs", *buffers);
  for (size_t i = 0; i < op.getInputsAndOutputs().size(); ++i) {
    tensors.push_back(tensorName(i));
    parameters.push_back((isPython() ? "" : "const ttnn::Tensor &") + tensors.back());
  }
  const std::string end = isPython() ? "" : ";", list = llvm::join(parameters, ", ");
  std::string text = isPython() ? wrapped(syntax.language, ("def " + name + "(" + list + "):").str(), 0)
                                : ("static void " + name + "(" + list + ") {\n").str();
  // C++ is wrapped when it is printed.
  auto add = [&](const std::string &statement) {
    text += isPython() ? wrapped(syntax.language, statement, indentation) : statement + "\n";
  };
  for (auto &[set, variable] : coreNames) {
    FailureOr<std::string> ranges = syntax.attribute(set);
    if (failed(ranges))
      return op.emitOpError() << "has the cores " << set << ", which a program cannot write";
    const std::string statement = (isPython() ? "" : "const ttnn::CoreRangeSet ") + variable + " = " + *ranges + end;
    add(statement);
  }
  for (const std::string &statement : statements)
    add(statement + end);
  const std::string statement =
      syntax.path("generic_op") + "(" + syntax.list(tensors) + ", " + make("ProgramDescriptor", fields) + ")" + end;
  add(statement);
  return text + (isPython() ? "" : "}\n");
}

//===----------------------------------------------------------------------===//
// Definitions and calls
//===----------------------------------------------------------------------===//

/// A constant with the source of a kernel.
static std::string constantText(Language language, StringRef name, StringRef source) {
  if (language == Language::Cpp)
    return ("static const char *const " + name + " = " + rawBegin + source + rawEnd + ";\n").str();
  std::string text;
  for (size_t at = 0; at < source.size(); ++at) {
    const bool endsText = source[at] == '"' && (at + 1 == source.size() || source.substr(at).starts_with("\"\"\""));
    const auto byte = static_cast<unsigned char>(source[at]);
    if (byte == 0 || byte == '\r') { // Python reads no NUL, and another end of the line
      text += "\\x" + llvm::utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
      continue;
    }
    if (source[at] == '\\' || endsText)
      text += '\\';
    text += source[at];
  }
  return (name + " = \"\"\"\\\n" + text + "\"\"\"\n").str();
}

Emitter::KernelKey Emitter::keyOf(ttnn::GenericOp op) {
  return {op.getProgram(), FunctionType::get(op.getContext(), op->getOperandTypes(), {})};
}

LogicalResult Emitter::collectKernels(NameScope &names) {
  WalkResult result = module.walk([&](ttnn::GenericOp op) {
    auto [found, isNew] = kernelPrograms.try_emplace(keyOf(op));
    if (!isNew)
      return WalkResult::advance();
    KernelProgram &program = found->second;
    const std::string base = identifierOf(nameOf(op.getLoc()));
    program.name = names.give(base.empty() ? "kernels" : base + "_kernels");
    StringRef unwritable; // what a source has that C++ cannot write
    auto sourceName = [&](StringAttr source, StringRef kind) {
      std::string &name = kernelSources[source];
      if (name.empty())
        name = names.give(program.name + "_" + kind.str());
      if (syntax.language == Language::Cpp && source.getValue().contains(rawEnd))
        unwritable = rawEnd;
      else if (syntax.language == Language::Cpp && source.getValue().contains('\0'))
        unwritable = "a NUL";
      if (!llvm::is_contained(program.sources, source))
        program.sources.push_back(source);
      return name;
    };
    FailureOr<std::string> text = KernelWriter(op, syntax, sourceName).run(program.name);
    if (failed(text))
      return WalkResult::interrupt();
    if (!unwritable.empty()) {
      op.emitOpError() << "has a kernel whose source contains " << unwritable << ", which ends a text in C++";
      return WalkResult::interrupt();
    }
    program.text = std::move(*text);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Emitter::defineKernels(func::FuncOp function) {
  auto once = [&](const std::string &name, const std::string &text) {
    if (defined.insert({builder.getInsertionBlock(), name}).second)
      define(name, text);
  };
  for (auto op : function.getOps<ttnn::GenericOp>()) {
    const KernelProgram &program = kernelPrograms.find(keyOf(op))->second;
    for (StringAttr source : program.sources) {
      const std::string &name = kernelSources.find(source)->second;
      once(name, constantText(syntax.language, name, source));
    }
    once(program.name, program.text);
  }
}

void Emitter::convertGeneric(ttnn::GenericOp op) {
  Call created;
  created.callee = kernelPrograms.find(keyOf(op))->second.name;
  SmallVector<SmallVector<Value, 1>> operands;
  for (Value tensor : op.getInputsAndOutputs()) {
    Argument &argument = created.arguments.emplace_back();
    argument.kind = Argument::Kind::Tensor;
    operands.push_back({values.lookup(tensor)});
  }
  call(op.getLoc(), created, operands, device, 0, {});
}
