// Runs the vectors of `sojourn vectors table-bank` through pi_table_port, with all constants, the
// starts of passes and the counters going through its port, and compares every decision.
// Usage: Vpi_table_port FILE
//
// Exit status 1 at the first difference.

#include "Vpi_table_port.h"
#include "plain_port.h"
#include "verilated.h"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_table_port FILE" << std::endl;
        return 2;
    }
    return PlainPort<TableForm, Vpi_table_port>().run(argv[1]);
}
