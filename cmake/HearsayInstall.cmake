# install() and the package that find_package(hearsay) finds. The core is always there; hearsay::io, hearsay::datasets and
# hearsay::mpi are components, each with a file of its own, so that who does not link one needs nothing it leans on.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a static library hides, a program must not replace (HearsaySeal.cmake). Needs GNU's tools, and objects that are
# machine code; the sanitizers' and gcov's tables do not survive it.
set(sealable OFF)
if(NOT BUILD_SHARED_LIBS AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_LINKER AND CMAKE_NM AND CMAKE_OBJCOPY
   AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" MATCHES "-flto|-fsanitize|--coverage"
   AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  set(sealable ON)
endif()
option(HEARSAY_SEAL "Install static libraries that hide what shared ones hide" ${sealable})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearsay)

# From the folder of the .pc files back to the prefix, so that what is installed may be moved.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")

# hearsay_install_library(target name PC file DESCRIPTION text [REQUIRES packages] [CFLAGS flags] [LIBS flags]
#                         [PRIVATE_REQUIRES packages] [PRIVATE_LIBS flags])
# One of our libraries, name.cmake that stands for it in CMake and file.pc in pkg-config. What is private is what a
# static library's user must link too; a shared one brings it along, and nobody needs to have its headers. It is not in
# the fields of that name: `pkg-config --static` would ask for static libraries of all that libcurl leans on as well.
function(hearsay_install_library target name)
  cmake_parse_arguments(pc "" "PC;DESCRIPTION;REQUIRES;CFLAGS;LIBS;PRIVATE_REQUIRES;PRIVATE_LIBS" "" ${ARGN})
  install(TARGETS ${target} EXPORT ${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(HEARSAY_SEAL AND NOT BUILD_SHARED_LIBS)
    install(CODE "
      set(folder \"${CMAKE_INSTALL_LIBDIR}\")
      if(NOT IS_ABSOLUTE \"\${folder}\")
        set(folder \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
      endif()
      execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DARCHIVE=\$ENV{DESTDIR}\${folder}/$<TARGET_FILE_NAME:${target}>\"
        \"-DLINKER=${CMAKE_LINKER}\" \"-DNM=${CMAKE_NM}\" \"-DOBJCOPY=${CMAKE_OBJCOPY}\" \"-DAR=${CMAKE_AR}\"
        -P \"${PROJECT_SOURCE_DIR}/cmake/HearsaySeal.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
  endif()
  install(EXPORT ${name} NAMESPACE hearsay:: DESTINATION ${package_dir})
  if(NOT BUILD_SHARED_LIBS)
    string(APPEND pc_REQUIRES " ${pc_PRIVATE_REQUIRES}")
    string(APPEND pc_LIBS " ${pc_PRIVATE_LIBS}")
  endif()
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${pc_PC}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_PC}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# The flags that link what CMake found for OpenMP and for MPI.
set(openmp_libs)
if(OpenMP_CXX_FOUND)
  list(TRANSFORM OpenMP_CXX_LIB_NAMES PREPEND "-l" OUTPUT_VARIABLE openmp_libs)
endif()
list(JOIN openmp_libs " " openmp_libs)

set(headers_left_out)
hearsay_install_library(hearsay hearsayTargets PC hearsay DESCRIPTION "${PROJECT_DESCRIPTION}"
  REQUIRES "eigen3 >= 3.4" PRIVATE_REQUIRES "fmt" PRIVATE_LIBS "${openmp_libs} -pthread")
if(HEARSAY_BUILD_IO)
  set(hdf5_package "")
  if(HEARSAY_WITH_HDF5)
    set(hdf5_package " hdf5")
  endif()
  hearsay_install_library(hearsay_io hearsayIoTargets PC hearsay-io DESCRIPTION "Files and checkpoints of hearsay"
    REQUIRES "hearsay = ${PROJECT_VERSION}" PRIVATE_REQUIRES "fmt zlib libcrypto${hdf5_package}")
else()
  list(APPEND headers_left_out PATTERN "hearsay/io" EXCLUDE)
endif()
if(HEARSAY_BUILD_DATASETS)
  hearsay_install_library(hearsay_datasets hearsayDatasetsTargets PC hearsay-datasets
    DESCRIPTION "The data sets that hearsay knows"
    REQUIRES "hearsay-io = ${PROJECT_VERSION}" PRIVATE_REQUIRES "fmt libcurl >= 7.85")
else()
  list(APPEND headers_left_out PATTERN "hearsay/datasets.hpp" EXCLUDE)
endif()
if(HEARSAY_BUILD_MPI)
  list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE mpi_cflags)
  list(TRANSFORM MPI_CXX_COMPILE_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE mpi_definitions)
  list(JOIN mpi_cflags " " mpi_cflags)
  list(JOIN mpi_definitions " " mpi_definitions)
  list(JOIN MPI_CXX_LIBRARIES " " mpi_libs)
  hearsay_install_library(hearsay_mpi hearsayMpiTargets PC hearsay-mpi DESCRIPTION "Agents of hearsay on MPI processes"
    REQUIRES "hearsay = ${PROJECT_VERSION}" CFLAGS "${mpi_cflags} ${mpi_definitions}"
    LIBS "${mpi_libs}" PRIVATE_REQUIRES "fmt")
else()
  list(APPEND headers_left_out PATTERN "hearsay/mpi.hpp" EXCLUDE PATTERN "hearsay/mpi_links.hpp" EXCLUDE)
endif()
if(HEARSAY_BUILD_GRPC)
  hearsay_install_library(hearsay_grpc hearsayGrpcTargets PC hearsay-grpc
    DESCRIPTION "Agents of hearsay in different organisations" REQUIRES "hearsay = ${PROJECT_VERSION}"
    PRIVATE_REQUIRES "fmt grpc++ >= 1.51")
else()
  list(APPEND headers_left_out PATTERN "hearsay/grpc.hpp" EXCLUDE)
endif()

if(HEARSAY_CUDA)
  hearsay_install_library(hearsay_cuda hearsayCudaTargets PC hearsay-cuda DESCRIPTION "Solves of hearsay on CUDA devices"
    REQUIRES "hearsay = ${PROJECT_VERSION}"
    PRIVATE_LIBS "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -pthread")
else()
  list(APPEND headers_left_out PATTERN "hearsay/cuda.hpp" EXCLUDE)
endif()

install(DIRECTORY include/hearsay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" ${headers_left_out})
install(FILES ${PROJECT_BINARY_DIR}/include/hearsay/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearsay)
if(HEARSAY_BUILD_APPS)
  install(TARGETS hearsay_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(HEARSAY_BUILD_MPI)
    install(TARGETS hearsay_mpi_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(HEARSAY_BUILD_GRPC)
    install(TARGETS hearsay_agent_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

configure_package_config_file(cmake/hearsayConfig.cmake.in ${PROJECT_BINARY_DIR}/hearsayConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearsayConfig.cmake ${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake
  DESTINATION ${package_dir})
