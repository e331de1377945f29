// A header may hold macros, but no tile function.
#pragma once
#define WIDTH 64
__co__ void in_header(int n) { parallel by 1 : block {} }  // expected-error {{may not contain a tile function}} [TileFunctionInHeader]
