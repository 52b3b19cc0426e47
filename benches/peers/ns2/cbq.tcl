# Class-based queueing in ns-2, for crates/qdisc/tests/it/classful/ns2.rs: what part of a 10 Mb/s link
# each class gets.
#
#   ns cbq.tcl NAME...      the cases below; all without a name
#
# A class is {name parent share priority borrows fid packet rate from to}: classes without a fid
# have no queue; rate in Mb/s (CBR). Printed: the class's rate in Mb/s between 5 and 25 s.

set leaf 1
set cases {
    {overload ancestor-only {
        {a link 0.5 1 1 1 1000 12 0 30} {b link 0.3 1 1 2 500 12 0 30} {c link 0.2 1 1 3 200 12 0 30}}}
    {bounded ancestor-only {
        {a link 0.4 1 0 1 1000 12 0 30} {b link 0.3 1 0 2 1000 12 0 30} {c link 0.2 1 0 3 1000 12 0 30}}}
    {idle ancestor-only {
        {a link 0.5 1 1 1 1000 0 0 30} {b link 0.3 1 1 2 1000 12 0 30} {c link 0.2 1 1 3 1000 12 0 30}}}
    {agencies formal {
        {A link 0.5 1 1 0} {B link 0.5 1 1 0}
        {a1 A 0.3 1 1 1 1000 12 0 30} {a2 A 0.2 1 1 2 1000 12 0 30}
        {b1 B 0.35 1 1 3 1000 12 0 30} {b2 B 0.15 1 1 4 1000 12 0 30}}}
    {agency-with-idle-class formal {
        {A link 0.5 1 1 0} {B link 0.5 1 1 0}
        {a1 A 0.3 1 1 1 1000 0 0 30} {a2 A 0.2 1 1 2 1000 12 0 30}
        {b1 B 0.35 1 1 3 1000 12 0 30} {b2 B 0.15 1 1 4 1000 12 0 30}}}
    {agency-with-idle-class-top-level top-level {
        {A link 0.5 1 1 0} {B link 0.5 1 1 0}
        {a1 A 0.3 1 1 1 1000 0 0 30} {a2 A 0.2 1 1 2 1000 12 0 30}
        {b1 B 0.35 1 1 3 1000 12 0 30} {b2 B 0.15 1 1 4 1000 12 0 30}}}
    {priority formal {
        {a link 0.3 1 1 1 1000 12 0 30} {b link 0.5 2 1 2 1000 12 0 30} {c link 0.2 2 1 3 1000 12 0 30}}}
}

proc run {name algorithm classes} {
    set ns [new Simulator]
    set left [$ns node]
    set right [$ns node]
    $ns simplex-link $left $right 10Mb 1ms CBQ/WRR
    $ns simplex-link $right $left 10Mb 1ms DropTail
    set link [$ns link $left $right]
    [$link queue] algorithm $algorithm
    # A turn in bytes. With 1000, as large as a packet, turns are rounded to whole packets and two
    # classes of 30 and 20 % share a link by 56 and 44 %.
    [$link queue] set maxpkt_ 1500
    set top [new CBQClass]
    set nested 0
    foreach class $classes { if {[lindex $class 5] == 0} { set nested 1 } }
    # parent borrows share maxidle priority level extradelay
    $top setparams none 0 1.0 auto 8 [expr 2 + $nested] 0
    set made(link) $top
    $link insert $top
    set sinks {}
    set random [new RNG]
    $random seed 7
    foreach class $classes {
        foreach {id parent share priority borrows fid bytes rate from to} $class break
        set c [new CBQClass]
        set made($id) $c
        set level [expr $fid == 0 ? 2 : 1]
        $c setparams $made($parent) $borrows $share auto $priority $level 0
        if {$fid > 0} {
            set q [new Queue/DropTail]
            $q set limit_ 100
            $c install-queue $q
        }
        $link insert $c
        if {$fid > 0} {
            $link bind $c $fid
            set udp [new Agent/UDP]
            $udp set fid_ $fid
            $udp set packetSize_ $bytes
            set sink [new Agent/LossMonitor]
            $ns attach-agent $left $udp
            $ns attach-agent $right $sink
            $ns connect $udp $sink
            lappend sinks $id $sink
            if {$rate > 0} {
                set cbr [new Application/Traffic/CBR]
                $cbr set packetSize_ $bytes
                $cbr set rate_ ${rate}Mb
                $cbr set random_ 1
                $cbr attach-agent $udp
                $ns at [expr $from + 0.001 * $fid] "$cbr start"
                $ns at $to "$cbr stop"
            }
        }
    }
    foreach {id sink} $sinks { $ns at 5.0 "$sink set bytes_ 0" }
    $ns at 25.0 "report $name [list $sinks]"
    $ns at 25.0 "exit 0"
    $ns run
}

proc report {name sinks} {
    puts -nonewline "$name"
    foreach {id sink} $sinks {
        puts -nonewline [format " %s %.3f" $id [expr [$sink set bytes_] * 8.0 / 20e6]]
    }
    puts ""
    flush stdout
}

# ns-2 runs one simulation in a process.
if {[llength $argv] == 1} {
    foreach case $cases {
        if {[lindex $case 0] == [lindex $argv 0]} { eval run $case }
    }
} else {
    foreach case $cases { puts [exec ns [info script] [lindex $case 0]] }
}
