// Runs the vectors of `sojourn vectors bank` through pi_aqm and compares p and level of every
// controller after every pass, and the decision about every packet; levels are read at random all
// the while. In the end the bank is reset and makes its first pass again. Usage: Vpi_aqm FILE
//
// Says how often each end of p and each level was reached; exit status 1 at the first difference.

#include "Vpi_aqm.h"
#include "vectors.h"
#include "verilated.h"

namespace {

constexpr uint32_t P_MOST = (1u << 29) - 1;

// `bits` of `value` into `words`, from bit `at` on.
void put(WData* words, int at, int bits, uint64_t value) {
    for (int i = 0; i < bits; ++i) {
        if (value >> i & 1) words[(at + i) / 32] |= 1u << (at + i) % 32;
    }
}

class Bench {
  public:
    Bench() { reset(); }

    // Memories keep what they hold; constants stay in force.
    void reset() {
        bank.rst = 1;
        clock(bank);
        clock(bank);
        bank.rst = 0;
        passes = 0;
    }

    void configure(uint32_t which, const Numbers& n) {
        // qref; mantissa, left, right, most of a and of a − b: the highest bits first.
        const int bits[9] = {15, 15, 4, 4, 15, 15, 4, 5, 15};
        int at = 92;
        for (int i = 0; i < 3; ++i) bank.gains[i] = 0;
        for (int i = 0; i < 9; ++i) put(&bank.gains[0], at -= bits[i], bits[i], n[i]);
        bank.write_class = which;
        bank.gains_write = 1;
        clock(bank);
        bank.gains_write = 0;
        bank.threshold_write = 1;
        for (int i = 1; i <= 15; ++i) {
            bank.write_at = i;
            bank.threshold = n[8 + i];
            clock(bank);
        }
        bank.threshold_write = 0;
        bank.entry_write = 1;
        for (int i = 0; i < 16; ++i) {
            bank.write_at = i;
            bank.entry = n[24 + i];
            clock(bank);
        }
        bank.entry_write = 0;
    }

    void seed(uint32_t seed) {
        bank.seed_write = 1;
        bank.seed = seed;
        clock(bank);
        bank.seed_write = 0;
    }

    void packets(const Numbers& packets, const Numbers& decisions) {
        decide(bank, draws, 3, packets, decisions, decided);
    }

    // One pass; `before` are the levels in force until a controller's update.
    void pass(const Numbers& queues, const Numbers& p, const Numbers& levels,
              const Numbers& before) {
        const uint32_t n = queues.size();
        uint32_t done = 0, clocks = 0;
        std::vector<bool> written(n);
        bank.start = 1;
        while (done < n || bank.busy) {
            const uint32_t at = bank.queue_at;
            const uint32_t looked = bank.packet_at;
            const bool visible = written[looked];
            if (bank.updated) {
                if (bank.updated_at != done) fail("an update is lost or comes twice");
                if (bank.updated_p != p[done] || bank.updated_level != levels[done]) {
                    std::ostringstream why;
                    why << "pass " << passes << ", controller " << done << ": p "
                        << bank.updated_p << ", level " << int(bank.updated_level)
                        << " instead of " << p[done] << ", " << levels[done];
                    fail(why.str());
                }
                written[done++] = true;
            }
            clock(bank);
            bank.start = draws.next() % 8 == 0;  // ignored during a pass
            if (done == n) bank.start = 0;
            bank.queue_read = queues[at];
            bank.eval();
            // In the first pass nothing is in force until all is.
            const uint32_t level = passes == 0 ? 0 : visible ? levels[looked] : before[looked];
            if (bank.busy && bank.level != level) fail("a level in force during a pass");
            bank.packet_at = draws.next() % n;
            if (++clocks > 2 * n + 100) fail("a pass does not end");
        }
        bank.start = 0;
        longest = clocks > longest ? clocks : longest;
        for (uint32_t i = 0; i < n; ++i) {
            bank.packet_at = i;
            clock(bank);
            if (bank.level != levels[i]) fail("a level in force after a pass");
        }
        ++passes;
    }

    uint64_t passes = 0, longest = 0, decided[3] = {};

  private:
    Vpi_aqm bank;
    Draws draws;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_aqm FILE" << std::endl;
        return 2;
    }
    std::ifstream file(argv[1]);
    const Numbers size = line(file, "bank");
    if (size.size() != 2) {
        std::cerr << argv[1] << ": no vectors of a bank" << std::endl;
        return 2;
    }
    Bench bench;
    const Numbers coin = line(file, "seed");
    bench.seed(coin.at(0));
    for (uint32_t i = 0; i < size[0]; ++i) bench.configure(i, line(file, "class"));
    const Numbers none(size[0] * size[1]);
    Numbers before(none), old_p(none), first[3];
    uint64_t updates = 0, floor = 0, ceiling = 0, long_queues = 0, reached[16] = {};
    for (;;) {
        const Numbers queues = line(file, "queues");
        if (queues.empty()) break;
        const Numbers p = line(file, "p"), levels = line(file, "levels");
        bench.pass(queues, p, levels, before);
        const Numbers packets = line(file, "packets");
        bench.packets(packets, line(file, "decisions"));
        if (updates == 0) first[0] = queues, first[1] = p, first[2] = levels;
        for (size_t i = 0; i < p.size(); ++i) {
            floor += p[i] == 0 && old_p[i] > 0;
            ceiling += p[i] == P_MOST && old_p[i] < P_MOST;
            long_queues += queues[i] > 32767;
            ++reached[levels[i]];
        }
        updates += p.size();
        before = levels;
        old_p = p;
    }
    // A used bank begins anew after a reset, whatever its memories hold.
    if (updates > 0) {
        bench.reset();
        bench.pass(first[0], first[1], first[2], none);
    }
    std::cout << "updates " << updates << "\nclocks_of_a_pass " << bench.longest << "\nfloor "
              << floor << "\nceiling " << ceiling << "\nlong_queues " << long_queues << "\npassed "
              << bench.decided[0] << "\nmarked " << bench.decided[1] << "\ndropped "
              << bench.decided[2] << "\nlevels";
    for (uint64_t n : reached) std::cout << ' ' << n;
    std::cout << std::endl;
    return updates == 0;
}
