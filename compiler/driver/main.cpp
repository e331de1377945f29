#include "driver/commands.h"

int main(int argc, char** argv) { return choreo::driver::Main(argc, argv); }
