# install() and the package that find_package(hearsay) finds. The core is always there; hearsay::io, hearsay::datasets and
# hearsay::mpi are components, each with a file of its own, so that who does not link one needs nothing it leans on.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearsay)

# hearsay_install_library(target name): one of our libraries, and name.cmake that stands for it.
function(hearsay_install_library target name)
  install(TARGETS ${target} EXPORT ${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${name} NAMESPACE hearsay:: DESTINATION ${package_dir})
endfunction()

set(headers_left_out)
hearsay_install_library(hearsay hearsayTargets)
if(HEARSAY_BUILD_IO)
  hearsay_install_library(hearsay_io hearsayIoTargets)
else()
  list(APPEND headers_left_out PATTERN "hearsay/io" EXCLUDE)
endif()
if(HEARSAY_BUILD_DATASETS)
  hearsay_install_library(hearsay_datasets hearsayDatasetsTargets)
else()
  list(APPEND headers_left_out PATTERN "hearsay/datasets.hpp" EXCLUDE)
endif()
if(HEARSAY_BUILD_MPI)
  hearsay_install_library(hearsay_mpi hearsayMpiTargets)
else()
  list(APPEND headers_left_out PATTERN "hearsay/mpi.hpp" EXCLUDE)
endif()

install(DIRECTORY include/hearsay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" ${headers_left_out})
install(FILES ${PROJECT_BINARY_DIR}/include/hearsay/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearsay)
if(HEARSAY_BUILD_APPS)
  install(TARGETS hearsay_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(HEARSAY_BUILD_MPI)
    install(TARGETS hearsay_mpi_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

configure_package_config_file(cmake/hearsayConfig.cmake.in ${PROJECT_BINARY_DIR}/hearsayConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearsayConfig.cmake ${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake
  DESTINATION ${package_dir})
