# Sender, router and receiver; at the router's way to the receiver stands what `sojourn deploy`
# wrote: a queue that drops, /drop/up.sh; one that marks, /mark/up.sh; and one that marks by size and
# in bytes, /sized/up.sh. A line with "==" begins each part; what is counted is told before and after
# what is measured.
set -eu
for n in sender router receiver; do
    ip netns add $n
    ip -n $n link set lo up
done
ip link add left netns sender type veth peer name left netns router
ip link add right netns router type veth peer name right netns receiver
ip -n sender addr add 10.9.1.1/24 dev left
ip -n router addr add 10.9.1.2/24 dev left
ip -n router addr add 10.9.2.2/24 dev right
ip -n receiver addr add 10.9.2.1/24 dev right
ip -n sender addr add fd01::1/64 dev left nodad
ip -n router addr add fd01::2/64 dev left nodad
ip -n router addr add fd02::2/64 dev right nodad
ip -n receiver addr add fd02::1/64 dev right nodad
for end in "sender left" "router left" "router right" "receiver right"; do
    set -- $end
    ip netns exec $1 ethtool -K $2 tso off gso off gro off >/dev/null
    ip -n $1 link set $2 up
done
ip -n sender route add default via 10.9.1.2
ip -n receiver route add default via 10.9.2.2
ip -n sender route add default via fd01::2
ip -n receiver route add default via fd02::2
for forwards in ipv4/ip_forward ipv6/conf/all/forwarding; do
    ip netns exec router sh -c "echo 1 > /proc/sys/net/$forwards"
done
ip netns exec receiver tc qdisc add dev right root netem delay "$DELAY" limit 100000
ip netns exec receiver iperf3 -s -D >/dev/null

ecn() {
    for n in sender receiver; do
        ip netns exec $n sh -c "echo $1 > /proc/sys/net/ipv4/tcp_ecn"
    done
}

counts() {
    ip netns exec router tc -s qdisc show dev right
    bpftool map dump name ".data.$LAW"
    ip netns exec sender nstat -asz TcpRetransSegs
    ip netns exec receiver nstat -asz IpExtInCEPkts Ip6InCEPkts
}

# Flows to an address for so many seconds, measured after some, with looks at the queue for so many
# seconds. There are counts before the looks, behind them, and when all connections are closed: a
# slow machine looks less often, and yet is done before connections close.
flows() {
    to=$1 length=$2 after=$3 looking=$4
    ip netns exec sender iperf3 -c "$to" -t "$length" -f k -P "$FLOWS" -C cubic >/tmp/iperf &
    sleep "$after"
    counts
    ip netns exec router sh -c '
        read -r now idle </proc/uptime
        end=$((${now%.*} + $1))
        while read -r now idle </proc/uptime && [ "${now%.*}" -lt $end ]; do
            sleep 0.1
            echo qdisc show dev right
        done | tc -s -batch -' looks "$looking"
    counts
    wait
    while read -r first rest; do [ "$first" = "[SUM]" ] && echo "SUM $rest"; done </tmp/iperf
    counts
}

up() {
    OBJECTS=$1 ip netns exec router sh "/$1/up.sh" right
}

# The kernel takes a moment to forget what was taken away.
down() {
    ip netns exec router sh -eu "/$1/down.sh"
    sleep 1
}

echo "== drops"
ecn 0
up drop
flows 10.9.2.1 "$LENGTH" "$WARMUP" "$LOOKING"
down drop
echo "== marks"
ecn 1
up mark
flows 10.9.2.1 "$LENGTH" "$WARMUP" "$LOOKING"
echo "== marks, flows without ECN"
ecn 0
flows 10.9.2.1 "$SHORT" 1 1
echo "== marks, datagrams that come marked"
# Counted twice while they come: the probability falls when they end.
ip netns exec sender iperf3 -c 10.9.2.1 -t 5 -u -S 3 -l 1400 -b 4400k >/tmp/iperf &
sleep 2
counts
sleep 2
counts
wait
down mark
echo "== taken down"
bpftool struct_ops show
bpftool prog show
ip netns exec router tc qdisc show dev right
ip netns exec router tc filter show dev right egress
echo "== marks by size, IPv6"
ecn 1
up sized
flows fd02::1 "$SHORT" 1 1
echo "== marks by size, no classifier"
ip netns exec router tc filter del dev right egress
flows 10.9.2.1 "$SHORT" 1 1
echo "GUEST DONE"
