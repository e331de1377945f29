# Script: writes the text of INPUT as one raw string literal to OUTPUT.
file(READ ${INPUT} text)
if(text MATCHES "\\)choreo_text\"")
  message(FATAL_ERROR "${INPUT} contains the delimiter )choreo_text\"")
endif()
file(WRITE ${OUTPUT} "R\"choreo_text(${text})choreo_text\"\n")
