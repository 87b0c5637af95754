// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/selftest.h"

#include "gpu/kernels/arithmetic_probe.h"
#include "gpu/selftest_parity.h"

#include <limits>

namespace forkpoint {

namespace {

struct HashVector
{
    std::size_t size;
    const char *digest;
};

/// Byte i of the input is (131 i + 7 (i >> 8) + 3) mod 256. Digests by python3-xxhash 3.2.0, which
/// runs libxxhash.
constexpr HashVector HashVectors[] = {
    {0, "99aa06d3014798d86001c324468d497f"},      {1, "22bbb76b211a39ba13e608bc156defed"},
    {3, "a7141a4d6424893f974a8c6fa70c32a8"},      {4, "a5a284530171a9ca0ee6722bc7d19bbe"},
    {8, "90e6eaccb9cf286bc3a3a1cc01cb8f0b"},      {9, "41ce99dfa1057da6c0738415ca1ac039"},
    {16, "f3e407b341dfba3134dbab61519e4476"},     {17, "1879de0d8e7d0625980d68f6d41eb28d"},
    {64, "5a9fdc7e54436be86796c847ecbd7dcb"},     {128, "02ce7d90c5eae3de1b06f186fe566ffc"},
    {129, "cce6effe0dedc24455387bdda5accd8f"},    {240, "7db5606af28958ff1b7ccd7ad717c030"},
    {241, "bcb184a76a650df6ef630bb6bb6cfe02"},    {1024, "523bb732f3875ac646703f18d0b7abc5"},
    {1025, "581a3d82d4006465178c11ef15cb206e"},   {65536, "4ee9bd0ffb9a7f44f6a4c3d66e435de9"},
    {100000, "7d07e4c7621135dd595b62ffc37f60f6"},
};

class Checker
{
public:
    void check(bool good, const std::string &what)
    {
        if (good) {
            ++m_report.passed;
            return;
        }
        ++m_report.failed;
        m_report.failures.push_back(what);
    }

    template <class T>
    void equal(const T &found, const T &expected, const std::string &what)
    {
        check(found == expected,
              what + ": expected " + std::to_string(expected) + ", found " + std::to_string(found));
    }

    SelftestReport take() { return std::move(m_report); }

private:
    SelftestReport m_report;
};

std::vector<std::byte> pattern(std::size_t size)
{
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 7 + 3) & 0xFF);
    return bytes;
}

void checkHashes(const ComputeBackend &backend, Checker &checker)
{
    for (const HashVector &vector : HashVectors) {
        const std::string found = backend.hash(pattern(vector.size)).toHex();
        checker.check(found == vector.digest,
                      "XXH3-128 of " + std::to_string(vector.size) + " bytes: expected "
                          + vector.digest + ", found " + found);
    }
}

template <class T>
ByteView bytesOf(const std::vector<T> &values)
{
    return std::as_bytes(std::span(values));
}

DiffStats statistics(const ComputeBackend &backend, std::string_view type, ByteView a, ByteView b,
                     Index elements)
{
    DiffStats stats;
    if (const auto dtype = dtypeByName(type))
        backend.diff(*dtype, a, b, 0, elements, {}, stats);
    return stats;
}

/// 5000 elements with one difference: the sums are small integers, so every order is exact.
void checkFloats(const ComputeBackend &backend, Checker &checker)
{
    std::vector<float> a(5000, 2.0F);
    std::vector<float> b = a;
    b[4321] = -3.0F;
    a[7] = std::numeric_limits<float>::quiet_NaN();
    const DiffStats stats = statistics(backend, "float32", bytesOf(a), bytesOf(b), 5000);
    checker.equal<Index>(stats.differentElements, 2, "float32, differing elements");
    checker.equal<Index>(stats.finitePairs, 4999, "float32, finite pairs");
    checker.equal<Index>(stats.nanA, 1, "float32, NaN of A");
    checker.equal<Index>(stats.signFlips, 1, "float32, sign flips");
    checker.equal<Index>(stats.maxAbsIndex, 4321, "float32, index of the largest difference");
    checker.equal(stats.maxAbs, 5.0, "float32, largest difference");
    const DiffSums sums = stats.sums.total();
    checker.equal(sums.absDifference.mid, 5.0, "float32, sum of |a - b|");
    checker.equal(sums.productAB.mid, 4998 * 4.0 - 6.0, "float32, sum of a b");
    checker.equal(sums.squaredB.mid, 4998 * 4.0 + 9.0, "float32, sum of b b");
}

void checkSubnormals(const ComputeBackend &backend, Checker &checker)
{
    const double least = std::numeric_limits<double>::denorm_min();
    const std::vector<double> a{least, 1e300};
    const std::vector<double> b{0.0, 1e300};
    const DiffStats stats = statistics(backend, "float64", bytesOf(a), bytesOf(b), 2);
    checker.check(stats.maxAbs == least && stats.maxAbs > 0.0,
                  "float64, subnormal difference: expected 2^-1074; is flush-to-zero on?");
    checker.equal(stats.cosine().value_or(0.0), 1.0, "float64, cosine where squares overflow");
    checker.equal<Index>(stats.maxUlp, 1, "float64, ULP distance of the least number and zero");
}

void checkIntegers(const ComputeBackend &backend, Checker &checker)
{
    const std::vector<std::int64_t> a{std::numeric_limits<std::int64_t>::min(), 5};
    const std::vector<std::int64_t> b{std::numeric_limits<std::int64_t>::max(), 5};
    const DiffStats stats = statistics(backend, "int64", bytesOf(a), bytesOf(b), 2);
    checker.equal(stats.maxAbsInteger, std::numeric_limits<std::uint64_t>::max(),
                  "int64, largest difference");
}

void checkArithmetic(Checker &checker)
{
    const volatile kernels::ProbeOperands operands{};
    const unsigned faults = kernels::probeArithmetic(operands);
    checker.check((faults & (kernels::FlushesResults | kernels::FlushesOperands)) == 0,
                  "arithmetic: expected subnormal numbers, found zero");
    checker.check((faults & kernels::WrongRounding) == 0,
                  "arithmetic: expected rounding to nearest, ties to even");
    checker.check((faults & kernels::Fused) == 0,
                  "arithmetic: expected a product to be rounded before it is added");
}

} // namespace

SelftestReport runSelftest(const ComputeBackend &backend, bool deep)
{
    Checker checker;
    checkArithmetic(checker);
    checkHashes(backend, checker);
    checkFloats(backend, checker);
    checkSubnormals(backend, checker);
    checkIntegers(backend, checker);
    SelftestReport report = checker.take();
    ParityReport parity = checkParity(backend, deep);
    report.passed += parity.passed;
    report.failed += parity.failures.size();
    report.failures.insert(report.failures.end(), parity.failures.begin(), parity.failures.end());
    if (deep)
        report.rates = measureRates(backend);
    // What the processor made good is no success of the device.
    for (const std::string &incident : backend.incidents()) {
        ++report.failed;
        report.failures.push_back(incident);
    }
    return report;
}

} // namespace forkpoint
