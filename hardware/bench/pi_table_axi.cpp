// Runs the vectors of `sojourn vectors table-bank` through pi_table_axi, with all constants, the
// starts of passes and the counters going over AXI4-Lite, and compares every decision.
// Usage: Vpi_table_axi FILE
//
// Exit status 1 at the first difference.

#include "Vpi_table_axi.h"
#include "axi_port.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_table_axi FILE" << std::endl;
        return 2;
    }
    return AxiPort<TableForm, Vpi_table_axi>().run(argv[1]);
}
