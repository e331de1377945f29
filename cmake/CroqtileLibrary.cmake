# choreo_library(<folder> [DEPS <folder>...] [PRIVATE <target>...])
# One static library choreo_<folder> of the .cpp files in the current folder. DEPS are the folders whose
# headers it may include: nothing else is linked, so a call across the layering does not link, and
# tools/check_layers finds an include that crosses it. PRIVATE are third-party targets which stay
# behind one .cpp. Files named *_test.cpp become the one binary choreo_<folder>_test.
function(choreo_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPS;PRIVATE")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(deps ${ARG_DEPS})
  list(TRANSFORM deps PREPEND choreo_)
  set(library choreo_${folder})
  if(sources)
    add_library(${library} STATIC ${sources})
    target_link_libraries(${library} PUBLIC choreo_flags fmt::fmt ${deps} PRIVATE ${ARG_PRIVATE})
    if(CROQTILE_PCH)
      target_precompile_headers(${library} REUSE_FROM choreo_pch)
    endif()
  else()
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE choreo_flags fmt::fmt ${deps})
  endif()

  if(CROQTILE_BUILD_TESTS AND tests)
    choreo_gtest(${library}_test SOURCES ${tests} LINK ${library} ${ARG_PRIVATE})
  endif()
endfunction()

# choreo_gtest(<name> SOURCES <file>... LINK <target>...): a GoogleTest binary, each test known to CTest.
function(choreo_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINK")
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE CROQTILE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unit)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
