//===- segments.h - memory that OpenMPI shares between ranks -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// OpenMPI has a file of some MiB in /dev/shm for each rank, and does not remove those of a job whose mpirun was killed.
// Here each rank's file is in a separate folder, with a file that the rank has locked: the next rank that starts
// removes folders whose lock is free.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tt::sim {

/// While it exists, MPI_Init puts its files into a folder of this process. Nothing changes if the user has named a
/// folder, or if none can be created.
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
