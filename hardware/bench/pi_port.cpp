// Runs the vectors of `sojourn vectors bank` through pi_port, with all constants, the
// starts of passes and the counters going through its port, and compares every decision.
// Usage: Vpi_port FILE
//
// Exit status 1 at the first difference.

#include "Vpi_port.h"
#include "plain_port.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_port FILE" << std::endl;
        return 2;
    }
    return PlainPort<ExactForm, Vpi_port>().run(argv[1]);
}
