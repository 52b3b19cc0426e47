// What benches share: lines of a word and whole numbers, and what becomes of packets.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using Numbers = std::vector<uint64_t>;

[[noreturn]] inline void fail(const std::string& why) {
    std::cout << "difference: " << why << std::endl;
    std::exit(1);
}

inline Numbers line(std::istream& file, const std::string& name) {
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

// Marsaglia's, for what a bench itself chooses.
class Draws {
  public:
    uint32_t next() {
        state ^= state << 13;
        state ^= state >> 17;
        return state ^= state << 5;
    }

  private:
    uint32_t state = 2463534242u;
};

template <class Model>
void clock(Model& model) {
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
}

// Memories keep what they hold; constants stay in force.
template <class Model>
void restart(Model& model) {
    model.rst = 1;
    clock(model);
    clock(model);
    model.rst = 0;
}

// The seed of the decisions.
template <class Model>
void write_seed(Model& model, uint32_t seed) {
    model.seed_write = 1;
    model.seed = seed;
    clock(model);
    model.seed_write = 0;
}

// Packets, mostly one a clock: each is decided `latency` clocks after it came, none is lost.
template <class Model>
void decide(Model& model, Draws& draws, size_t latency, const Numbers& packets,
            const Numbers& decisions, uint64_t decided[3]) {
    const size_t n = packets.size() / 2;
    std::vector<bool> came;
    size_t sent = 0, got = 0;
    for (size_t clocks = 1; got < n; ++clocks) {
        model.packet = sent < n && draws.next() % 8 > 0;
        came.push_back(model.packet);
        if (model.packet) {
            model.packet_at = packets[2 * sent];
            model.packet_ecn = packets[2 * sent + 1];
            ++sent;
        }
        clock(model);
        const bool due = clocks >= latency && came[clocks - latency];
        if (bool(model.decided) != due) fail("a decision is missing, or nobody's");
        if (!due) continue;
        if (model.decision != decisions[got]) fail("a decision");
        ++decided[decisions[got++]];
    }
    model.packet = 0;
    clock(model);
    if (model.passed != uint32_t(decided[0]) || model.marked != uint32_t(decided[1]) ||
        model.dropped != uint32_t(decided[2])) {
        fail("a counter");
    }
}
