# A Debian package of what is installed: `cpack` in a build for the prefix /usr, as ./dev release makes it.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearsay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The hearsay developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "The command line, the libraries, their headers and the package that find_package(hearsay) finds.
PCA, leading eigenvectors and spectral embeddings of a matrix known through exact or inexact products.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_MONOLITHIC_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What find_package(hearsay) looks for; the command line does without.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libeigen3-dev, libfmt-dev, zlib1g-dev, libssl-dev, libcurl4-openssl-dev, libhdf5-dev")
include(CPack)
