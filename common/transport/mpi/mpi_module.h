// What the two interfaces of the MPI module share. Only its own sources include it.
#ifndef COMMON_TRANSPORT_MPI_MPI_MODULE_H_
#define COMMON_TRANSPORT_MPI_MPI_MODULE_H_

#include <cstddef>

#include "common/mpi_io/mpi_files.h"

// Writes a text for an MPI error code, shortened if necessary, ended by a null. Defined in mpi_module.cc.
void DescribeMpiError(int error, char* text, size_t text_bytes);

// Makes what MPI-IO needs. All ranks call it together, once, after MPI was initialised for several threads. Returns an MPI
// error code. Defined in mpi_files_module.cc.
int StartMpiFiles();

// Defined in mpi_files_module.cc.
const MpiFiles& TheMpiFilesTable();

#endif  // COMMON_TRANSPORT_MPI_MPI_MODULE_H_
