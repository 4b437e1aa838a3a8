#include "sharedcore_backend.h"

// A plugin that was built by another compiler reads the same structures.
_Static_assert(sizeof(sb_error) == 768, "the error has no padding");
_Static_assert(sizeof(sb_place) == 56 && sizeof(sb_promises) == 24 && sizeof(sb_setting) == 32, "as every compiler of a 64-bit system lays it out");
