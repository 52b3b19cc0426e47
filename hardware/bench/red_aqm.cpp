// Runs the vectors of `sojourn vectors red-bank` through red_aqm and compares average and level of
// every queue after every pass, and the decision about every packet. Usage: Vred_aqm FILE
//
// Says how often averages came to each end and each level was reached; exit status 1 at the first
// difference.

#include "Vred_aqm.h"
#include "levels_bench.h"
#include "verilated.h"

namespace {

struct Red {
    static constexpr const char* HEAD = "red_bank";
    static constexpr const char* STATE = "averages";
    // Of a queue that is as long as is told apart.
    static constexpr uint32_t MOST = 32767u << 16;
    static constexpr size_t THRESHOLDS = 1;

    static void configure(Vred_aqm& bank, const Numbers& n) {
        bank.shift = n[0];
        bank.shift_write = 1;
        clock(bank);
        bank.shift_write = 0;
    }
    static uint32_t state(const Vred_aqm& bank) { return bank.updated_average; }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vred_aqm FILE" << std::endl;
        return 2;
    }
    return run<Red, Vred_aqm>(argv[1]);
}
