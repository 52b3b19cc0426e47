// What the benches of ports share: the vectors of a bank, with all constants, the starts of passes
// and the counters going through a port, and every decision compared.
#pragma once

#include "vectors.h"

// Words of registers.toml.
constexpr uint32_t CONTROL = 0, STATUS = 1, SEED = 2, PASSED = 3, SIZE = 6, CONSTANTS = 512;

// The bank in table form: its vectors, and the words of a class.
struct TableForm {
    static constexpr const char* HEAD = "table_bank";
    static constexpr size_t TO_DECISION = 8;

    static Numbers words(const Numbers& numbers) { return numbers; }
    static void states(std::istream& file) { line(file, "x"); }
};

// The bank with p exact. Of its 64 words those between gains, thresholds and entries are nothing.
struct ExactForm {
    static constexpr const char* HEAD = "bank";
    static constexpr size_t TO_DECISION = 3;

    static Numbers words(const Numbers& numbers) {
        const int bits[9] = {15, 15, 4, 4, 15, 15, 4, 5, 15};
        unsigned __int128 gains = 0;
        for (int i = 0; i < 9; ++i) gains = gains << bits[i] | numbers[i];
        Numbers words(48);
        for (int i = 0; i < 3; ++i) words[i] = uint32_t(gains >> 32 * i);
        for (int i = 1; i <= 15; ++i) words[16 + i] = numbers[8 + i];
        for (int i = 0; i < 16; ++i) {
            words[32 + i] = numbers[24 + i] >> 32 ? 0xffffffffu : numbers[24 + i];
        }
        return words;
    }
    static void states(std::istream& file) {
        line(file, "p");
        line(file, "levels");
    }
};

// A model behind a port. `Port` derives from it and has `edge()`, a rising edge of the clock,
// `write(word, data)` and `read(word)`.
template <class Form, class Model, class Port>
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
        const Numbers size = line(file, Form::HEAD);
        if (size.size() != 2) {
            std::cerr << path << ": no vectors of " << Form::HEAD << std::endl;
            return 2;
        }
        uint32_t bits = 0;
        while ((1u << bits) < size[1]) ++bits;
        if (port().read(SIZE) != (bits << 8 | 3)) fail("the size");
        port().write(SEED, line(file, "seed").at(0));
        for (uint32_t i = 0; i < size[0]; ++i) {
            const Numbers words = Form::words(line(file, "class"));
            for (uint32_t word = 0; word < words.size(); ++word) {
                port().write(CONSTANTS + 64 * i + word, words[word]);
            }
        }
        uint64_t passes = 0;
        for (;; ++passes) {
            queues = line(file, "queues");
            if (queues.empty()) break;
            Form::states(file);
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
            for (size_t more = 1; more < Form::TO_DECISION; ++more) {
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
