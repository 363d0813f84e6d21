// SPDX-License-Identifier: Apache-2.0
// Empty: CMake precompiles headers for a target with sources.
