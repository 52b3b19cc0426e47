// What the benches of PI with p exact and of RED share: state and level of every controller after
// every pass and the decision about every packet are compared; levels are read at random all the
// while. In the end the bank is reset and makes its first pass again.
//
// `Form` says what the bank's vectors are called, what of a class goes to its inputs, and what is
// its state.
#pragma once

#include "vectors.h"

template <class Form, class Model>
class LevelsBench {
  public:
    LevelsBench() { reset(); }

    void reset() {
        restart(bank);
        passes = 0;
    }

    void configure(uint32_t which, const Numbers& n) {
        bank.write_class = which;
        Form::configure(bank, n);
        bank.threshold_write = 1;
        for (int i = 1; i <= 15; ++i) {
            bank.write_at = i;
            bank.threshold = n[Form::THRESHOLDS - 1 + i];
            clock(bank);
        }
        bank.threshold_write = 0;
        bank.entry_write = 1;
        for (int i = 0; i < 16; ++i) {
            bank.write_at = i;
            bank.entry = n[Form::THRESHOLDS + 15 + i];
            clock(bank);
        }
        bank.entry_write = 0;
    }

    void seed(uint32_t seed) { write_seed(bank, seed); }

    void packets(const Numbers& packets, const Numbers& decisions) {
        decide(bank, draws, 3, packets, decisions, decided);
    }

    // One pass; `before` are the levels in force until a controller's update.
    void pass(const Numbers& queues, const Numbers& states, const Numbers& levels,
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
                if (Form::state(bank) != states[done] || bank.updated_level != levels[done]) {
                    std::ostringstream why;
                    why << "pass " << passes << ", controller " << done << ": "
                        << Form::STATE << " " << Form::state(bank) << ", level "
                        << int(bank.updated_level) << " instead of " << states[done] << ", "
                        << levels[done];
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
    Model bank;
    Draws draws;
};

// All vectors of a file: says how often each end of the state and each level was reached. The exit
// status, 1 at the first difference.
template <class Form, class Model>
int run(const char* path) {
    std::ifstream file(path);
    const Numbers size = line(file, Form::HEAD);
    if (size.size() != 2) {
        std::cerr << path << ": no vectors of " << Form::HEAD << std::endl;
        return 2;
    }
    LevelsBench<Form, Model> bench;
    const Numbers coin = line(file, "seed");
    bench.seed(coin.at(0));
    for (uint32_t i = 0; i < size[0]; ++i) bench.configure(i, line(file, "class"));
    const Numbers none(size[0] * size[1]);
    Numbers before(none), old(none), first[3];
    uint64_t updates = 0, floor = 0, ceiling = 0, long_queues = 0, reached[16] = {};
    for (;;) {
        const Numbers queues = line(file, "queues");
        if (queues.empty()) break;
        const Numbers states = line(file, Form::STATE), levels = line(file, "levels");
        bench.pass(queues, states, levels, before);
        const Numbers packets = line(file, "packets");
        bench.packets(packets, line(file, "decisions"));
        if (updates == 0) first[0] = queues, first[1] = states, first[2] = levels;
        for (size_t i = 0; i < states.size(); ++i) {
            floor += states[i] == 0 && old[i] > 0;
            ceiling += states[i] == Form::MOST && old[i] < Form::MOST;
            long_queues += queues[i] > 32767;
            ++reached[levels[i]];
        }
        updates += states.size();
        before = levels;
        old = states;
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
