// A manager on AXI4-Lite, for a bench of either bank: it makes the module wait at random, and tries
// beside what must be refused. At every clock what is valid stays as it is until it is taken.
#pragma once

#include "behind_port.h"

constexpr uint32_t OKAY = 0, SLVERR = 2;

template <class Form, class Model>
class AxiPort : public BehindPort<Form, Model, AxiPort<Form, Model>> {
  public:
    AxiPort() {
        model.aresetn = 0;
        tick();
        tick();
        if (model.s_axi_bvalid || model.s_axi_rvalid) fail("an answer during a reset");
        model.aresetn = 1;
        refused();
    }

    // A rising edge, with the rules of the bus checked.
    void edge() {
        const bool b = model.s_axi_bvalid && !model.s_axi_bready && model.aresetn;
        const bool r = model.s_axi_rvalid && !model.s_axi_rready && model.aresetn;
        const uint32_t bresp = model.s_axi_bresp, rresp = model.s_axi_rresp;
        const uint32_t rdata = model.s_axi_rdata;
        model.aclk = 0;
        model.eval();
        model.aclk = 1;
        model.eval();
        if (b && (!model.s_axi_bvalid || model.s_axi_bresp != bresp)) fail("an answer is lost");
        const bool kept = model.s_axi_rresp == rresp && model.s_axi_rdata == rdata;
        if (r && !(model.s_axi_rvalid && kept)) fail("what was read is lost");
    }

    // Writes wait until something is read, and then go one behind the other.
    void write(uint32_t word, uint32_t data) { waiting.push_back({word, data, 15, OKAY}); }

    uint32_t read(uint32_t word) {
        if (!waiting.empty()) exchange(waiting, SIZE);
        waiting.clear();
        const Read got = exchange({}, word);
        if (got.answer != OKAY) fail("a read is refused");
        return got.data;
    }

  private:
    struct Write {
        uint32_t word, data, strobes, answer;
    };
    struct Read {
        uint32_t answer, data;
    };

    bool waits() { return draws.next() % 3 == 0; }

    // All writes, their addresses and data in any order, each with its answer. Beside them `word`
    // is read, over and over until they are done; once if there are none.
    Read exchange(const std::vector<Write>& writes, uint32_t word) {
        const size_t n = writes.size();
        size_t aw = 0, w = 0, b = 0, reads = 0;
        bool asked = false;  // the address of a read has been taken, its data have not
        Read got = {0, 0};
        for (size_t clocks = 0; b < n || asked || reads == 0; ++clocks) {
            if (clocks > 200 * (n + 1)) fail("a transfer does not end");
            // What is valid stays so.
            model.s_axi_awvalid = aw < n && (model.s_axi_awvalid || !waits());
            model.s_axi_wvalid = w < n && (model.s_axi_wvalid || !waits());
            model.s_axi_arvalid = !asked && (b < n || reads == 0) &&
                                  (model.s_axi_arvalid || !waits());
            if (aw < n) model.s_axi_awaddr = 4 * writes[aw].word + aw % 4;
            if (w < n) model.s_axi_wdata = writes[w].data;
            if (w < n) model.s_axi_wstrb = writes[w].strobes;
            model.s_axi_araddr = 4 * word + reads % 4;
            model.s_axi_bready = !waits();
            model.s_axi_rready = !waits();
            model.eval();
            if (model.s_axi_bvalid && (b == aw || b == w)) fail("nobody's answer");
            if (model.s_axi_rvalid && !asked) fail("nobody's data");
            if (model.s_axi_bvalid && model.s_axi_bresp != writes[b].answer) fail("an answer");
            const bool to_aw = model.s_axi_awvalid && model.s_axi_awready;
            const bool to_w = model.s_axi_wvalid && model.s_axi_wready;
            const bool to_ar = model.s_axi_arvalid && model.s_axi_arready;
            b += model.s_axi_bvalid && model.s_axi_bready;
            if (model.s_axi_rvalid && model.s_axi_rready) {
                const Read now = {model.s_axi_rresp, model.s_axi_rdata};
                if (reads > 0 && (now.answer != got.answer || now.data != got.data)) {
                    fail("what was read beside writes");
                }
                got = now;
                asked = false;
                ++reads;
            }
            tick();
            aw += to_aw;
            w += to_w;
            if (to_aw) model.s_axi_awvalid = 0;
            if (to_w) model.s_axi_wvalid = 0;
            if (to_ar) {
                model.s_axi_arvalid = 0;
                asked = true;
            }
        }
        model.s_axi_bready = 0;
        model.s_axi_rready = 0;
        return got;
    }

    // No registers there, or not of this kind, or a part of a word.
    void refused() {
        std::vector<Write> writes;
        for (const uint32_t word : {STATUS, PASSED, SIZE, SIZE + 1, CONSTANTS - 1}) {
            writes.push_back({word, 1, 15, SLVERR});
        }
        for (uint32_t strobes = 0; strobes < 15; ++strobes) {
            writes.push_back({CONTROL, 1, strobes, SLVERR});
        }
        const Read status = exchange(writes, STATUS);
        if (status.answer != OKAY || status.data != 0) fail("what is refused begins a pass");
        for (const uint32_t word : {CONTROL, SEED, SIZE + 1, CONSTANTS, 1023u}) {
            const Read got = exchange({}, word);
            if (got.answer != SLVERR || got.data != 0) fail("a read of what is not read");
        }
    }

    std::vector<Write> waiting;
    Draws draws;

    using Behind = BehindPort<Form, Model, AxiPort>;
    using Behind::model;
    using Behind::tick;
};
