// What the benches of ports share: the vectors of a bank in table form, with all constants, the
// starts of passes and the counters going through a port, and every decision compared.
#pragma once

#include "vectors.h"

// Words of registers.toml.
constexpr uint32_t CONTROL = 0, STATUS = 1, SEED = 2, PASSED = 3, SIZE = 6, CONSTANTS = 512;
constexpr size_t TO_DECISION = 8;

// A model behind a port. `Port` derives from it and has `edge()`, a rising edge of the clock,
// `write(word, data)` and `read(word)`.
template <class Model, class Port>
class BehindPort {
  public:
    // A clock; the queue that the bank asks for is there a clock later.
    void tick() {
        const uint32_t at = model.queue_at;
        port().edge();
        if (at < queues.size()) model.queue_read = queues[at];
    }

    // All vectors of a file: the exit status.
    int run(const char* path) {
        std::ifstream file(path);
        const Numbers size = line(file, "table_bank");
        if (size.size() != 2) {
            std::cerr << path << ": no vectors of a bank in table form" << std::endl;
            return 2;
        }
        uint32_t bits = 0;
        while ((1u << bits) < size[1]) ++bits;
        if (port().read(SIZE) != (bits << 8 | 3)) fail("the size");
        port().write(SEED, line(file, "seed").at(0));
        for (uint32_t i = 0; i < size[0]; ++i) {
            const Numbers words = line(file, "class");
            for (uint32_t word = 0; word < words.size(); ++word) {
                port().write(CONSTANTS + 64 * i + word, words[word]);
            }
        }
        uint64_t passes = 0;
        for (;; ++passes) {
            queues = line(file, "queues");
            if (queues.empty()) break;
            line(file, "x");
            pass();
            const Numbers packets = line(file, "packets");
            decide(packets, line(file, "decisions"));
        }
        std::cout << "passes " << passes << "\npassed " << decided[0] << "\nmarked " << decided[1]
                  << "\ndropped " << decided[2] << std::endl;
        return passes == 0;
    }

  protected:
    Model model;

  private:
    Port& port() { return static_cast<Port&>(*this); }

    void pass() {
        port().write(CONTROL, 0);
        if (port().read(STATUS) != 0) fail("a pass begins though bit 0 is not set");
        port().write(CONTROL, 1);
        for (size_t reads = 0; port().read(STATUS); ++reads) {
            if (reads > 2 * queues.size() + 100) fail("a pass does not end");
        }
    }

    void decide(const Numbers& packets, const Numbers& decisions) {
        const size_t n = packets.size() / 2;
        for (size_t i = 0; i < n; ++i) {
            model.packet = 1;
            model.packet_at = packets[2 * i];
            model.packet_ecn = packets[2 * i + 1];
            tick();
            model.packet = 0;
            for (size_t more = 1; more < TO_DECISION; ++more) {
                if (model.decided) fail("a decision too early");
                tick();
            }
            if (!model.decided || model.decision != decisions[i]) fail("a decision");
            ++decided[decisions[i]];
            tick();
        }
        for (uint32_t i = 0; i < 3; ++i) {
            if (port().read(PASSED + i) != uint32_t(decided[i])) fail("a counter");
        }
    }

    Numbers queues;
    uint64_t decided[3] = {};
};
