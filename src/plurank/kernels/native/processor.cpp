// What this processor can do; asked of the baseline library before the other one is loaded.

#include "lanes.hpp"

// To be raised, with ABI_VERSION in library.py, where the arguments of a function change: a stale library is then
// refused.
EXPORT int abi_version() { return 3; }

EXPORT int has_avx2() {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}
