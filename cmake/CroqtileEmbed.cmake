# choreo_embed_text(<target> <file>)
# Makes the text of <file> available to <target> as a C++ literal:
#   constexpr std::string_view kPrologue =
#   #include "codegen/prologue.cu.inc"
#   ;
# where codegen is the folder under compiler/ and prologue.cu the file. The file itself stays a real one,
# with its own highlighting and compiler.
function(choreo_embed_text target file)
  file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/compiler ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(output ${PROJECT_BINARY_DIR}/generated/${relative}.inc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -P
            ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
