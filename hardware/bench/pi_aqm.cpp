// Runs the vectors of `sojourn vectors bank` through pi_aqm and compares p and level of every
// controller after every pass, and the decision about every packet; levels are read at random all
// the while. In the end the bank is reset and makes its first pass again. Usage: Vpi_aqm FILE
//
// Says how often each end of p and each level was reached; exit status 1 at the first difference.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "Vpi_aqm.h"
#include "verilated.h"

namespace {

using Numbers = std::vector<uint64_t>;

constexpr uint32_t P_MOST = (1u << 29) - 1;

[[noreturn]] void fail(const std::string& why) {
    std::cout << "difference: " << why << std::endl;
    std::exit(1);
}

Numbers line(std::istream& file, const std::string& name) {
    std::string text, word;
    if (!std::getline(file, text)) return {};
    std::istringstream words(text);
    words >> word;
    if (word != name) {
        std::cerr << "a line of " << name << " is expected, not of " << word << std::endl;
        std::exit(2);
    }
    Numbers numbers;
    for (uint64_t n; words >> n;) numbers.push_back(n);
    return numbers;
}

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
        clock();
        clock();
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
        clock();
        bank.gains_write = 0;
        bank.threshold_write = 1;
        for (int i = 1; i <= 15; ++i) {
            bank.write_at = i;
            bank.threshold = n[8 + i];
            clock();
        }
        bank.threshold_write = 0;
        bank.entry_write = 1;
        for (int i = 0; i < 16; ++i) {
            bank.write_at = i;
            bank.entry = n[24 + i];
            clock();
        }
        bank.entry_write = 0;
    }

    void seed(uint32_t seed) {
        bank.seed_write = 1;
        bank.seed = seed;
        clock();
        bank.seed_write = 0;
    }

    // Packets, mostly one a clock: each is decided three clocks after it came, none is lost.
    void packets(const Numbers& packets, const Numbers& decisions) {
        const size_t n = packets.size() / 2;
        std::vector<bool> came;
        size_t sent = 0, got = 0;
        for (uint64_t clocks = 0; got < n; ++clocks) {
            bank.packet = sent < n && random() % 8 > 0;
            came.push_back(bank.packet);
            if (bank.packet) {
                bank.packet_at = packets[2 * sent];
                bank.packet_ecn = packets[2 * sent + 1];
                ++sent;
            }
            clock();
            const bool due = clocks >= 2 && came[clocks - 2];
            if (bool(bank.decided) != due) fail("a decision is missing, or nobody's");
            if (!due) continue;
            if (bank.decision != decisions[got]) fail("a decision");
            ++decided[decisions[got++]];
        }
        bank.packet = 0;
        if (bank.passed != uint32_t(decided[0]) || bank.marked != uint32_t(decided[1]) ||
            bank.dropped != uint32_t(decided[2])) {
            fail("a counter");
        }
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
            clock();
            bank.start = random() % 8 == 0;  // ignored during a pass
            if (done == n) bank.start = 0;
            bank.queue_read = queues[at];
            bank.eval();
            // In the first pass nothing is in force until all is.
            const uint32_t level = passes == 0 ? 0 : visible ? levels[looked] : before[looked];
            if (bank.busy && bank.level != level) fail("a level in force during a pass");
            bank.packet_at = random() % n;
            if (++clocks > 2 * n + 100) fail("a pass does not end");
        }
        bank.start = 0;
        longest = clocks > longest ? clocks : longest;
        for (uint32_t i = 0; i < n; ++i) {
            bank.packet_at = i;
            clock();
            if (bank.level != levels[i]) fail("a level in force after a pass");
        }
        ++passes;
    }

    uint64_t passes = 0, longest = 0, decided[3] = {};

  private:
    void clock() {
        bank.clk = 0;
        bank.eval();
        bank.clk = 1;
        bank.eval();
    }

    uint32_t random() {
        state ^= state << 13;
        state ^= state >> 17;
        return state ^= state << 5;
    }

    Vpi_aqm bank;
    uint32_t state = 2463534242u;
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
