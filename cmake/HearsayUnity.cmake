# Files of one folder compiled together, a few at a time: what they all include is read once, and a template that several
# of them use is written out once. The presets dev, demo, sanitize and fuzz ask for it. No other build does, so that every file
# still has to stand alone: users, release and the Python package compile them one by one.
option(HEARSAY_UNITY "Compile files of the same folder together" OFF)

# hearsay_unity(name): eight files of a folder together at most; a file with a UNITY_GROUP of its own stays in that. The
# kernels, compiled for three instruction sets, are left out: they must share nothing (docs/architecture.md). So is linalg
# but for two files: the others took as long together as one by one.
function(hearsay_unity name)
  if(NOT HEARSAY_UNITY)
    return()
  endif()
  set(most 8)
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$].*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/src/(kernels|linalg)/")
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    get_source_file_property(group ${source} TARGET_DIRECTORY ${name} UNITY_GROUP)
    if(group)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    list(APPEND folders ${folder})
    list(APPEND files_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    # as many groups as needed, and as equal as can be
    list(LENGTH files_of_${folder} files)
    math(EXPR groups "(${files} + ${most} - 1) / ${most}")
    set(file 0)
    foreach(source IN LISTS files_of_${folder})
      math(EXPR group "${file} * ${groups} / ${files}")
      math(EXPR file "${file} + 1")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${name} PROPERTY UNITY_GROUP ${folder}_${group})
    endforeach()
  endforeach()
endfunction()
