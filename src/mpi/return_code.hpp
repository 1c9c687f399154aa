// MPI's return codes as exceptions.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include "hearsay/transport.hpp"

namespace hearsay::mpi {

inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LinkError(fmt::format("{}: {}", what, text));
}

}  // namespace hearsay::mpi
