// Runs the vectors of `sojourn vectors bank` through pi_axi, with all constants, the
// starts of passes and the counters going over AXI4-Lite, and compares every decision.
// Usage: Vpi_axi FILE
//
// Exit status 1 at the first difference.

#include "Vpi_axi.h"
#include "axi_port.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_axi FILE" << std::endl;
        return 2;
    }
    return AxiPort<ExactForm, Vpi_axi>().run(argv[1]);
}
