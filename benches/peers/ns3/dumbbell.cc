// The reference dumbbell in ns-3: long flows from left to right over one managed link.
//
// Built by build.sh; prints one line of JSON with the same fields as ../ns2/dumbbell.tcl.
// Differences that ns-3 imposes are listed in benches/README.md: two bytes of PPP header on
// each packet, a device queue of one packet below the queue discipline, a TCP of its own.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t PAYLOAD = 1448;
const uint32_t PACKET = 1500;
const uint32_t PPP_HEADER = 2;
const uint16_t PORT = 9;

struct Options
{
    std::string aqm = "droptail";
    std::string tcp = "NewReno";
    bool ecn = false;
    uint32_t flows = 100;
    double rate = 100e6;
    double delay = 0.005;
    double access = 0;
    uint32_t limit = 1000;
    double rttLow = 0.050;
    double rttHigh = 0.150;
    double start = 1.0;
    uint32_t seed = 1;
    double time = 60;
    double warmup = 20;
    uint32_t window = 2000;
    double minTh = 100;
    double maxTh = 300;
    double maxP = 0.1;
    double qw = 0;

    void Read(int argc, char** argv)
    {
        CommandLine line(__FILE__);
        line.AddValue("aqm", "droptail, red, codel, fq_codel, pie or cobalt", aqm);
        line.AddValue("tcp", "NewReno, Cubic, Dctcp, Scalable, HighSpeed, WestwoodPlus", tcp);
        line.AddValue("ecn", "hosts use ECN, and the discipline marks", ecn);
        line.AddValue("qw", "RED, weight of a sample; 0: from the rate", qw);
        line.AddValue("flows", "number of long flows", flows);
        line.AddValue("rate", "bottleneck, bit/s", rate);
        line.AddValue("delay", "bottleneck, one way, s", delay);
        line.AddValue("access", "private links, bit/s, 0: too fast to matter", access);
        line.AddValue("limit", "packets that may wait", limit);
        line.AddValue("rttlow", "shortest round trip, s", rttLow);
        line.AddValue("rtthigh", "longest round trip, s", rttHigh);
        line.AddValue("start", "starts are uniform in [0, start) s", start);
        line.AddValue("seed", "of the start times and the queue's coin", seed);
        line.AddValue("time", "simulated s", time);
        line.AddValue("warmup", "measures begin here, s", warmup);
        line.AddValue("window", "socket buffers, segments", window);
        line.AddValue("minth", "RED, packets", minTh);
        line.AddValue("maxth", "RED, packets", maxTh);
        line.AddValue("maxp", "RED", maxP);
        line.Parse(argc, argv);
    }
};

// Time integral of the packets that wait: in the queue discipline and in the device below.
class Waiting
{
  public:
    void InDiscipline(uint32_t, uint32_t now)
    {
        Advance();
        m_discipline = now;
    }

    void InDevice(uint32_t, uint32_t now)
    {
        Advance();
        m_device = now;
    }

    double Integral()
    {
        Advance();
        return m_integral;
    }

  private:
    void Advance()
    {
        double now = Simulator::Now().GetSeconds();
        m_integral += (m_discipline + m_device) * (now - m_since);
        m_since = now;
    }

    double m_integral = 0;
    double m_since = 0;
    uint32_t m_discipline = 0;
    uint32_t m_device = 0;
};

struct Sample
{
    double waiting = 0;
    uint64_t sent = 0;
    uint64_t bytes = 0;
    uint64_t arrived = 0;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    std::vector<double> received;
};

void
SetTcpDefaults(const Options& o)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::Tcp" + o.tcp));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(o.ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(o.window * PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.window * PAYLOAD));
    // Spares a walk over all of a router's interfaces for each packet; the name changed
    // after 3.40.
    if (!Config::SetDefaultFailSafe("ns3::Ipv4::StrongEndSystemModel", BooleanValue(true)))
    {
        Config::SetDefaultFailSafe("ns3::Ipv4::WeakEsModel", BooleanValue(false));
    }
}

std::string
BitsPerSecond(double rate)
{
    return std::to_string(static_cast<uint64_t>(rate)) + "bps";
}

TrafficControlHelper
Discipline(const Options& o, const std::string& name)
{
    // One of the packets that may wait does so in the device.
    QueueSizeValue limit(QueueSize(std::to_string(o.limit - 1) + "p"));
    TrafficControlHelper helper;
    if (name == "droptail")
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", limit);
    }
    else if (name == "red")
    {
        helper.SetRootQueueDisc("ns3::RedQueueDisc",
                                "MaxSize", limit,
                                "MeanPktSize", UintegerValue(PACKET),
                                "MinTh", DoubleValue(o.minTh),
                                "MaxTh", DoubleValue(o.maxTh),
                                "LInterm", DoubleValue(1.0 / o.maxP),
                                "QW", DoubleValue(o.qw), // 0: 1 - exp(-1/C)
                                "Gentle", BooleanValue(o.qw == 0),
                                "UseEcn", BooleanValue(o.ecn),
                                "UseHardDrop", BooleanValue(o.qw == 0),
                                "LinkBandwidth", StringValue(BitsPerSecond(o.rate)),
                                "LinkDelay", TimeValue(Seconds(o.delay)));
    }
    else if (name == "codel")
    {
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc",
                                "MaxSize", limit,
                                "UseEcn", BooleanValue(o.ecn));
    }
    else if (name == "fq_codel")
    {
        helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc",
                                "MaxSize", limit,
                                "UseEcn", BooleanValue(o.ecn));
    }
    else if (name == "pie")
    {
        helper.SetRootQueueDisc("ns3::PieQueueDisc",
                                "MaxSize", limit,
                                "MeanPktSize", UintegerValue(PACKET),
                                "UseDerandomization", BooleanValue(true),
                                "UseEcn", BooleanValue(o.ecn));
    }
    else if (name == "cobalt")
    {
        helper.SetRootQueueDisc("ns3::CobaltQueueDisc",
                                "MaxSize", limit,
                                "UseEcn", BooleanValue(o.ecn));
    }
    else
    {
        std::fprintf(stderr, "no queue discipline %s here\n", name.c_str());
        std::exit(2);
    }
    return helper;
}

double
CpuSeconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

double
WallSeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

int
main(int argc, char** argv)
{
    Options o;
    o.Read(argc, argv);
    double began = WallSeconds();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(o.seed);
    SetTcpDefaults(o);

    NodeContainer routers(2);
    NodeContainer sources(o.flows);
    NodeContainer destinations(o.flows);
    InternetStackHelper stack;
    Ipv4NixVectorHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(BitsPerSecond(o.rate)));
    bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds(o.delay)));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer link = bottleneck.Install(routers);
    Ptr<QueueDisc> queue = Discipline(o, o.aqm).Install(link.Get(0)).Get(0);
    Discipline(o, "droptail").Install(link.Get(1));
    Waiting waiting;
    queue->TraceConnectWithoutContext("PacketsInQueue",
                                      MakeCallback(&Waiting::InDiscipline, &waiting));
    DynamicCast<PointToPointNetDevice>(link.Get(0))
        ->GetQueue()
        ->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Waiting::InDevice, &waiting));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(link);
    addresses.NewNetwork();

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue(BitsPerSecond(o.access > 0 ? o.access : 1e12)));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    TrafficControlHelper remove;
    auto attach = [&](Ptr<Node> host, Ptr<Node> router, double delay) {
        access.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
        NetDeviceContainer devices = access.Install(host, router);
        Ipv4Address address = addresses.Assign(devices).GetAddress(0);
        addresses.NewNetwork();
        // Giving a device an address also gives it the default queue discipline, which
        // would be a second managed queue.
        for (uint32_t d = 0; d < devices.GetN(); ++d)
        {
            Ptr<NetDevice> device = devices.Get(d);
            Ptr<TrafficControlLayer> layer = device->GetNode()->GetObject<TrafficControlLayer>();
            if (layer && layer->GetRootQueueDiscOnDevice(device))
            {
                remove.Uninstall(device);
            }
        }
        return address;
    };

    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        double step = o.flows > 1 ? double(i) / (o.flows - 1) : 0.0;
        double rtt = o.rttLow + (o.rttHigh - o.rttLow) * step;
        attach(sources.Get(i), routers.Get(0), rtt / 2 - o.delay);
        Ipv4Address address = attach(destinations.Get(i), routers.Get(1), 0);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sinks.Add(sink.Install(destinations.Get(i)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, PORT));
        bulk.SetAttribute("SendSize", UintegerValue(PAYLOAD));
        bulk.Install(sources.Get(i)).Start(Seconds(o.start * start->GetValue()));
    }
    sinks.Start(Seconds(0));

    auto take = [&](Sample* s) {
        const QueueDisc::Stats& stats = queue->GetStats();
        s->waiting = waiting.Integral();
        s->sent = stats.nTotalSentPackets;
        s->bytes = stats.nTotalSentBytes + PPP_HEADER * stats.nTotalSentPackets;
        s->arrived = stats.nTotalReceivedPackets;
        s->dropped = stats.nTotalDroppedPackets;
        s->marked = stats.nTotalMarkedPackets;
        for (uint32_t i = 0; i < sinks.GetN(); ++i)
        {
            s->received.push_back(DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx());
        }
    };
    Sample first;
    Sample last;
    Simulator::Schedule(Seconds(o.warmup), [&]() { take(&first); });
    Simulator::Stop(Seconds(o.time));
    double started = WallSeconds();
    double startedCpu = CpuSeconds();
    Simulator::Run();
    double run = WallSeconds() - started;
    double cpu = CpuSeconds() - startedCpu;
    take(&last);

    double window = o.time - o.warmup;
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        double x = last.received[i] - first.received[i];
        sum += x;
        squares += x * x;
    }
    uint64_t arrived = last.arrived - first.arrived;
    std::printf("{\"tool\":\"ns-3\",\"aqm\":\"%s\",\"seed\":%u,\"setup_s\":%.6f,\"run_s\":%.6f,"
                "\"cpu_s\":%.6f,\"bottleneck_pkts\":%llu,\"util\":%.6f,\"mean_q\":%.4f,"
                "\"loss\":%.6f,\"marked\":%.6f,\"jain\":%.6f}\n",
                o.aqm.c_str(), o.seed, started - began, run, cpu,
                static_cast<unsigned long long>(last.sent),
                (last.bytes - first.bytes) * 8.0 / (window * o.rate),
                (last.waiting - first.waiting) / window,
                arrived ? double(last.dropped - first.dropped) / arrived : 0.0,
                arrived ? double(last.marked - first.marked) / arrived : 0.0,
                squares > 0 ? sum * sum / (o.flows * squares) : 0.0);
    std::fflush(stdout);
    Simulator::Destroy();
    return 0;
}
