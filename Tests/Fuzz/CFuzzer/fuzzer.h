#ifndef SHAREDCORE_FUZZER_H
#define SHAREDCORE_FUZZER_H

// What the targets call of libFuzzer, after compiler-rt/include/fuzzer/FuzzerInterface.h of LLVM 21.

#include <stddef.h>
#include <stdint.h>

/// Fuzzes `test` as the arguments say, and ends the process.
int LLVMFuzzerRunDriver(int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull test)(const uint8_t *_Nullable data, size_t size));

/// Mutates bytes in place in the library's own ways. Returns the new size.
size_t LLVMFuzzerMutate(uint8_t *_Nonnull data, size_t size, size_t maximum_size);

#endif
