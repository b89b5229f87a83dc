# Many FTPs through one bottleneck, in ns-2:
#
#   server i --- 100 Mb/s, 1..10 ms --- A --- 10 Mb/s, 20 ms --- B --- 100 Mb/s, 1 ms --- phone i
#
# usage: ns many.tcl VARIANT FLOWS SECONDS
#
# VARIANT is Newreno or Sack1. Prints the simulated time and the data packets sent. Headers that
# TCP over IP does not need are taken out of the packets, which makes ns-2 faster.

if {[llength $argv] != 3} {
    puts stderr "usage: ns many.tcl VARIANT FLOWS SECONDS"
    exit 2
}
lassign $argv variant flows seconds

remove-all-packet-headers
add-packet-header Flags IP TCP

# 960 B of data and 40 B of headers.
Agent/TCP set packetSize_ 960
Agent/TCP set window_ 64
Agent/TCP set minrto_ 1.0

set sim [new Simulator]
set a [$sim node]
set b [$sim node]
$sim duplex-link $a $b 10Mb 20ms DropTail
$sim queue-limit $a $b 100

set sink [expr {$variant eq "Sack1" ? "Agent/TCPSink/Sack1" : "Agent/TCPSink"}]
set senders {}
for {set i 0} {$i < $flows} {incr i} {
    set server [$sim node]
    set phone [$sim node]
    $sim duplex-link $server $a 100Mb [expr {1 + $i % 10}]ms DropTail
    $sim duplex-link $b $phone 100Mb 1ms DropTail
    set sender [new Agent/TCP/$variant]
    set receiver [new $sink]
    $sim attach-agent $server $sender
    $sim attach-agent $phone $receiver
    $sim connect $sender $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $sim at [expr {0.01 * $i}] "$ftp start"
    lappend senders $sender
}

proc finish {} {
    global sim senders
    set packets 0
    foreach sender $senders {
        incr packets [$sender set ndatapack_]
    }
    puts "simtime=[$sim now] data_pkts=$packets"
    exit 0
}
$sim at $seconds "finish"
$sim run
