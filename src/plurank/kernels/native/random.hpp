// Uniform draws that depend on a key alone: SplitMix64.
#pragma once

#include "lanes.hpp"

namespace plurank {

constexpr u64 GOLDEN = 0x9E3779B97F4A7C15;

INLINE u64 mix_bits(u64 mixed) {
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

// A stream of uniform draws in [0, 1).
struct Stream {
    u64 state;
    INLINE_MEMBER f64 next() {
        state += GOLDEN;
        return static_cast<f64>(mix_bits(state) >> 11) * 0x1p-53;
    }
    INLINE_MEMBER Lanes next_lanes() {
        const f64 a = next(), b = next(), c = next(), d = next();
        return Lanes{a, b, c, d};
    }
    // The stream number n of those that a key has.
    static INLINE_MEMBER Stream of(u64 key, i64 n) { return {mix_bits(key + GOLDEN * static_cast<u64>(n + 1))}; }
};

}  // namespace plurank
