// Runs the vectors of `sojourn vectors control-law` through control_law and compares every step.
// Usage: Vcontrol_law FILE
//
// Says how many clocks the longest took; exit status 1 at the first difference.

#include "Vcontrol_law.h"
#include "vectors.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vcontrol_law FILE" << std::endl;
        return 2;
    }
    std::ifstream file(argv[1]);
    if (line(file, "control_law").size() != 1) {
        std::cerr << argv[1] << ": no vectors of a control law" << std::endl;
        return 2;
    }
    Vcontrol_law law;
    law.rst = 1;
    clock(law);
    law.rst = 0;
    uint64_t steps = 0, longest = 0;
    for (;;) {
        const Numbers step = line(file, "step");
        if (step.empty()) break;
        law.start = 1;
        law.interval = step.at(0);
        law.count = step.at(1);
        clock(law);
        // What comes while it is busy counts for nothing.
        law.interval = step.at(1);
        law.count = step.at(0);
        uint64_t clocks = 1;
        for (; !law.done; ++clocks) {
            if (!law.busy || clocks > 1000) fail("a step does not end");
            law.start = clocks % 2;
            // Whoever sees `done` may start again at once.
            if (clocks > 40) law.start = 0;
            clock(law);
        }
        law.start = 0;
        if (law.busy || law.step != step.at(2)) {
            std::ostringstream why;
            why << step[0] << " over the root of " << step[1] << ": " << law.step << " instead of "
                << step[2];
            fail(why.str());
        }
        longest = clocks > longest ? clocks : longest;
        ++steps;
    }
    std::cout << "steps " << steps << "\nclocks " << longest << std::endl;
    return steps == 0;
}
