# Script: installs BUILD below WORK, configures, builds and runs PROJECT against it.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(JOIN " " command ${ARGN})
  message(STATUS "${command}\n${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "exit status ${result}: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# Moved, because a prefix is packed on one machine and unpacked elsewhere on another.
file(RENAME ${WORK}/prefix ${WORK}/elsewhere)

file(COPY ${PROJECT} DESTINATION ${WORK})
step(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
     -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/elsewhere)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/app)
if(NOT output MATCHES "1000 elements scaled by 3")
  message(FATAL_ERROR "unexpected output: ${output}")
endif()

# Without a change nothing is compiled again; a change of an included .co.h is one.
step(${CMAKE_COMMAND} --build ${WORK}/build)
if(output MATCHES "choreo compile")
  message(FATAL_ERROR "the kernel was compiled again without a change")
endif()
file(WRITE ${WORK}/project/factor.co.h "#define BIAS 1\n")
step(${CMAKE_COMMAND} --build ${WORK}/build)
if(NOT output MATCHES "choreo compile")
  message(FATAL_ERROR "a change of factor.co.h did not compile the kernel again")
endif()
execute_process(COMMAND ${WORK}/build/app RESULT_VARIABLE result)
if(result EQUAL 0)
  message(FATAL_ERROR "the program still computes with the old factor.co.h")
endif()
