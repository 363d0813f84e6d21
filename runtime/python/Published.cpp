//===- Published.cpp - meshes of other processes for Python ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/published.h"
#include "Bindings.h"

#include <nanobind/stl/tuple.h>

#include <tuple>

namespace tt::python {
namespace {

using sim::PublishedMesh;

/// Memory -> (banks, bytes per bank, allocated bytes, the maximum of these).
auto memoriesOf(const PublishedMesh &mesh) {
  std::map<std::string, std::tuple<int64_t, int64_t, int64_t, int64_t>> found;
  for (size_t i = 0; i < sim::memoryCount; ++i) {
    const PublishedMesh::Figures &each = mesh.memories[i];
    found.emplace(sim::toString(static_cast<sim::Memory>(i)), std::tuple(each.banks, each.total, each.used, each.peak));
  }
  return found;
}

} // namespace

void bindPublished(nb::module_ &module) {
  nb::class_<PublishedMesh>(module, "PublishedMesh", "An open mesh of some process, as it was at one moment.")
      .def_ro("process", &PublishedMesh::process)
      .def_ro("device", &PublishedMesh::device, "Its id in that process.")
      .def_ro("arch", &PublishedMesh::arch)
      .def_prop_ro("mesh_shape", [](const PublishedMesh &self) { return std::pair(self.rows, self.columns); })
      .def_prop_ro(
          "local_chips", [](const PublishedMesh &self) { return std::pair(self.own.first, self.own.last); },
          "The chips that the process simulates, of those that share the mesh: first, and behind the last.")
      .def_ro("parent", &PublishedMesh::whole, "Of a sub-mesh the mesh's id, or -1.")
      .def_prop_ro("mesh_offset", [](const PublishedMesh &self) { return std::pair(self.firstRow, self.firstColumn); })
      .def_ro("clock_mhz", &PublishedMesh::clockMHz)
      .def_ro("opened_ns", &PublishedMesh::openedNs, "Since 1970.")
      .def_prop_ro("memories", &memoriesOf, "By name: banks, bytes per bank, of these allocated, the most that were.")
      .def_ro("programs", &PublishedMesh::programs, "That have run.")
      .def_ro("ops", &PublishedMesh::ops, "That have run.")
      .def_ro("cycles", &PublishedMesh::cycles, "Of each chip, estimated.")
      .def_ro("chip_ns", &PublishedMesh::chipNs, "The time of each chip, estimated.")
      .def_ro("busy_ns", &PublishedMesh::busyNs, "The time on the host in which something ran.")
      .def_ro("reset_requested_by", &PublishedMesh::resetRequestedBy, "A process, or 0.");
  module.def(
      "published_meshes",
      [] {
        sim::PublishedMeshes found = sim::publishedMeshes();
        return std::pair(std::move(found.meshes), std::move(found.problems));
      },
      "Open meshes of this user's processes (of all, for root), and files that cannot be read.");
  module.def("request_reset", &sim::requestReset, nb::arg("process"), nb::arg("device"),
             "Asks a process to reset a mesh; what runs on it ends with DeviceError before its next op.");
  module.def("publication_folder", &sim::publicationFolder,
             "Where meshes of this process are published; '' for nowhere.");
  module.def("publication_problem", &sim::publicationProblem,
             "Why meshes of this process are not published; '' when they are.");
}

} // namespace tt::python
