function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

# outside(prefix build option...): the outside project against what is installed there.
function(outside prefix build)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE_DIR} -B ${build} -DCMAKE_CXX_COMPILER=${CXX} -DHEARSAY_VERSION=${VERSION}
    -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${FLAGS}" -DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/core)
endfunction()

# with_pkg_config(prefix): one file, compiled by hand. Its own symbols are hidden, as in many programs, and it
# must catch our errors all the same.
function(with_pkg_config prefix)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    message(STATUS "no pkg-config here: nobody looks at the .pc files")
    return()
  endif()
  file(GLOB_RECURSE pc ${prefix}/*/hearsay.pc)
  get_filename_component(pc ${pc} DIRECTORY)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc} ${PKG_CONFIG} --cflags --libs hearsay-datasets
    OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(ours UNIX_COMMAND "${FLAGS}")
  get_filename_component(lib ${pc} DIRECTORY)
  run(${CXX} -std=c++20 ${ours} -fvisibility=hidden ${SOURCE_DIR}/main.cpp -o ${WORK_DIR}/by_pkg_config ${flags} -Wl,-rpath,${lib})
  run(${WORK_DIR}/by_pkg_config ${WORK_DIR}/outside.npy)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR}/prefix ${WORK_DIR}/core_prefix ${WORK_DIR}/outside ${WORK_DIR}/core_outside)
if(KIND STREQUAL "static")
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/prefix)
  outside(${WORK_DIR}/prefix ${WORK_DIR}/outside)
  run(${WORK_DIR}/outside/outside ${WORK_DIR}/outside.npy)
  run(${WORK_DIR}/prefix/bin/hearsay --version)
  if(MPIEXEC)
    run(${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${MPIEXEC} -n 3 ${WORK_DIR}/outside/outside_mpi)
  endif()
  with_pkg_config(${WORK_DIR}/prefix)
  return()
endif()

if(NOT "$ENV{CI}" STREQUAL "true")
  message(STATUS "left out: the libraries would be compiled again, which takes minutes; CI=true does it")
  return()
elseif(FLAGS MATCHES "sanitize")
  message(STATUS "left out: the libraries would be compiled again under the sanitizers; the build of the tests does it")
  return()
endif()
set(FLAGS "-O1")
set(shared -G ${GENERATOR} -S ${HEARSAY_DIR} -B ${WORK_DIR}/build -DCMAKE_CXX_COMPILER=${CXX} -DBUILD_SHARED_LIBS=ON
  -DHEARSAY_PRECOMPILE=ON -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--no-undefined -DHEARSAY_BUILD_APPS=OFF
  -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${FLAGS}")

# The core needs neither zlib nor OpenSSL nor libcurl, and its user not even fmt.
set(without -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON)
run(${CMAKE_COMMAND} ${shared} ${without} -DHEARSAY_BUILD_IO=OFF -DHEARSAY_BUILD_DATASETS=OFF -DHEARSAY_BUILD_MPI=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/build --prefix ${WORK_DIR}/core_prefix)
outside(${WORK_DIR}/core_prefix ${WORK_DIR}/core_outside ${without} -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON)

list(TRANSFORM without REPLACE "=ON" "=OFF")
run(${CMAKE_COMMAND} ${shared} ${without} -DHEARSAY_BUILD_IO=ON -DHEARSAY_BUILD_DATASETS=ON)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/build --prefix ${WORK_DIR}/prefix)
outside(${WORK_DIR}/prefix ${WORK_DIR}/outside)
run(${WORK_DIR}/outside/outside ${WORK_DIR}/outside.npy)
with_pkg_config(${WORK_DIR}/prefix)
