// Functions in C that the library's Swift code calls. They are not a part of the library's interface.

#pragma once

#include "sharedcore.h"

/// Fills in the error of a call in a forked child. In C, because a thread of the parent may have held a lock of Swift's runtime when
/// the process was forked, and nothing frees that in the child.
///
/// Returns SC_ERR_FORKED.
__attribute__((visibility("hidden"))) int32_t sharedcore_refuse_forked_child(sc_error *error);
