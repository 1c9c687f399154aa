# Makes of a static library what a shared one is: one piece that shows what HEARSAY_API marks and nothing else.
#
# Inline functions are compiled into whatever uses them, and the linker keeps one copy of each: of a program's files and a
# static library's, the program's. Of Eigen's that is another function where the program was compiled with other flags:
# it allocates what the library's own code then frees in another way, and adds in another order. So the objects become
# one object, in which all that is hidden is local.
#
#   cmake -DARCHIVE=libhearsay.a -DLINKER=ld -DNM=nm -DOBJCOPY=objcopy -DAR=ar -P HearsaySeal.cmake
foreach(name IN ITEMS ARCHIVE LINKER NM OBJCOPY AR)
  if(NOT ${name})
    message(FATAL_ERROR "${name} = \"\": must be given")
  endif()
endforeach()
string(REGEX REPLACE "\\.a$" ".o" object "${ARCHIVE}")
set(sealed ${ARCHIVE}.sealed)
file(REMOVE ${sealed})

execute_process(COMMAND ${LINKER} -r --force-group-allocation --whole-archive ${ARCHIVE} -o ${object} COMMAND_ERROR_IS_FATAL ANY)

# Variables of inline functions are unique in a process, which objcopy makes local only once they are weak.
execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " u [^\n]+" unique "${symbols}")
list(TRANSFORM unique REPLACE "^ u " "")
list(JOIN unique "\n" unique)
file(WRITE ${object}.unique "${unique}\n")
execute_process(COMMAND ${OBJCOPY} --weaken-symbols=${object}.unique --localize-hidden ${object} COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${AR} rcs ${sealed} ${object} COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${sealed} ${ARCHIVE})
file(REMOVE ${object} ${object}.unique)
