# Pareto bursts of several TCP connections over one shared link, in ns-2: the load of channel
# switching without any switching.
#
#   server i --- 5 Mb/s, 30 ms --- Node B --- 393 kb/s, 0 ms ---> phones   (384 + 33 - 24)
#                                         <--- 64 kb/s, 0 ms ---
#
# usage: ns bursts.tcl SECONDS CONNECTIONS
#
# Prints the simulated time, the data packets sent and the bursts completed. Headers that TCP over
# IP does not need are taken out of the packets, which makes ns-2 faster.

if {[llength $argv] != 2} {
    puts stderr "usage: ns bursts.tcl SECONDS CONNECTIONS"
    exit 2
}
lassign $argv seconds connections

remove-all-packet-headers
add-packet-header Flags IP TCP

set sim [new Simulator]
$defaultRNG seed 1
set nodeb [$sim node]
set phones [$sim node]
$sim simplex-link $nodeb $phones 393kb 0ms DropTail
$sim simplex-link $phones $nodeb 64kb 0ms DropTail
$sim queue-limit $nodeb $phones 1000
$sim queue-limit $phones $nodeb 1000

# 280 B of data and 40 B of headers.
Agent/TCP set packetSize_ 280
Agent/TCP set window_ 20
Agent/TCP set minrto_ 1.0

# Bursts of 30 kB on average. After each burst there is a short pause or, after a third of the
# bursts, a longer silence.
set packets [new RandomVariable/Pareto]
$packets set avg_ [expr {30000.0 / 280}]
$packets set shape_ 1.1
set unit_mean [new RandomVariable/Exponential]
$unit_mean set avg_ 1.0
set uniform [new RandomVariable/Uniform]

proc wait {} {
    global uniform unit_mean
    return [expr {([$uniform value] < 0.33 ? 5.0 : 0.3) * [$unit_mean value]}]
}

proc burst {sender} {
    global packets
    $sender advanceby [expr {int(min(ceil([$packets value]), 1e8))}]
}

# ns-2 calls this when the last packet of a burst has been acknowledged.
Agent/TCP instproc done {} {
    global sim bursts
    incr bursts
    $sim at [expr {[$sim now] + [wait]}] "burst $self"
}

set bursts 0
set senders {}
for {set i 0} {$i < $connections} {incr i} {
    set server [$sim node]
    $sim duplex-link $server $nodeb 5Mb 30ms DropTail
    set sender [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink]
    $sim attach-agent $server $sender
    $sim attach-agent $phones $receiver
    $sim connect $sender $receiver
    $sim at [wait] "burst $sender"
    lappend senders $sender
}

$sim at $seconds {
    set sent 0
    foreach sender $senders { incr sent [$sender set ndatapack_] }
    puts "simtime=[$sim now] data_pkts=$sent bursts=$bursts"
    exit 0
}
$sim run
