//===- segments.h - memory that OpenMPI shares between ranks -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// OpenMPI has a file of some MiB in /dev/shm for each rank, and does not remove
// those of a job whose mpirun was killed. Here each rank's is in a folder of its
// own, with a file that the rank has locked: the next rank that begins removes
// folders whose lock no process has.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tt::sim {

/// While it is there, MPI_Init puts its files into a folder of this process. Nothing is changed where the user has
/// named a folder, or none can be created.
class Segments {
public:
  Segments();
  ~Segments();
  Segments(const Segments &) = delete;
  Segments &operator=(const Segments &) = delete;
};

/// Removes the folder of this process, after MPI_Finalize.
void removeSegments();

} // namespace tt::sim
