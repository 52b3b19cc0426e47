// Runs the vectors of `sojourn vectors table-bank` through pi_table_port, with all constants, the
// starts of passes and the counters going through its port, and compares every decision.
// Usage: Vpi_table_port FILE
//
// Exit status 1 at the first difference.

#include "Vpi_table_port.h"
#include "behind_port.h"
#include "verilated.h"

namespace {

class Bench : public BehindPort<Vpi_table_port, Bench> {
  public:
    Bench() {
        model.rst = 1;
        tick();
        tick();
        model.rst = 0;
    }

    void edge() { clock(model); }

    void write(uint32_t word, uint32_t data) {
        model.bus_write = 1;
        model.bus_at = word;
        model.bus_data = data;
        tick();
        model.bus_write = 0;
    }

    uint32_t read(uint32_t word) {
        model.bus_at = word;
        tick();
        return model.bus_read;
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: Vpi_table_port FILE" << std::endl;
        return 2;
    }
    return Bench().run(argv[1]);
}
