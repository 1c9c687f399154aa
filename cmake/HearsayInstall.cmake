# install() and the package that find_package(hearsay) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS hearsay hearsay_io EXPORT hearsayTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/hearsay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/include/hearsay/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearsay)
if(HEARSAY_BUILD_APPS)
  install(TARGETS hearsay_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(HEARSAY_BUILD_MPI)
    install(TARGETS hearsay_mpi_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearsay)
if(HEARSAY_BUILD_MPI)  # a component of its own: who does not ask for it needs no MPI
  install(TARGETS hearsay_mpi EXPORT hearsayMpiTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT hearsayMpiTargets NAMESPACE hearsay:: DESTINATION ${package_dir})
endif()
install(EXPORT hearsayTargets NAMESPACE hearsay:: DESTINATION ${package_dir})
configure_package_config_file(cmake/hearsayConfig.cmake.in ${PROJECT_BINARY_DIR}/hearsayConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hearsayConfig.cmake ${PROJECT_BINARY_DIR}/hearsayConfigVersion.cmake
  DESTINATION ${package_dir})
