// Loaded before a rank (LD_PRELOAD), makes the n-th call of MPI fail, as a cable that is pulled would.
//   INJECT_RANK  on which rank
//   INJECT_AT    which call fails, from 1; 0: none
//   INJECT_LOG   where that rank writes, at the end, how many there were
// A test or a probe that finds nothing is not counted: how often a rank asks depends on the weather.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

long calls = 0;
bool counts = false;

void tell() {
  const char* path = std::getenv("INJECT_LOG");
  std::FILE* file = !counts || path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld\n", calls);
  std::fclose(file);
}

long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

void begin() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  counts = rank == number("INJECT_RANK");
  std::atexit(tell);
}

int after(int code) {
  static const long at = number("INJECT_AT");
  return counts && ++calls == at ? MPI_ERR_OTHER : code;
}

}  // namespace

extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  begin();
  return after(code);
}

// What is to fail is not done.
#define HEARSAY_MPI(name, parameters, arguments)           \
  int name parameters {                                    \
    const int code = after(MPI_SUCCESS);                   \
    return code == MPI_SUCCESS ? P##name arguments : code; \
  }
HEARSAY_MPI(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
HEARSAY_MPI(MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))
HEARSAY_MPI(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
            (comm, type, key, info, made))
HEARSAY_MPI(MPI_Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
            (in, out, count, type, op, comm))
HEARSAY_MPI(MPI_Isend,
            (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
            (data, count, type, to, tag, comm, request))
HEARSAY_MPI(MPI_Irecv,
            (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
            (data, count, type, from, tag, comm, request))
HEARSAY_MPI(MPI_Imrecv, (void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request),
            (data, count, type, message, request))
HEARSAY_MPI(MPI_Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
            (data, count, type, root, comm, request))

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const int code = PMPI_Test(request, done, status);
  return *done != 0 ? after(code) : code;
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* there, MPI_Message* message, MPI_Status* status) {
  const int code = PMPI_Improbe(from, tag, comm, there, message, status);
  return *there != 0 ? after(code) : code;
}

}  // extern "C"
