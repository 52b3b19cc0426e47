# The reference dumbbell in ns-2 (2.35): long flows, or the replay of a workload file.
#
#   ns dumbbell.tcl ?-option value?...
#
# Prints one line of JSON. `run_s` is the wall time of the event loop alone, `cpu_s` the
# processor time of the same stretch, `setup_s` everything before it. What ns-2 means by
# its parameters, and how each was matched to ours, stands in benches/README.md.

array set opt {
    aqm droptail    flows 100       rate 100e6      delay 0.005     limit 1000
    access 0        rttlow 0.050    rtthigh 0.150   start 1.0       seed 1
    time 60         warmup 20       window 2000     iw 10           minrto 0.2
    delack 0        timestamps 1    overhead 0      header 52       payload 1448
    qref 200        pia 1.822e-5    pib 1.816e-5    pihz 170
    minth 100       maxth 300       maxp 0.1        wq 0            gentle 1
    wait 1          gamma 0.001     phi 1.001       remtick 0.002
    replay ""       both 0          monitor 1
}
# aqm         droptail, red, ared, pi or rem, left to right (and back with -both 1)
# flows       long flows, or host pairs over which a replay is spread
# limit       packets that may wait, the one in service not counted
# access      bit/s of the private links, 0: so fast that it does not matter
# start       start times are uniform in [0, start) seconds, drawn from -seed
# window      cap of the window in packets (also the initial slow-start threshold)
# overhead    senders wait uniform [0, overhead) seconds before each burst
# wq          RED's weight; 0 lets ns-2 take 1 - exp(-1/C), C in packets per second
# replay      file of lines "start,source,destination,bytes[,rtt]", nodes `left` and `right`
foreach {name value} $argv {
    set name [string trimleft $name -]
    if {![info exists opt($name)]} { puts stderr "no option -$name"; exit 2 }
    set opt($name) $value
}

# Nanoseconds of processor time so far (Linux); ns-2 has one thread.
proc cpu_ns {} {
    if {[catch {open /proc/self/schedstat} file]} { return 0 }
    set fields [gets $file]
    close $file
    return [lindex $fields 0]
}
set began [clock microseconds]

remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
$defaultRNG seed $opt(seed)
set start_rng [new RNG]
$ns rtproto Manual

# ---- TCP: SACK, Reno's window rule, a handshake of one SYN and its ack ----------------
set timestamp_bytes [expr {$opt(timestamps) ? 12 : 0}]
Agent/TCP set packetSize_ $opt(payload)
Agent/TCP set tcpip_base_hdr_size_ [expr {$opt(header) - $timestamp_bytes}]
Agent/TCP set ts_option_size_ $timestamp_bytes
Agent/TCP set timestamps_ $opt(timestamps)
Agent/TCPSink set ts_echo_rfc1323_ $opt(timestamps)
Agent/TCPSink set packetSize_ $opt(header)
Agent/TCP set window_ $opt(window)
Agent/TCP set windowInit_ $opt(iw)
Agent/TCP set minrto_ $opt(minrto)
Agent/TCP set tcpTick_ 0.001
Agent/TCP set overhead_ $opt(overhead)
set sink_class Agent/TCPSink/Sack1
if {$opt(delack)} { append sink_class /DelAck }

# ---- queue disciplines, all in packets ------------------------------------------------
set packet_bytes [expr {$opt(payload) + $opt(header)}]
Queue set limit_ 1000000
foreach class {RED PI REM} { Queue/$class set mean_pktsize_ $packet_bytes }
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ $opt(minth)
Queue/RED set maxthresh_ $opt(maxth)
Queue/RED set linterm_ [expr {1.0 / $opt(maxp)}]
Queue/RED set q_weight_ $opt(wq)
Queue/RED set gentle_ $opt(gentle)
Queue/RED set wait_ $opt(wait)
Queue/RED set adaptive_ [expr {$opt(aqm) eq "ared"}]
Queue/PI set bytes_ false
Queue/PI set queue_in_bytes_ false
Queue/PI set a_ $opt(pia)
Queue/PI set b_ $opt(pib)
Queue/PI set w_ $opt(pihz)
Queue/PI set qref_ $opt(qref)
Queue/REM set pbo_ $opt(qref)
Queue/REM set gamma_ $opt(gamma)
Queue/REM set phi_ $opt(phi)
Queue/REM set pupdtime_ $opt(remtick)
array set classes {droptail DropTail red RED ared RED pi PI rem REM}
if {![info exists classes($opt(aqm))]} { puts stderr "ns-2 has no $opt(aqm)"; exit 2 }
# DropTail and REM refuse the packet that would make `limit_` wait; RED and PI let it in.
proc limit_of {class} {
    global opt
    return [expr {$opt(limit) + ($class in {DropTail REM} ? 1 : 0)}]
}

# ---- topology: source - left = right - destination, one pair of hosts per flow ---------
set left [$ns node]
set right [$ns node]
set forward_class $classes($opt(aqm))
set back_class [expr {$opt(both) ? $forward_class : "DropTail"}]
foreach {from to class} [list $left $right $forward_class $right $left $back_class] {
    $ns simplex-link $from $to $opt(rate) ${opt(delay)}s $class
    $ns queue-limit $from $to [limit_of $class]
}
set access [expr {$opt(access) > 0 ? $opt(access) : 1e15}]
proc route {node via args} {
    [$node get-module Manual] add-route-to-adj-node {*}$args $via
}
route $left $right -default
route $right $left -default
for {set i 0} {$i < $opt(flows)} {incr i} {
    set step [expr {$opt(flows) > 1 ? double($i) / ($opt(flows) - 1) : 0.0}]
    set rtt [expr {$opt(rttlow) + ($opt(rtthigh) - $opt(rttlow)) * $step}]
    set src($i) [$ns node]
    set dst($i) [$ns node]
    $ns duplex-link $src($i) $left $access [expr {$rtt / 2 - $opt(delay)}]s DropTail
    $ns duplex-link $right $dst($i) $access 0s DropTail
    route $src($i) $left -default
    route $dst($i) $right -default
    route $left $src($i)
    route $right $dst($i)
}

# ---- traffic --------------------------------------------------------------------------
proc connection {from to} {
    global ns sink_class sink_of
    set agent [new Agent/TCP/Sack1]
    set sink [new $sink_class]
    $ns attach-agent $from $agent
    $ns attach-agent $to $sink
    $ns connect $agent $sink
    set sink_of($agent) $sink
    return $agent
}

set finished 0
set response_sum 0.0
set agents 0
if {$opt(replay) eq ""} {
    for {set i 0} {$i < $opt(flows)} {incr i} {
        set tcp($i) [connection $src($i) $dst($i)]
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp($i)
        $ns at [expr {$opt(start) * [$start_rng uniform 0 1]}] "$ftp start"
    }
} else {
    # Agents are pooled by direction and host pair: a fresh pair of ns-2 agents for each
    # transfer would cost more than the transfer.
    set workload [open $opt(replay)]
    set transfer 0
    proc read_transfer {} {
        global ns workload pending
        while {[gets $workload pending] >= 0} {
            set at [lindex [split $pending ,] 0]
            if {[string is double -strict $at]} { $ns at $at begin_transfer; return }
        }
    }
    proc begin_transfer {} {
        global opt ns pending transfer idle key_of src dst began_at agents
        lassign [split $pending ,] at source destination bytes
        set host [expr {$transfer % $opt(flows)}]
        incr transfer
        set key $source,$host
        if {[info exists idle($key)] && [llength $idle($key)]} {
            # The one idle longest: nothing of its last life is still on the way.
            set idle($key) [lassign $idle($key) agent]
            $agent reset
            $::sink_of($agent) reset
        } else {
            if {$source eq "left"} {
                set agent [connection $src($host) $dst($host)]
            } else {
                set agent [connection $dst($host) $src($host)]
            }
            set key_of($agent) $key
            $agent proc done {} "end_transfer $agent"
            incr agents
        }
        set began_at($agent) [$ns now]
        # ns-2 sends whole packets, and adds one itself for the SYN.
        $agent advanceby [expr {($bytes + $opt(payload) - 1) / $opt(payload)}]
        read_transfer
    }
    proc end_transfer {agent} {
        global ns idle key_of began_at finished response_sum
        incr finished
        set response_sum [expr {$response_sum + [$ns now] - $began_at($agent)}]
        lappend idle($key_of($agent)) $agent
    }
    read_transfer
}

# ---- measures -------------------------------------------------------------------------
if {$opt(monitor)} {
    set monitor [$ns monitor-queue $left $right ""]
    set integral [$monitor get-pkts-integrator]
}
proc sample {when} {
    global ns opt monitor integral at tcp
    if {$opt(monitor)} {
        $integral newpoint [$ns now] [$integral set lasty_]
        set at($when,queue) [$integral set sum_]
        foreach counter {parrivals_ pdrops_ pdepartures_ bdepartures_} {
            set at($when,$counter) [expr {int([$monitor set $counter])}]
        }
    }
    if {$opt(replay) eq ""} {
        for {set i 0} {$i < $opt(flows)} {incr i} { set at($when,$i) [$tcp($i) set ack_] }
    }
}
proc gained {counter} {
    global at
    return [expr {$at(end,$counter) - $at(begin,$counter)}]
}
proc report {} {
    global opt ns at began started cpu_started finished response_sum agents
    set run_s [expr {([clock microseconds] - $started) / 1e6}]
    set cpu_s [expr {([cpu_ns] - $cpu_started) / 1e9}]
    sample end
    set window [expr {double($opt(time) - $opt(warmup))}]
    set fields [list "\"tool\":\"ns-2.35\"" "\"aqm\":\"$opt(aqm)\"" "\"seed\":$opt(seed)" \
        "\"setup_s\":[expr {($started - $began) / 1e6}]" "\"run_s\":$run_s" "\"cpu_s\":$cpu_s"]
    if {$opt(monitor)} {
        # The byte counter has 32 bits and wraps at high rates; packets all have one size
        # but for the SYNs, so the true count is the one congruent to it next to that.
        set packets [gained pdepartures_]
        set guess [expr {$packets * ($opt(payload) + $opt(header))}]
        set low [expr {[gained bdepartures_] & 0xffffffff}]
        set wraps [expr {$opt(replay) eq "" ? round(double($guess - $low) / 4294967296.0) : 0}]
        set bytes [expr {$low + $wraps * 4294967296}]
        set arrived [gained parrivals_]
        lappend fields "\"bottleneck_pkts\":$at(end,pdepartures_)" \
            "\"util\":[expr {$bytes * 8.0 / ($window * $opt(rate))}]" \
            "\"mean_q\":[expr {[gained queue] / $window}]" \
            "\"loss\":[expr {$arrived ? double([gained pdrops_]) / $arrived : 0.0}]"
    }
    if {$opt(replay) eq ""} {
        set sum 0.0
        set squares 0.0
        for {set i 0} {$i < $opt(flows)} {incr i} {
            set x [expr {double([gained $i])}]
            set sum [expr {$sum + $x}]
            set squares [expr {$squares + $x * $x}]
        }
        lappend fields "\"jain\":[expr {$squares ? $sum * $sum / ($opt(flows) * $squares) : 0.0}]"
    } else {
        lappend fields "\"finished\":$finished" "\"agents\":$agents" \
            "\"mean_response_s\":[expr {$finished ? $response_sum / $finished : 0.0}]"
    }
    puts "{[join $fields ,]}"
    exit 0
}
$ns at $opt(warmup) "sample begin"
$ns at $opt(time) report
set started [clock microseconds]
set cpu_started [cpu_ns]
$ns run
