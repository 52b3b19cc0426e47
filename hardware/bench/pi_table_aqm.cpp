// Runs the vectors of `sojourn vectors table-bank` through pi_table_aqm and compares x of every
// controller after every pass, the level that packets meet during it and after, and the decision
// about every packet. In the end the bank is reset and makes its first pass again. Usage:
// Vpi_table_aqm FILE
//
// Says how often each end of the table and each level was reached; exit status 1 at the first
// difference.

#include "Vpi_table_aqm.h"
#include "vectors.h"
#include "verilated.h"

namespace {

constexpr uint64_t MOST = 2047;
// Clocks from a packet to its level and to its decision.
constexpr size_t TO_LEVEL = 3, TO_DECISION = 8;

uint64_t level_of(uint64_t x) { return x >> 7; }

class Bench {
  public:
    Bench() { reset(); }

    void reset() {
        restart(bank);
        passes = 0;
    }

    void configure(uint32_t which, const Numbers& words) {
        bank.write = 1;
        for (size_t i = 0; i < words.size(); ++i) {
            bank.write_at = which * 64 + i;
            bank.write_data = words[i];
            clock(bank);
        }
        bank.write = 0;
    }

    void seed(uint32_t seed) { write_seed(bank, seed); }

    void packets(const Numbers& packets, const Numbers& decisions) {
        decide(bank, draws, TO_DECISION, packets, decisions, decided);
    }

    // One pass; `before` are the places in force until a controller's update.
    void pass(const Numbers& queues, const Numbers& x, const Numbers& before) {
        const uint32_t n = queues.size();
        uint32_t done = 0, clocks = 0;
        // What the level should be that was asked for so many clocks ago; the clock of a write has
        // what is written.
        std::vector<uint64_t> expected;
        std::vector<bool> written(n);
        bank.start = 1;
        while (done < n || bank.busy) {
            const uint32_t at = bank.queue_at;
            if (bank.updated) {
                if (bank.updated_at != done) fail("an update is lost or comes twice");
                if (bank.updated_x != x[done]) {
                    std::ostringstream why;
                    why << "pass " << passes << ", controller " << done << ": x "
                        << bank.updated_x << " instead of " << x[done];
                    fail(why.str());
                }
                written[done++] = true;
            }
            // Often the controller that is being written.
            bank.packet_at = draws.next() % 2 == 0 && done > 0 ? done - 1 : draws.next() % n;
            const uint32_t looked = bank.packet_at;
            expected.push_back(level_of(written[looked] ? x[looked] : before[looked]));
            clock(bank);
            bank.start = draws.next() % 8 == 0;  // ignored during a pass
            if (done == n) bank.start = 0;
            bank.queue_read = queues[at];
            bank.eval();
            if (bank.busy && expected.size() >= TO_LEVEL) {
                // In the first pass nothing is in force until all is.
                const uint64_t level = expected[expected.size() - TO_LEVEL];
                if (bank.level != (passes == 0 ? 0 : level)) fail("a level during a pass");
            }
            if (++clocks > 2 * n + 100) fail("a pass does not end");
        }
        bank.start = 0;
        longest = clocks > longest ? clocks : longest;
        ++passes;
        for (uint32_t i = 0; i < n + TO_LEVEL - 1; ++i) {
            bank.packet_at = i < n ? i : 0;
            clock(bank);
            if (i + 1 < TO_LEVEL) continue;
            if (bank.level != level_of(x[i + 1 - TO_LEVEL])) fail("a level after a pass");
        }
    }

    uint64_t passes = 0, longest = 0, decided[3] = {};

  private:
    Vpi_table_aqm bank;
    Draws draws;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_table_aqm FILE" << std::endl;
        return 2;
    }
    std::ifstream file(argv[1]);
    const Numbers size = line(file, "table_bank");
    if (size.size() != 2) {
        std::cerr << argv[1] << ": no vectors of a bank in table form" << std::endl;
        return 2;
    }
    Bench bench;
    bench.seed(line(file, "seed").at(0));
    for (uint32_t i = 0; i < size[0]; ++i) bench.configure(i, line(file, "class"));
    const Numbers none(size[0] * size[1]);
    Numbers before(none), first[2];
    uint64_t updates = 0, floor = 0, ceiling = 0, long_queues = 0, reached[16] = {};
    for (;;) {
        const Numbers queues = line(file, "queues");
        if (queues.empty()) break;
        const Numbers x = line(file, "x");
        bench.pass(queues, x, before);
        const Numbers packets = line(file, "packets");
        bench.packets(packets, line(file, "decisions"));
        if (updates == 0) first[0] = queues, first[1] = x;
        for (size_t i = 0; i < x.size(); ++i) {
            floor += x[i] == 0 && before[i] > 0;
            ceiling += x[i] == MOST && before[i] < MOST;
            long_queues += queues[i] > 32767;
            ++reached[level_of(x[i])];
        }
        updates += x.size();
        before = x;
    }
    // A used bank begins anew after a reset, whatever its memories hold.
    if (updates > 0) {
        bench.reset();
        bench.pass(first[0], first[1], none);
    }
    std::cout << "updates " << updates << "\nclocks_of_a_pass " << bench.longest << "\nfloor "
              << floor << "\nceiling " << ceiling << "\nlong_queues " << long_queues << "\npassed "
              << bench.decided[0] << "\nmarked " << bench.decided[1] << "\ndropped "
              << bench.decided[2] << "\nlevels";
    for (uint64_t n : reached) std::cout << ' ' << n;
    std::cout << std::endl;
    return updates == 0;
}
