// Empty: CMake precompiles headers for a target with sources.
