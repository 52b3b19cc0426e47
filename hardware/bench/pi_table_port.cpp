// Runs the vectors of `sojourn vectors table-bank` through pi_table_port, with all constants, the
// starts of passes and the counters going through its port, and compares every decision.
// Usage: Vpi_table_port FILE
//
// Exit status 1 at the first difference.

#include "Vpi_table_port.h"
#include "vectors.h"
#include "verilated.h"

namespace {

// Words of registers.toml.
constexpr uint32_t CONTROL = 0, STATUS = 1, SEED = 2, PASSED = 3, SIZE = 6, CONSTANTS = 512;
constexpr size_t TO_DECISION = 8;

class Bench {
  public:
    Bench() {
        port.rst = 1;
        clock(port);
        clock(port);
        port.rst = 0;
    }

    void write(uint32_t at, uint32_t data) {
        port.bus_write = 1;
        port.bus_at = at;
        port.bus_data = data;
        clock(port);
        port.bus_write = 0;
    }

    uint32_t read(uint32_t at) {
        port.bus_at = at;
        clock(port);
        return port.bus_read;
    }

    void pass(const Numbers& queues) {
        write(CONTROL, 0);
        if (read(STATUS) != 0) fail("a pass begins though bit 0 is not set");
        write(CONTROL, 1);
        port.bus_at = STATUS;
        for (size_t clocks = 0; clocks < 2 || port.bus_read; ++clocks) {
            const uint32_t at = port.queue_at;
            clock(port);
            port.queue_read = queues[at];
            if (clocks > 2 * queues.size() + 100) fail("a pass does not end");
        }
    }

    void packets(const Numbers& packets, const Numbers& decisions) {
        const size_t n = packets.size() / 2;
        for (size_t i = 0; i < n; ++i) {
            port.packet = 1;
            port.packet_at = packets[2 * i];
            port.packet_ecn = packets[2 * i + 1];
            clock(port);
            port.packet = 0;
            for (size_t more = 1; more < TO_DECISION; ++more) {
                if (port.decided) fail("a decision too early");
                clock(port);
            }
            if (!port.decided || port.decision != decisions[i]) fail("a decision");
            ++decided[decisions[i]];
            clock(port);
        }
        for (uint32_t i = 0; i < 3; ++i) {
            if (read(PASSED + i) != uint32_t(decided[i])) fail("a counter");
        }
    }

    uint64_t decided[3] = {};

  private:
    Vpi_table_port port;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_table_port FILE" << std::endl;
        return 2;
    }
    std::ifstream file(argv[1]);
    const Numbers size = line(file, "table_bank");
    if (size.size() != 2) {
        std::cerr << argv[1] << ": no vectors of a bank in table form" << std::endl;
        return 2;
    }
    Bench bench;
    uint32_t bits = 0;
    while ((1u << bits) < size[1]) ++bits;
    if (bench.read(SIZE) != (bits << 8 | 3)) fail("the size");
    bench.write(SEED, line(file, "seed").at(0));
    for (uint32_t i = 0; i < size[0]; ++i) {
        const Numbers words = line(file, "class");
        for (uint32_t word = 0; word < words.size(); ++word) {
            bench.write(CONSTANTS + 64 * i + word, words[word]);
        }
    }
    uint64_t passes = 0;
    for (;; ++passes) {
        const Numbers queues = line(file, "queues");
        if (queues.empty()) break;
        line(file, "x");
        bench.pass(queues);
        const Numbers packets = line(file, "packets");
        bench.packets(packets, line(file, "decisions"));
    }
    std::cout << "passes " << passes << "\npassed " << bench.decided[0] << "\nmarked "
              << bench.decided[1] << "\ndropped " << bench.decided[2] << std::endl;
    return passes == 0;
}
