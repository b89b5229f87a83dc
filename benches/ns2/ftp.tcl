# One long FTP over the fixed network of the benchmarks, in ns-2:
#
#   server --- 10 Mb/s, 110 ms --- Node B --- 384 kb/s, 0 ms ---> phone
#                                         <--- 64 kb/s, 20 ms ---
#
# usage: ns ftp.tcl BYTES
#
# Prints the simulated time and the data packets sent. Headers that TCP over IP does not need are
# taken out of the packets, which makes ns-2 faster.

if {[llength $argv] != 1} {
    puts stderr "usage: ns ftp.tcl BYTES"
    exit 2
}

remove-all-packet-headers
add-packet-header Flags IP TCP

set sim [new Simulator]
set server [$sim node]
set nodeb [$sim node]
set phone [$sim node]

$sim duplex-link $server $nodeb 10Mb 110ms DropTail
$sim simplex-link $nodeb $phone 384kb 0ms DropTail
$sim simplex-link $phone $nodeb 64kb 20ms DropTail
foreach {from to} [list $server $nodeb $nodeb $server $nodeb $phone $phone $nodeb] {
    $sim queue-limit $from $to 1000
}

# 1460 B of data and 40 B of headers; the window never overflows a queue.
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 42
Agent/TCP set minrto_ 1.0

set sender [new Agent/TCP/Newreno]
set receiver [new Agent/TCPSink/DelAck]
$sim attach-agent $server $sender
$sim attach-agent $phone $receiver
$sim connect $sender $receiver

set ftp [new Application/FTP]
$ftp attach-agent $sender

# ns-2 calls this when the last byte has been acknowledged.
Agent/TCP instproc done {} {
    global sim
    puts "simtime=[$sim now] data_pkts=[$self set ndatapack_]"
    exit 0
}

$sim at 0.0 "$ftp send [lindex $argv 0]"
$sim run
