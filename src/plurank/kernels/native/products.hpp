// Sums of products of rows, and draws from the Gaussian whose precision they are.
#pragma once

#include "normal.hpp"
#include "random.hpp"
#include "simplex.hpp"

namespace plurank {

#ifdef __AVX2__
constexpr i64 MOST_LANES = 3;  // of a block of four rows that is held in registers
#else
constexpr i64 MOST_LANES = 1;
#endif

INLINE f64 dot(const f64* a, const f64* b, i64 width) {
    Lanes total = all(0.0);
    for (i64 m = 0; m < width; m += N_LANES) total += load(a + m) * load(b + m);
    return sum(total);
}

// Dot products of four rows with b.
INLINE Lanes dots(const f64* const* rows, const f64* b, i64 width) {
    Lanes total[4] = {all(0.0), all(0.0), all(0.0), all(0.0)};
    for (i64 m = 0; m < width; m += N_LANES) {
        const Lanes other = load(b + m);
        for (i64 c = 0; c < 4; ++c) total[c] += load(rows[c] + m) * other;
    }
    return sums(total[0], total[1], total[2], total[3]);
}

INLINE void prefetch_row(const f64* row, i64 width) {
    for (i64 m = 0; m < width; m += 8) prefetch(row + m);  // a cache line
}

// Sums, over rows x (size,) with a value each, of products x x^T, the upper triangle, and of x times value.
//
// Rows wait in a chunk that fits into the cache, with the value behind them, so that it is one more column. Every
// number is summed row by row, however the matrix is cut into blocks.
struct RowSums {
    static constexpr i64 CHUNK = 64;
    i64 size, width, n = 0;  // width: of rows with their value
    f64 *chunk, *matrix;     // (CHUNK, width), (padded(size), width)

    RowSums(Arena& arena, i64 size) : size(size), width(padded(size + 1)) {
        chunk = arena.take(CHUNK * width);
        matrix = arena.take(padded(size) * width);
    }

    void clear() {
        n = 0;
        for (i64 c = 0; c < padded(size) * width; ++c) matrix[c] = 0.0;
    }

    // Add a row (padded(size),) that ends in zeros.
    INLINE_MEMBER void add(const f64* row, f64 value) {
        f64* to = chunk + n * width;
        store(to + width - N_LANES, all(0.0));
        for (i64 m = 0; m < padded(size); m += N_LANES) store(to + m, load(row + m));
        to[size] = value;
        if (++n == CHUNK) finish();
    }

    // Add what waits.
    void finish() {
        for (i64 k = 0; k < size; k += N_LANES) {
            i64 m = k;
            for (; m + MOST_LANES * N_LANES <= width; m += MOST_LANES * N_LANES) add_block<MOST_LANES>(k, m);
            if (MOST_LANES > 2 && m + 2 * N_LANES <= width) {
                add_block<2>(k, m);
                m += 2 * N_LANES;
            }
            if (m < width) add_block<1>(k, m);
        }
        n = 0;
    }

    // Add to rows k to k + 3 of the matrix, so many lanes from column m on.
    template <i64 COUNT>
    INLINE_MEMBER void add_block(i64 k, i64 m) {
        Lanes total[4][COUNT];
        f64* to = matrix + k * width + m;
        for (i64 r = 0; r < 4; ++r)
            for (i64 c = 0; c < COUNT; ++c) total[r][c] = load(to + r * width + c * N_LANES);
        for (i64 e = 0; e < n; ++e) {
            const f64* row = chunk + e * width;
            Lanes x[COUNT];
            for (i64 c = 0; c < COUNT; ++c) x[c] = load(row + m + c * N_LANES);
            for (i64 r = 0; r < 4; ++r) {
                const Lanes factor = all(row[k + r]);
                for (i64 c = 0; c < COUNT; ++c) total[r][c] += factor * x[c];
            }
        }
        for (i64 r = 0; r < 4; ++r)
            for (i64 c = 0; c < COUNT; ++c) store(to + r * width + c * N_LANES, total[r][c]);
    }
};

INLINE void fill_normals(Stream& stream, i64 n, f64* normals) {
    for (i64 k = 0; k < n; k += N_LANES) store(normals + k, normal_quantile(stream.next_lanes()));
}

// A Gaussian N(P^-1 x, P^-1), P = U^T U.
struct Gaussian {
    i64 n, width;
    f64 *precision, *inverses, *normals, *x;  // (n, width), upper triangle; (width,): 1 / diagonal of U, draws, x

    Gaussian(Arena& arena, i64 n) : n(n), width(padded(n)) {
        precision = arena.take(n * width);
        for (f64** vector : {&inverses, &normals, &x}) *vector = arena.take(width);
    }

    // Replace x by a draw; returns the logarithm of the Gaussian's normalising constant, exp(x P^-1 x / 2) |P|^-1/2.
    f64 draw(Stream& stream) {
        fill_normals(stream, n, normals);
        factorise(precision, inverses, n, width);
        f64 squares = 0.0;
        for (i64 k = 0; k < n; ++k) {  // U^T y = x
            const f64* row = precision + k * width;
            const f64 y = x[k] * inverses[k];
            for (i64 m = k + 1; m < n; ++m) x[m] -= y * row[m];
            x[k] = y;
            squares += y * y;
        }
        for (i64 k = n - 1; k >= 0; --k) {
            const f64* row = precision + k * width;
            f64 rest = x[k] + normals[k];
            for (i64 m = k + 1; m < n; ++m) rest -= row[m] * x[m];
            x[k] = rest * inverses[k];
        }
        LogSum volume;
        for (i64 k = n; k < width; ++k) inverses[k] = 1.0;
        for (i64 k = 0; k < n; k += N_LANES) volume.add(load(inverses + k));
        return 0.5 * squares + volume.value();
    }
};

}  // namespace plurank
