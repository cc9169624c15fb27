// Four doubles at a time, with the same bits on every processor.
//
// The compiler maps Lanes to whatever the target has: one AVX register, two SSE2 or NEON registers. Each lane is
// computed by the same IEEE operations in the same order, and contraction to fused multiply-adds is off (setup.py), so
// that results do not depend on the instruction set. For the same reason exp and log are our own.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

#define INLINE_MEMBER inline __attribute__((always_inline))
#define INLINE_LAMBDA __attribute__((always_inline))
#define INLINE static INLINE_MEMBER
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace plurank {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;

constexpr i64 N_LANES = 4;

INLINE i64 min(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 max(i64 a, i64 b) { return a > b ? a : b; }
INLINE f64 min(f64 a, f64 b) { return a < b ? a : b; }
INLINE f64 max(f64 a, f64 b) { return a > b ? a : b; }
INLINE f64 abs(f64 a) { return __builtin_fabs(a); }

// Round a length up to whole vectors.
INLINE i64 padded(i64 n) { return (n + N_LANES - 1) / N_LANES * N_LANES; }

#ifdef __AVX2__

typedef f64 Lanes __attribute__((vector_size(32)));
typedef u64 Bits __attribute__((vector_size(32)));
typedef i64 Mask __attribute__((vector_size(32)));  // what comparisons return: all bits of a lane, or none

INLINE Lanes load(const f64* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
INLINE void store(f64* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }
INLINE Bits bits_of(Lanes lanes) { return reinterpret_cast<Bits>(lanes); }
INLINE Lanes from_bits(Bits bits) { return reinterpret_cast<Lanes>(bits); }

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#define __builtin_shufflevector(a, b, ...) __builtin_shuffle(a, b, Mask{__VA_ARGS__})
#endif

// Transpose a 4 x 4 matrix of four rows in place.
INLINE void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Lanes ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Lanes cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
    d = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
}

#else

// Two registers of two numbers: compilers make slow code of vectors that are wider than the processor's.
template <class Number>
struct Halves {
    typedef Number Half __attribute__((vector_size(16)));
    Half low, high;
    Halves() = default;
    INLINE_MEMBER Halves(Number a, Number b, Number c, Number d) : low{a, b}, high{c, d} {}
    INLINE_MEMBER Halves(Half low, Half high) : low(low), high(high) {}
    INLINE_MEMBER Number operator[](i64 i) const { return i < 2 ? low[i] : high[i - 2]; }
#define PLURANK_BINARY(op) \
    friend INLINE_MEMBER Halves operator op(Halves a, Halves b) { return {a.low op b.low, a.high op b.high}; }
    PLURANK_BINARY(+)
    PLURANK_BINARY(-)
    PLURANK_BINARY(*)
    PLURANK_BINARY(/)
    PLURANK_BINARY(&)
    PLURANK_BINARY(|)
#undef PLURANK_BINARY
    INLINE_MEMBER Halves& operator+=(Halves other) { return *this = *this + other; }
    INLINE_MEMBER Halves& operator*=(Halves other) { return *this = *this * other; }
    friend INLINE_MEMBER Halves operator-(Halves a) { return {-a.low, -a.high}; }
    friend INLINE_MEMBER Halves operator~(Halves a) { return {~a.low, ~a.high}; }
    friend INLINE_MEMBER Halves operator<<(Halves a, int n) { return {a.low << n, a.high << n}; }
    friend INLINE_MEMBER Halves operator>>(Halves a, int n) { return {a.low >> n, a.high >> n}; }
};
using Lanes = Halves<f64>;
using Bits = Halves<u64>;
using Mask = Bits;  // what comparisons return: all bits of a lane, or none
#define PLURANK_COMPARISON(op)                                                                                 \
    INLINE Mask operator op(Lanes a, Lanes b) {                                                                \
        return {reinterpret_cast<Bits::Half>(a.low op b.low), reinterpret_cast<Bits::Half>(a.high op b.high)}; \
    }
PLURANK_COMPARISON(<)
PLURANK_COMPARISON(>)
PLURANK_COMPARISON(>=)
#undef PLURANK_COMPARISON

INLINE Lanes load(const f64* from) {
    Lanes lanes;
    std::memcpy(&lanes.low, from, sizeof lanes.low);
    std::memcpy(&lanes.high, from + 2, sizeof lanes.high);
    return lanes;
}
INLINE void store(f64* to, Lanes lanes) {
    std::memcpy(to, &lanes.low, sizeof lanes.low);
    std::memcpy(to + 2, &lanes.high, sizeof lanes.high);
}
INLINE Bits bits_of(Lanes lanes) {
    return {reinterpret_cast<Bits::Half>(lanes.low), reinterpret_cast<Bits::Half>(lanes.high)};
}
INLINE Lanes from_bits(Bits bits) {
    return {reinterpret_cast<Lanes::Half>(bits.low), reinterpret_cast<Lanes::Half>(bits.high)};
}

// Transpose a 4 x 4 matrix of four rows in place.
INLINE void transpose(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    const Lanes first = a, second = b, third = c, fourth = d;
    using Half = Lanes::Half;
    const auto even = [](Half x, Half y) INLINE_LAMBDA { return Half{x[0], y[0]}; };
    const auto odd = [](Half x, Half y) INLINE_LAMBDA { return Half{x[1], y[1]}; };
    a = {even(first.low, second.low), even(third.low, fourth.low)};
    b = {odd(first.low, second.low), odd(third.low, fourth.low)};
    c = {even(first.high, second.high), even(third.high, fourth.high)};
    d = {odd(first.high, second.high), odd(third.high, fourth.high)};
}

#endif

INLINE void prefetch(const f64* from) { __builtin_prefetch(from); }
constexpr i64 AHEAD = 16;        // comparisons or items whose rows of large tables are fetched before they are needed
constexpr i64 IN_CACHE = 32768;  // numbers of a table that is not large

INLINE Lanes all(f64 value) { return Lanes{value, value, value, value}; }
INLINE f64 sum(Lanes lanes) { return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]); }

INLINE Bits all(u64 value) { return Bits{value, value, value, value}; }
// mask ? a : b for masks that are all ones or all zeros in a lane.
INLINE Lanes select(Mask mask, Lanes a, Lanes b) {
    const Bits chosen = (Bits)mask;
    return from_bits((chosen & bits_of(a)) | (~chosen & bits_of(b)));
}
// NaN in the first argument stays NaN.
INLINE Lanes max(Lanes a, Lanes b) { return select(a < b, b, a); }
INLINE Lanes min(Lanes a, Lanes b) { return select(a > b, b, a); }
INLINE Lanes abs(Lanes a) { return from_bits(bits_of(a) & all(u64{0x7fffffffffffffff})); }
// The absolute value of a number that is at least 0, with the sign of another.
INLINE Lanes copy_sign(Lanes a, Lanes sign) { return from_bits(bits_of(a) | (bits_of(sign) & all(u64{1} << 63))); }

// The sums of four vectors as one: {sum(a), sum(b), sum(c), sum(d)}.
INLINE Lanes sums(Lanes a, Lanes b, Lanes c, Lanes d) {
    transpose(a, b, c, d);
    return (a + c) + (b + d);
}

constexpr f64 LN2_HIGH = 0x1.62e42feep-1;  // n LN2_HIGH is exact for all exponents n
constexpr f64 LN2_LOW = 0x1.a39ef35793c76p-33;

// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2, by its Taylor series. x is clamped to where it is a normal
// number.
INLINE Lanes exp(Lanes x) {
    constexpr f64 ROUND = 0x1.8p52;  // adding it rounds to an integer, which is then in the lowest bits
    x = min(max(x, all(-708.0)), all(709.0));
    const Lanes shifted = x * all(0x1.71547652b82fep0) + all(ROUND);
    const Lanes n = shifted - all(ROUND);
    const Lanes r = (x - n * all(LN2_HIGH)) - n * all(LN2_LOW);
    Lanes series = all(1.0 / 6227020800.0);
    constexpr f64 INVERSE_FACTORIALS[] = {
        1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
        1.0 / 120.0,       1.0 / 24.0,       1.0 / 6.0,       1.0 / 2.0,      1.0,           1.0};
    for (const f64 term : INVERSE_FACTORIALS) series = series * r + all(term);
    return from_bits(bits_of(series) + (bits_of(shifted) << 52));
}

// log(x) of positive normal numbers: x = 2^e m, sqrt(1/2) <= m < sqrt(2), f = m - 1, s = f / (2 + f), and
// log m = 2 atanh(s) = f - s (f - R), R = 2/3 s^2 + 2/5 s^4 + ...
INLINE Lanes log(Lanes x) {
    constexpr u64 SQRT_HALF = 0x3fe6a09e667f3bcd, ONE = 0x3ff0000000000000, MANTISSA = 0x000fffffffffffff;
    constexpr f64 INTEGERS = 0x1p52;  // integers below it are the lowest bits of INTEGERS + n
    const Bits moved = bits_of(x) + all(ONE - SQRT_HALF);
    const Bits exponent = moved >> 52;
    const Lanes e = from_bits(exponent | bits_of(all(INTEGERS))) - all(INTEGERS + 1023.0);
    const Lanes f = from_bits((moved & all(MANTISSA)) + all(SQRT_HALF)) - all(1.0);
    const Lanes s = f / (all(2.0) + f);
    const Lanes z = s * s;
    Lanes series = all(2.0 / 21.0);
    for (i64 odd = 19; odd >= 3; odd -= 2) series = series * z + all(2.0 / static_cast<f64>(odd));
    return e * all(LN2_HIGH) + (f - (s * (f - z * series) - e * all(LN2_LOW)));
}

INLINE f64 exp(f64 x) { return exp(all(x))[0]; }

// log(x) of any x: NaN where it has none.
INLINE f64 log(f64 x) {
    constexpr f64 LEAST_NORMAL = 0x1p-1022, LARGEST = 0x1.fffffffffffffp1023;
    if (x >= LEAST_NORMAL && x <= LARGEST) return log(all(x))[0];
    if (x > 0.0) return x > LARGEST ? x : log(all(x * 0x1p60))[0] - 60.0 * (LN2_HIGH + LN2_LOW);
    return x == 0.0 ? -__builtin_inf() : __builtin_nan("");
}

}  // namespace plurank
