# choreo_merge_archives(<name> <target>...)
# lib/croqtile/lib<name>.a with the objects of all the static libraries, built and installed. The folder
# is the same in a build tree and in any prefix, a multi-arch one included.
function(choreo_merge_archives name)
  set(output ${PROJECT_BINARY_DIR}/lib/croqtile/lib${name}.a)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/croqtile)
  set(script "CREATE ${output}\n")
  set(depends)
  foreach(target ${ARGN})
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      string(APPEND script "ADDLIB $<TARGET_FILE:${target}>\n")
      list(APPEND depends ${target})
    endif()
  endforeach()
  string(APPEND script "SAVE\nEND\n")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.mri CONTENT "${script}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_AR} -M < ${CMAKE_CURRENT_BINARY_DIR}/${name}.mri
    DEPENDS ${depends} ${CMAKE_CURRENT_BINARY_DIR}/${name}.mri
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${output})
  install(FILES ${output} DESTINATION lib/croqtile)
endfunction()
