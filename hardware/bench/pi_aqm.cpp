// Runs the vectors of `sojourn vectors bank` through pi_aqm and compares p and level of every
// controller after every pass, and the decision about every packet. Usage: Vpi_aqm FILE
//
// Says how often each end of p and each level was reached; exit status 1 at the first difference.

#include "Vpi_aqm.h"
#include "levels_bench.h"
#include "verilated.h"

namespace {

// `bits` of `value` into `words`, from bit `at` on.
void put(WData* words, int at, int bits, uint64_t value) {
    for (int i = 0; i < bits; ++i) {
        if (value >> i & 1) words[(at + i) / 32] |= 1u << (at + i) % 32;
    }
}

struct Pi {
    static constexpr const char* HEAD = "bank";
    static constexpr const char* STATE = "p";
    static constexpr uint32_t MOST = (1u << 29) - 1;
    static constexpr size_t THRESHOLDS = 9;

    static void configure(Vpi_aqm& bank, const Numbers& n) {
        // qref; mantissa, left, right, most of a and of a − b: the highest bits first.
        const int bits[9] = {15, 15, 4, 4, 15, 15, 4, 5, 15};
        int at = 92;
        for (int i = 0; i < 3; ++i) bank.gains[i] = 0;
        for (int i = 0; i < 9; ++i) put(&bank.gains[0], at -= bits[i], bits[i], n[i]);
        bank.gains_write = 1;
        clock(bank);
        bank.gains_write = 0;
    }
    static uint32_t state(const Vpi_aqm& bank) { return bank.updated_p; }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_aqm FILE" << std::endl;
        return 2;
    }
    return run<Pi, Vpi_aqm>(argv[1]);
}
