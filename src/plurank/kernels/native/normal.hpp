// The normal distribution, four numbers at a time: its distribution function, its quantiles, and truncated draws.
#pragma once

#include "lanes.hpp"

namespace plurank {

constexpr f64 FARTHEST_NORMAL = 37.0;  // standard deviations; beyond, probabilities are no normal numbers
constexpr f64 LEAST_NORMAL_TAIL = 1e-297;

INLINE Lanes sqrt(Lanes a) {
    return Lanes{__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3])};
}

// Even and odd powers apart: two chains of half the length.
template <int N>
INLINE Lanes polynomial(const f64 (&coefficients)[N], Lanes t) {
    const Lanes square = t * t;
    Lanes last = all(coefficients[N - 1]), other = all(coefficients[N - 2]);
    for (int n = N - 3; n >= 0; n -= 2) {
        last = last * square + all(coefficients[n]);
        if (n > 0) other = other * square + all(coefficients[n - 1]);
    }
    return N % 2 == 1 ? last + t * other : other + t * last;
}

// P(normal > |x|), with the sign of x. The tail is exp(-y^2 / 2) g(y) / (1 + y), with g a polynomial in
// t = (y - 4) / (y + 4), interpolated at Chebyshev's nodes; relative error 3e-13.
INLINE Lanes signed_tail(Lanes x) {
    constexpr f64 TAIL[] = {
        0x1.e361ea6fb9fe2p-2,  -0x1.8c18f2086e3eep-4,  0x1.cabd72a83b10dp-7,   0x1.d4969f112112ap-6,
        -0x1.07c3c26a08d72p-5, 0x1.25dd71fceb631p-6,   -0x1.47d5f54dcc0cep-8,  -0x1.2b7f4051f5033p-12,
        0x1.6c520d580622dp-11, -0x1.8c14bc11fdf01p-14, -0x1.704f9dc8c443dp-14, 0x1.64b1e7f19724bp-16,
        0x1.c60db5f362c2ep-17, -0x1.cffd32dfe01bap-19, -0x1.4c231da0ebfd6p-19, 0x1.d9d31a297df2fp-22,
        0x1.caa7004215cb3p-22, -0x1.1d42f31c10bbep-25, -0x1.827f3ef01e58cp-25};
    const Lanes y = min(abs(x), all(FARTHEST_NORMAL));
    const Lanes first = y + all(1.0), fourth = y + all(4.0);
    const Lanes inverse = all(1.0) / (first * fourth);  // one division for both
    const Lanes t = (y - all(4.0)) * first * inverse;
    return copy_sign(exp(all(-0.5) * y * y) * polynomial(TAIL, t) * fourth * inverse, x);
}

// x with P(normal < x) = p. The lower half is -r h(r), r = sqrt(-2 log p), with h a polynomial in
// t = (s - 4) / (s + 4), s = r - sqrt(2 log 2), interpolated at Chebyshev's nodes; error 3e-11.
INLINE Lanes normal_quantile(Lanes p) {
    constexpr f64 RATIO[] = {
        0x1.cdc1594748accp-1,   0x1.00184b1294f74p-2,   -0x1.00cc215d0882dp-2,  0x1.4e812d2b4d56fp-3,
        -0x1.9dc6621abb77bp-4,  0x1.e078c5d6a4d74p-5,   -0x1.1715bc6ab8c76p-5,  0x1.3a71df6d7e210p-6,
        -0x1.671cd80de95edp-7,  0x1.8d19af141b689p-8,   -0x1.c323490c851f3p-9,  0x1.f645032989448p-10,
        -0x1.211208908208fp-10, 0x1.c830176de3f12p-12,  -0x1.36f480cf0616dp-12, 0x1.fc79e533415e0p-12,
        -0x1.bac21ce2a0ecep-14, -0x1.acc5e90d79597p-12, -0x1.35ee7dd02ef75p-13, 0x1.9cb8bef2ace47p-12,
        0x1.4849ad069d64ep-13,  -0x1.29e3fbdac80bbp-13, -0x1.93517c3771813p-14};
    constexpr f64 AT_HALF = 0x1.2d6abe44afc43p0;  // sqrt(2 log 2)
    const Lanes tail = max(min(p, all(1.0) - p), all(LEAST_NORMAL_TAIL));
    const Lanes r = sqrt(all(-2.0) * log(tail)), s = r - all(AT_HALF);
    const Lanes x = r * polynomial(RATIO, (s - all(4.0)) / (s + all(4.0)));
    return select(p > all(0.5), x, -x);
}

// P(a < normal < b) by the signed tails of a and b.
INLINE Lanes normal_between(Lanes a, Lanes b) {
    return max(a - b + select((a < all(0.0)) & (b > all(0.0)), all(1.0), all(0.0)), all(LEAST_NORMAL_TAIL));
}

// A draw of normal(mean, 1) between lower and upper, given the signed tails of these, by the inverse of the
// distribution function at a uniform draw. The interval is mirrored where it lies above the mean, as small
// probabilities are exact and those near 1 are not.
INLINE Lanes truncated_normal(Lanes mean, Lanes lower, Lanes upper, Lanes low_tail, Lanes high_tail, Lanes uniform) {
    const Mask above = (lower - mean) + (upper - mean) > all(0.0);
    const Lanes from = select(above, high_tail, -low_tail), to = select(above, low_tail, -high_tail);
    const Lanes p = select(from > all(0.0), from, all(1.0) + from), q = select(to > all(0.0), to, all(1.0) + to);
    const Lanes x = normal_quantile(p + uniform * (q - p));
    return min(max(mean + select(above, -x, x), lower), upper);
}

INLINE Lanes truncated_normal(Lanes mean, Lanes lower, Lanes upper, Lanes uniform) {
    return truncated_normal(mean, lower, upper, signed_tail(lower - mean), signed_tail(upper - mean), uniform);
}

// A sum of logarithms of positive normal numbers, by one logarithm in the end: mantissas are multiplied, exponents
// added.
struct LogSum {
    static constexpr i64 MOST = 512;  // mantissas, below 2, whose product is a number
    Lanes product = all(1.0);
    Bits exponents = all(u64{0});
    i64 n = 0;

    INLINE_MEMBER void add(Lanes x) {
        product *= split(x);
        if (n % MOST == 0) product = split(product);
    }

    INLINE_MEMBER f64 value() {
        const Lanes logs = log(product);
        f64 total = 0.0;
        for (i64 c = 0; c < N_LANES; ++c)
            total += static_cast<f64>(static_cast<i64>(exponents[c]) - 1023 * n) * (LN2_HIGH + LN2_LOW) + logs[c];
        return total;
    }

 private:
    // Return the mantissa of a number, and add its exponent, which is 1023 more than it says.
    INLINE_MEMBER Lanes split(Lanes x) {
        constexpr u64 MANTISSA = 0x000fffffffffffff;
        exponents = exponents + (bits_of(x) >> 52);
        ++n;
        return from_bits((bits_of(x) & all(MANTISSA)) | bits_of(all(1.0)));
    }
};

}  // namespace plurank
