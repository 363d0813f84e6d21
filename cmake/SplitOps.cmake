# SPDX-License-Identifier: Apache-2.0
# Divides what mlir-tblgen -op-shard-count generates, so that a change of one op compiles what needs it and no more:
#
#   NAME.all.h.inc      into NAME.h.inc, without the comments, which hold the ops' descriptions
#   NAME.all.cpp.inc    into NAME<part>.cpp.inc
#
# A file that is as before is not written.
#
#   cmake -DNAME=<path without ending> -DPARTS=<count> -P SplitOps.cmake
cmake_minimum_required(VERSION 3.25)

function(write_if_changed file text)
  set(before)
  if(EXISTS "${file}")
    file(READ "${file}" before)
  endif()
  if(NOT text STREQUAL before)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()

file(READ "${NAME}.all.h.inc" text)
string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")
write_if_changed("${NAME}.h.inc" "${text}")

file(READ "${NAME}.all.cpp.inc" rest)
set(part 0)
while(part LESS PARTS)
  set(end "#endif // GET_OP_DEFS_${part}\n")
  string(FIND "${rest}" "${end}" length)
  if(length LESS 0)
    message(FATAL_ERROR "${NAME}.all.cpp.inc has no part ${part} of ${PARTS}; mlir-tblgen writes them otherwise now")
  endif()
  string(LENGTH "${end}" more)
  math(EXPR length "${length} + ${more}")
  string(SUBSTRING "${rest}" 0 ${length} text)
  string(SUBSTRING "${rest}" ${length} -1 rest)
  write_if_changed("${NAME}${part}.cpp.inc" "${text}")
  math(EXPR part "${part} + 1")
endwhile()
