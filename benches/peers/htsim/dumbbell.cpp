// The reference dumbbell in htsim: long flows from left to right over one drop-tail queue.
//
// Built against libhtsim.a by ../../peer.py; prints one line of JSON with the fields of
// ../ns2/dumbbell.tcl that a comparison of speeds needs. Each flow has links of its own at both
// ends, and its acknowledgements have a queue, as in ours. Differences are in benches/README.md.
#include "clock.h"
#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

const uint32_t PACKET = 1500;
const mem_b ROOM = mem_b(1) << 40;

double seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

std::map<std::string, double> options(int argc, char** argv)
{
    std::map<std::string, double> given = {
        {"flows", 100}, {"rate", 100e6}, {"delay", 0.005}, {"access", 1e9}, {"limit", 1000},
        {"rttlow", 0.050}, {"rtthigh", 0.150}, {"start", 1}, {"time", 60}, {"warmup", 20}};
    for (int i = 1; i < argc; i++)
    {
        std::string word = argv[i];
        auto equals = word.find('=');
        auto name = word.substr(2, equals - 2);
        if (word.rfind("--", 0) != 0 || equals == std::string::npos || !given.count(name))
        {
            throw std::invalid_argument(word + ": no such option");
        }
        given[name] = std::stod(word.substr(equals + 1));
    }
    return given;
}

// A flow with its links: from the sender, to the receiver, from there, and back to the sender.
struct Flow
{
    TcpSrc source;
    TcpSink sink;
    Queue out, in, backOut, backIn;
    Pipe there, back;
    Route forward, reverse;

    Flow(EventList& events, linkspeed_bps access, simtime_picosec delay)
        : source(nullptr, nullptr, events),
          out(access, ROOM, events, nullptr),
          in(access, ROOM, events, nullptr),
          backOut(access, ROOM, events, nullptr),
          backIn(access, ROOM, events, nullptr),
          there(delay, events),
          back(delay, events)
    {
    }
};

uint64_t packets(const std::vector<std::unique_ptr<Flow>>& flows)
{
    uint64_t all = 0;
    for (const auto& flow : flows)
    {
        all += flow->sink._packets / PACKET;
    }
    return all;
}

} // namespace

int main(int argc, char** argv)
{
    auto given = options(argc, argv);
    // It tells of every timeout.
    std::cout.rdbuf(nullptr);
    Packet::set_packet_size(PACKET);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(given["time"]));

    auto rate = linkspeed_bps(given["rate"]);
    Queue queue(rate, mem_b(given["limit"]) * PACKET, events, nullptr);
    Queue reverse(rate, ROOM, events, nullptr);
    auto propagation = timeFromSec(given["delay"]);
    Pipe link(propagation, events), linkBack(propagation, events);
    TcpRtxTimerScanner scanner(timeFromMs(10), events);

    auto count = size_t(given["flows"]);
    std::vector<std::unique_ptr<Flow>> flows;
    for (size_t i = 0; i < count; i++)
    {
        double place = count > 1 ? double(i) / double(count - 1) : 0;
        double rtt = given["rttlow"] + place * (given["rtthigh"] - given["rttlow"]);
        auto own = timeFromSec((rtt - 2 * given["delay"]) / 2);
        flows.push_back(std::make_unique<Flow>(events, linkspeed_bps(given["access"]), own));
        Flow& flow = *flows.back();
        flow.source._maxcwnd = 2000 * PACKET;
        flow.source.set_ssthresh(0xffffffff);
        for (PacketSink* hop : std::initializer_list<PacketSink*>{
                 &flow.out, &flow.there, &queue, &link, &flow.in, &flow.sink})
        {
            flow.forward.push_back(hop);
        }
        for (PacketSink* hop : std::initializer_list<PacketSink*>{
                 &flow.backOut, &flow.back, &reverse, &linkBack, &flow.backIn, &flow.source})
        {
            flow.reverse.push_back(hop);
        }
        // Uniform, and the same in each run.
        double begin = given["start"] * double((i * 61) % count) / double(count);
        flow.source.connect(flow.forward, flow.reverse, flow.sink, timeFromSec(begin));
        scanner.registerTcp(flow.source);
    }

    auto warmup = timeFromSec(given["warmup"]);
    uint64_t before = 0;
    double began = seconds();
    while (events.doNextEvent())
    {
        if (before == 0 && events.now() >= warmup)
        {
            before = packets(flows);
        }
    }
    double took = seconds() - began;
    uint64_t all = packets(flows);
    double window = given["time"] - given["warmup"];
    std::printf("{\"bottleneck_pkts\": %llu, \"utilisation\": %.4f, \"drops\": %d, \"run_s\": %.4f}\n",
                (unsigned long long)all,
                double(all - before) * PACKET * 8 / (given["rate"] * window),
                queue.num_drops(),
                took);
    return 0;
}
