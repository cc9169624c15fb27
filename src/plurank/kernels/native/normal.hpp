// The normal distribution, four numbers at a time: its distribution function, its quantiles, and truncated draws.
#pragma once

#include "lanes.hpp"

namespace plurank {

constexpr f64 FARTHEST_NORMAL = 37.0;  // standard deviations; beyond, probabilities are no normal numbers
constexpr f64 LEAST_NORMAL_TAIL = 1e-297;

INLINE Lanes sqrt(Lanes a) {
    return Lanes{__builtin_sqrt(a[0]), __builtin_sqrt(a[1]), __builtin_sqrt(a[2]), __builtin_sqrt(a[3])};
}

template <int N>
INLINE Lanes polynomial(const f64 (&coefficients)[N], Lanes t) {
    Lanes value = all(coefficients[N - 1]);
    for (int n = N - 2; n >= 0; --n) value = value * t + all(coefficients[n]);
    return value;
}

// P(normal < x). The tail is exp(-y^2 / 2) g(y) / (1 + y), with g a polynomial in t = (y - 4) / (y + 4), interpolated
// at Chebyshev's nodes; relative error 3e-13.
INLINE Lanes normal_cdf(Lanes x) {
    constexpr f64 TAIL[] = {
        0x1.e361ea6fb9fe2p-2,  -0x1.8c18f2086e3eep-4,  0x1.cabd72a83b10dp-7,   0x1.d4969f112112ap-6,
        -0x1.07c3c26a08d72p-5, 0x1.25dd71fceb631p-6,   -0x1.47d5f54dcc0cep-8,  -0x1.2b7f4051f5033p-12,
        0x1.6c520d580622dp-11, -0x1.8c14bc11fdf01p-14, -0x1.704f9dc8c443dp-14, 0x1.64b1e7f19724bp-16,
        0x1.c60db5f362c2ep-17, -0x1.cffd32dfe01bap-19, -0x1.4c231da0ebfd6p-19, 0x1.d9d31a297df2fp-22,
        0x1.caa7004215cb3p-22, -0x1.1d42f31c10bbep-25, -0x1.827f3ef01e58cp-25};
    const Lanes y = min(abs(x), all(FARTHEST_NORMAL));
    const Lanes t = (y - all(4.0)) / (y + all(4.0));
    const Lanes tail = exp(all(-0.5) * y * y) * polynomial(TAIL, t) / (all(1.0) + y);
    return select(x > all(0.0), all(1.0) - tail, tail);
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

// A draw of normal(mean, 1) between lower and upper, by the inverse of the distribution function at a uniform draw. The
// interval is mirrored where it lies above the mean, as small probabilities are exact and those near 1 are not.
INLINE Lanes truncated_normal(Lanes mean, Lanes lower, Lanes upper, Lanes uniform) {
    const Lanes a = lower - mean, b = upper - mean;
    const Mask above = a + b > all(0.0);
    const Lanes from = select(above, -b, a), to = select(above, -a, b);
    const Lanes p = normal_cdf(from), q = normal_cdf(to);
    const Lanes x = normal_quantile(p + uniform * (q - p));
    return min(max(mean + select(above, -x, x), lower), upper);
}

// P(lower < normal(mean, 1) < upper)
INLINE Lanes normal_between(Lanes mean, Lanes lower, Lanes upper) {
    const Lanes a = lower - mean, b = upper - mean;
    const Mask above = a + b > all(0.0);
    return max(normal_cdf(select(above, -a, b)) - normal_cdf(select(above, -b, a)), all(LEAST_NORMAL_TAIL));
}

}  // namespace plurank
