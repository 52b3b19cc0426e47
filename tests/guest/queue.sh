# Sender, router and receiver; at the router's way to the receiver stands what `sojourn deploy`
# wrote, /deploy.sh. Prints the queue's length every tenth of a second.
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
for end in "sender left" "router left" "router right" "receiver right"; do
    set -- $end
    ip netns exec $1 ethtool -K $2 tso off gso off gro off >/dev/null
    ip -n $1 link set $2 up
done
ip -n sender route add default via 10.9.1.2
ip -n receiver route add default via 10.9.2.2
ip netns exec router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec receiver tc qdisc add dev right root netem delay "$DELAY" limit 100000

ip netns exec router sh /deploy.sh right
ip netns exec receiver iperf3 -s -D >/dev/null
sleep 0.5
ip netns exec sender iperf3 -c 10.9.2.1 -t "$LENGTH" -P "$FLOWS" -C cubic -f k >/tmp/iperf &
sleep "$WARMUP"
ip netns exec router tc -s qdisc show dev right
at=0
while [ $at -lt "$SAMPLES" ]; do
    sleep 0.1
    at=$((at + 1))
    ip netns exec router tc -s qdisc show dev right | {
        while read -r word _ packets _; do [ "$word" = backlog ] && echo "QUEUE $packets"; done
        true
    }
done
wait
while read -r first rest; do [ "$first" = "[SUM]" ] && echo "SUM $rest"; done </tmp/iperf
ip netns exec router tc -s qdisc show dev right
bpftool map dump name "$LAW.data"
ip netns exec router tc qdisc del dev right root
bpftool struct_ops unregister name "sojourn_$LAW"
echo "GUEST DONE"
