# choreo_add_kernel(<target> <file.co> [TARGET cuda|sim] [DEFINES NAME[=VALUE]...] [OPTIONS <flag>...])
# Compiles a .co file with choreo at build time and makes <target>, an object library of the result,
# which an executable or a library links:
#   choreo_add_kernel(scale scale.co TARGET sim)
#   target_link_libraries(app PRIVATE scale)
# TARGET cuda (the default) needs the language CUDA enabled and compiles for sm_90a; TARGET sim needs a
# C++20 compiler only and links the simulator. The folder of the .co file is an include folder.
function(choreo_add_kernel target file)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "TARGET" "DEFINES;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "choreo_add_kernel(${target}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_TARGET)
    set(ARG_TARGET cuda)
  endif()
  if(ARG_TARGET STREQUAL "cuda")
    set(extension cu)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "CUDA" IN_LIST languages)
      message(FATAL_ERROR "choreo_add_kernel(${target}): TARGET cuda needs enable_language(CUDA)")
    endif()
  elseif(ARG_TARGET STREQUAL "sim")
    set(extension cpp)
  else()
    message(FATAL_ERROR "choreo_add_kernel(${target}): TARGET is `${ARG_TARGET}`, not cuda or sim")
  endif()

  get_filename_component(source ${file} ABSOLUTE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(stem ${source} NAME_WE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}.choreo/${stem}.${extension})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.choreo)
  set(defines ${ARG_DEFINES})
  list(TRANSFORM defines PREPEND -D)

  add_custom_command(
    OUTPUT ${output}
    COMMAND Croqtile::choreo compile ${source} --target=${ARG_TARGET} -o ${output} -MD ${defines}
            ${ARG_OPTIONS}
    DEPENDS ${source} Croqtile::choreo
    DEPFILE ${output}.d
    COMMENT "choreo compile ${stem}.co (${ARG_TARGET})"
    VERBATIM)

  add_library(${target} OBJECT ${output})
  target_include_directories(${target} PRIVATE ${folder})
  if(ARG_TARGET STREQUAL "cuda")
    target_link_libraries(${target} PUBLIC Croqtile::runtime)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES 90a CUDA_STANDARD 20)
    set_source_files_properties(${output} PROPERTIES LANGUAGE CUDA)
  else()
    target_link_libraries(${target} PUBLIC Croqtile::simulator)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  endif()
endfunction()
