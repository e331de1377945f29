#define BIAS 0
