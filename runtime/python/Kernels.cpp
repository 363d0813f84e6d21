//===- Kernels.cpp - kernels written by hand, for Python ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"
#include "Interrupts.h"

#include "tt/metal/tensors.h"
#include "tt/metal/watch.h"
#include "tt/ttnn/trace.h"

#include <nanobind/stl/set.h>
#include <nanobind/stl/tuple.h>

using namespace tt;
using namespace tt::metal;

namespace {

using Coord = std::pair<uint32_t, uint32_t>; // x, y

std::vector<metal::CoreCoord> coords(const std::vector<Coord> &cores) {
  std::vector<metal::CoreCoord> result;
  for (const auto &[x, y] : cores)
    result.push_back({x, y});
  return result;
}

std::span<const std::byte> bytesOf(const nb::bytes &bytes) {
  return {static_cast<const std::byte *>(bytes.data()), bytes.size()};
}
nb::bytes bytesOf(std::span<const std::byte> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

/// Throws Error for bytes that are not expected.
std::span<const std::byte> requireContiguous(const python::HostArray &array, const char *what) {
  if (!array.contiguous)
    throw Error(std::string(what) + ": expected a contiguous array");
  if (array.shape.size() != 2)
    throw Error(std::string(what) + ": expected a matrix, found an array of " + std::to_string(array.shape.size()) +
                " dimensions");
  return {static_cast<const std::byte *>(array.data),
          static_cast<size_t>(array.elements()) * python::hostBytes(array.type)};
}

nb::bytes tilesOf(nb::handle object, python::HostType dtype) {
  const python::HostArray array = python::hostArray(object);
  const std::span<const std::byte> data = requireContiguous(array, "to_tiles");
  const auto rows = static_cast<uint32_t>(array.shape[0]), columns = static_cast<uint32_t>(array.shape[1]);
  const auto count = static_cast<size_t>(array.elements());
  const DataType type = python::deviceType(dtype);
  if (array.type == python::HostType::Float32)
    return bytesOf(toTiles(std::span(reinterpret_cast<const float *>(data.data()), count), rows, columns, type));
  if (array.type == python::HostType::Int32)
    return bytesOf(toTiles(std::span(reinterpret_cast<const int32_t *>(data.data()), count), rows, columns, type));
  throw Error("to_tiles: expected an array of float32 or int32");
}

/// f32, or int32 of an integer type; row by row.
nb::bytes rowsOf(const nb::bytes &tiles, uint32_t rows, uint32_t columns, python::HostType dtype) {
  const DataType type = python::deviceType(dtype);
  switch (type) {
  case DataType::UInt32:
  case DataType::UInt16:
  case DataType::UInt8:
  case DataType::Int32:
  case DataType::Bool:
    return bytesOf(std::as_bytes(std::span<const int32_t>(integersFromTiles(bytesOf(tiles), rows, columns, type))));
  default:
    return bytesOf(std::as_bytes(std::span<const float>(floatsFromTiles(bytesOf(tiles), rows, columns, type))));
  }
}

} // namespace

void python::bindKernels(nb::module_ &module) {
  nb::class_<InterleavedBuffer>(module, "Buffer", "Pages in the banks of a memory in turn, at one address of each.")
      .def(
          "__init__",
          [](InterleavedBuffer *self, BufferType memory, uint64_t address, uint32_t pageBytes, uint32_t pages) {
            new (self) InterleavedBuffer{memory, address, pageBytes, pages};
          },
          nb::arg("memory"), nb::arg("address"), nb::arg("page_bytes"), nb::arg("pages"))
      .def_ro("memory", &InterleavedBuffer::memory)
      .def_ro("address", &InterleavedBuffer::address)
      .def_ro("page_bytes", &InterleavedBuffer::pageBytes)
      .def_ro("pages", &InterleavedBuffer::pages)
      .def("accessor_args", &InterleavedBuffer::accessorArgs,
           "Returns the compile-time arguments that TensorAccessorArgs of a kernel takes.");
  nb::class_<HostCircularBuffer>(module, "CircularBuffer", "A ring of pages in the L1 of each of some cores.")
      .def(
          "__init__",
          [](HostCircularBuffer *self, uint32_t port, HostType dtype, uint32_t pageBytes, uint32_t pages,
             const std::vector<Coord> &cores, std::optional<uint32_t> address) {
            new (self) HostCircularBuffer{port, deviceType(dtype), pageBytes, pages, coords(cores), address};
          },
          nb::arg("port"), nb::arg("dtype"), nb::arg("page_bytes"), nb::arg("pages"), nb::arg("cores"),
          nb::arg("address") = nb::none());
  nb::class_<HostSemaphore>(module, "Semaphore", "A word at the same address of each of some cores.")
      .def(
          "__init__",
          [](HostSemaphore *self, uint32_t id, const std::vector<Coord> &cores, uint32_t value) {
            new (self) HostSemaphore{id, value, coords(cores)};
          },
          nb::arg("id"), nb::arg("cores"), nb::arg("value") = 0);
  nb::class_<HostKernel>(module, "Kernel", "C++ text with the cores that run it and what it is given.")
      .def(
          "__init__",
          [](HostKernel *self, std::string name, std::string source, const std::vector<Coord> &cores, bool compute,
             uint32_t noc, std::vector<uint32_t> compileArgs, std::map<std::string, std::string> defines,
             std::vector<uint32_t> commonArgs, const std::map<Coord, std::vector<uint32_t>> &args, bool fp32DestAcc,
             bool dstFull, uint32_t fidelityPhases, bool mathApprox, bool bfp8PackPrecise,
             std::vector<uint32_t> unpackToDestFp32) {
            HostKernel kernel;
            kernel.name = std::move(name);
            kernel.source = std::move(source);
            kernel.cores = coords(cores);
            kernel.compute = compute;
            kernel.noc = noc;
            kernel.fp32DestAcc = fp32DestAcc;
            kernel.dstFull = dstFull;
            kernel.fidelityPhases = fidelityPhases;
            kernel.mathApprox = mathApprox;
            kernel.bfp8PackPrecise = bfp8PackPrecise;
            kernel.unpackToDestFp32 = std::move(unpackToDestFp32);
            kernel.compileTimeArgs = std::move(compileArgs);
            kernel.defines = std::move(defines);
            kernel.commonArgs = std::move(commonArgs);
            for (const auto &[core, values] : args)
              kernel.args[{core.first, core.second}] = values;
            new (self) HostKernel(std::move(kernel));
          },
          nb::arg("name"), nb::arg("source"), nb::arg("cores"), nb::kw_only(), nb::arg("compute") = false,
          nb::arg("noc") = 0, nb::arg("compile_args") = std::vector<uint32_t>(),
          nb::arg("defines") = std::map<std::string, std::string>(), nb::arg("common_args") = std::vector<uint32_t>(),
          nb::arg("args") = std::map<Coord, std::vector<uint32_t>>(), nb::arg("fp32_dest_acc") = false,
          nb::arg("dst_full") = false, nb::arg("fidelity_phases") = 4, nb::arg("math_approx") = false,
          nb::arg("bfp8_pack_precise") = false, nb::arg("unpack_to_dest_fp32") = std::vector<uint32_t>());
  nb::class_<KernelZone>(module, "KernelZone", "A named part of a kernel (DeviceZoneScopedN), in cycles.")
      .def_ro("name", &KernelZone::name)
      .def_ro("begin", &KernelZone::begin)
      .def_ro("end", &KernelZone::end);
  nb::class_<KernelTime>(module, "KernelTime", "What a kernel did on a core, in cycles since the program began.")
      .def_ro("name", &KernelTime::name)
      .def_prop_ro(
          "core", [](const KernelTime &self) { return Coord(self.core.x, self.core.y); }, "x and y.")
      .def_ro("computing", &KernelTime::computing)
      .def_ro("moving", &KernelTime::moving)
      .def_ro("waiting", &KernelTime::waiting)
      .def_ro("end", &KernelTime::end)
      .def_prop_ro(
          "waits",
          [](const KernelTime &self) {
            std::map<std::string, double> result;
            for (const auto &[awaited, cycles] : self.waits)
              result[awaited.text()] += cycles;
            return result;
          },
          "Cycles by what it waits for: pages of port 0, room in port 16, semaphore 1, transfers.")
      .def_prop_ro(
          "steps",
          [](const KernelTime &self) {
            static constexpr const char *names[] = {"computes", "moves", "waits"};
            std::vector<std::tuple<double, double, std::string, std::string>> result;
            for (const KernelStep &step : self.steps)
              result.emplace_back(step.begin, step.end, names[static_cast<size_t>(step.activity)], step.awaited.text());
            return result;
          },
          "Begin, end, what it does (computes, moves, waits) and what for, when recording is on.")
      .def_ro("zones", &KernelTime::zones, "Its zones, when recording is on.");
  nb::class_<CoreActivity>(module, "CoreActivity", "What the cores of a chip did while kernels ran.")
      .def_prop_ro(
          "grid", [](const CoreActivity &self) { return std::pair(self.columns, self.rows); },
          "Columns and rows of worker cores: x and y.")
      .def_ro("kernels", &CoreActivity::kernels, "KernelTime of each kernel on each of its cores.")
      .def_prop_ro(
          "links",
          [](const CoreActivity &self) {
            std::vector<std::tuple<Coord, Coord, int64_t>> result;
            for (const LinkLoad &link : self.links)
              result.emplace_back(Coord(link.from.x, link.from.y), Coord(link.to.x, link.to.y), link.bytes);
            return result;
          },
          "Core, neighbor (x, y), and the bytes over the link of the network between them, when recording is on.")
      .def_ro("dram_bytes", &CoreActivity::dramBytes, "To and from each bank, when recording is on.");
  nb::class_<KernelReport>(module, "KernelReport", "What a run of kernels did.")
      .def_ro("cycles", &KernelReport::cycles, "Of the slowest core.")
      .def_ro("device_ns", &KernelReport::deviceNs)
      .def_ro("rounded_only", &KernelReport::roundedOnly,
              "Functions that exact arithmetic does not cover and that got floats.")
      .def_prop_ro(
          "kernels", [](const KernelReport &self) { return self.activity.kernels; },
          "KernelTime of each kernel on each of its cores.")
      .def_ro("activity", &KernelReport::activity, "Kernels, and the loads of links and banks.")
      .def_ro("matmul_tiles", &KernelReport::matmulTiles)
      .def_ro("fpu_tiles", &KernelReport::fpuTiles)
      .def_ro("sfpu_tiles", &KernelReport::sfpuTiles)
      .def_ro("moved_bytes", &KernelReport::movedBytes)
      .def_ro("printed", &KernelReport::printed, "Lines of DPRINT, in the order of cores.");
  nb::class_<Machine>(module, "Machine", "The DRAM and L1 of one simulated chip, and its cores.")
      .def(
          "__init__",
          [](Machine *self, const std::string &arch) { new (self) Machine(sim::chip(sim::parseArch(arch))); },
          nb::arg("arch") = "wormhole_b0")
      .def_prop_ro(
          "grid", [](const Machine &self) { return std::pair(self.chip().gridColumns, self.chip().gridRows); },
          "Columns and rows of worker cores: x and y.")
      .def("allocate", &Machine::allocate, nb::arg("memory"), nb::arg("page_bytes"), nb::arg("pages"),
           "Returns an interleaved Buffer; raises OutOfMemoryError.")
      .def("deallocate", &Machine::deallocate, nb::arg("buffer"))
      .def(
          "write",
          [](Machine &self, const InterleavedBuffer &buffer, const nb::bytes &bytes) {
            self.write(buffer, bytesOf(bytes));
          },
          nb::arg("buffer"), nb::arg("data"), "Writes all pages of a buffer.")
      .def(
          "read",
          [](const Machine &self, const InterleavedBuffer &buffer) {
            std::vector<std::byte> bytes(size_t(buffer.pageBytes) * buffer.pages);
            self.read(buffer, bytes);
            return bytesOf(bytes);
          },
          nb::arg("buffer"), "Returns all pages of a buffer.")
      .def(
          "read_l1",
          [](const Machine &self, const Coord &core, uint64_t address, uint64_t bytes) {
            return bytesOf(self.l1({core.first, core.second}, address, bytes));
          },
          nb::arg("core"), nb::arg("address"), nb::arg("bytes"), "Returns bytes of a core's L1.")
      .def(
          "run",
          [](Machine &self, std::vector<HostKernel> kernels, std::vector<HostCircularBuffer> buffers,
             std::vector<HostSemaphore> semaphores, std::string name, bool exact) {
            const HostProgram program{std::move(name), std::move(buffers), std::move(semaphores), std::move(kernels),
                                      exact};
            std::string printed;
            try {
              return interruptibly([&] { return self.run(program, &printed); });
            } catch (const Error &error) { // what was printed may say why
              if (printed.empty())
                throw;
              throw Error(std::string(error.what()) + "\nprinted before:\n" + printed);
            }
          },
          nb::arg("kernels"), nb::arg("circular_buffers") = std::vector<HostCircularBuffer>(),
          nb::arg("semaphores") = std::vector<HostSemaphore>(), nb::arg("name") = "program", nb::arg("exact") = false,
          "Compiles kernels and runs them until all have ended; raises Error with what was wrong, or with what every "
          "kernel waits for. exact: with the arithmetic of the chip.");
  nb::class_<PagedTensor>(module, "PagedTensor", "A tensor on a device as kernels find it: its pages, or its shards.")
      .def(nb::init<ttnn::Tensor>(), nb::arg("tensor"))
      .def_ro("tensor", &PagedTensor::tensor);
  module.def(
      "run_on_tensors",
      [](const std::vector<PagedTensor> &tensors, std::vector<HostKernel> kernels,
         const std::vector<CircularGroup> &circularBuffers, std::vector<HostSemaphore> semaphores,
         const std::vector<uint32_t> &chips, std::string name) {
        const HostProgram program{std::move(name), {}, std::move(semaphores), std::move(kernels)};
        KernelReport report = interruptibly([&] { return runOnTensors(tensors, program, circularBuffers, chips); });
        if (!tensors.empty())
          ttnn::Trace::record(tensors.front().tensor.device(),
                              [=] { (void)runOnTensors(tensors, program, circularBuffers, chips); });
        return report;
      },
      nb::arg("tensors"), nb::arg("kernels"), nb::arg("circular_buffers"), nb::arg("semaphores"), nb::arg("chips"),
      nb::arg("name") = "program",
      "Runs kernels on tensors of a device, which hold afterwards what was written; lists of circular buffers share "
      "their bytes.");
  nb::class_<BufferChange>(module, "BufferChange", "A command of a TTMetal program has changed a device buffer.")
      .def_ro("program", &BufferChange::program)
      .def_ro("command", &BufferChange::command, "Its name.")
      .def_ro("loc", &BufferChange::loc)
      .def_ro("number", &BufferChange::number, "Of the command in its program.")
      .def_ro("buffer", &BufferChange::buffer, "The id of the buffer.")
      .def_prop_ro("data_type", [](const BufferChange &self) { return std::string(toString(self.dtype)); })
      .def_ro("rows", &BufferChange::rows, "With the padding of shards and tiles.")
      .def_ro("columns", &BufferChange::columns)
      .def_ro("changed", &BufferChange::changed, "Number of elements.")
      .def_prop_ro(
          "values", [](const BufferChange &self) { return bytesOf(std::as_bytes(std::span(self.values))); },
          "Float64, row by row.");
  module.def(
      "watch_buffers",
      [](std::set<uint32_t> ids, nb::object observer) {
        if (observer.is_none())
          return watchBuffers({}, nullptr);
        std::shared_ptr<nb::object> held(new nb::object(std::move(observer)), [](nb::object *dropped) {
          nb::gil_scoped_acquire locked;
          delete dropped;
        });
        watchBuffers(std::move(ids), [held](const BufferChange &change) {
          nb::gil_scoped_acquire locked;
          (*held)(change);
        });
      },
      nb::arg("ids"), nb::arg("observer").none(),
      nb::sig("def watch_buffers(ids: collections.abc.Set[int], "
              "observer: collections.abc.Callable[[BufferChange], None] | None) -> None"),
      "Calls a function after each command of a TTMetal program that changes one of these device buffers on the first "
      "chip from now on; None ends it.");
  module.def(
      "core_range",
      [](const Coord &first, const Coord &last) {
        std::vector<Coord> cores;
        for (const metal::CoreCoord core : coreRange({first.first, first.second}, {last.first, last.second}))
          cores.emplace_back(core.x, core.y);
        return cores;
      },
      nb::arg("first"), nb::arg("last"), "Returns all cores of a rectangle, (x, y), row by row.");
  module.def("to_tiles", &tilesOf, nb::arg("matrix"), nb::arg("dtype"),
             "Returns a matrix of float32 or int32 as tiles of 32x32 of a type.");
  module.def("from_tiles", &rowsOf, nb::arg("tiles"), nb::arg("rows"), nb::arg("columns"), nb::arg("dtype"),
             "Returns the rows of a matrix of tiles as bytes: float32, or int32 of an integer type.");
}
