// The plain port, for a bench of either bank: a word a clock.
#pragma once

#include "behind_port.h"

template <class Form, class Model>
class PlainPort : public BehindPort<Form, Model, PlainPort<Form, Model>> {
  public:
    PlainPort() {
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

  private:
    using Behind = BehindPort<Form, Model, PlainPort>;
    using Behind::model;
    using Behind::tick;
};
