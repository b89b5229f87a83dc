use nodeb_packetdrill::report::play_text;
use proptest::prelude::*;

const PIECES: [&str; 40] = [
    "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n",
    "+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"bbr\", 3) = 0\n",
    "+0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [1], 4) = 0\n",
    "+0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [0], 4) = 0\n",
    "`sysctl net.ipv4.tcp_wmem=\"0 0 0\" net.ipv4.tcp_rmem=\"1 1 1\" net.ipv4.tcp_sack=0`\n",
    "`ip route change default initcwnd 1000`\n",
    "+0 < S 0:0(0) win 65535 <mss 1,sackOK,TS val 1 ecr 0,nop,wscale 14>\n",
    "+0 < S 0:0(0) win 0 <mss 65535,sackOK>\n",
    "+0 > S. 0:0(0) ack 1 <...>\n",
    "+0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>\n",
    "+.1 < S. 0:0(0) ack 1 win 65535 <mss 1000>\n",
    "+.1 < . 1:1(0) ack 1 win 65535\n",
    "+0 connect(3, ..., ...) = 0\n",
    "+0 write(4, ..., 100000) = 100000\n",
    "+0 write(4, ..., 1) = 1\n",
    "+0 read(4, ..., 1) = 1\n",
    "+0 > P. 1:10001(10000) ack 1\n",
    "* > . 1:1001(1000) ack 1\n",
    "+.1 < . 1:1(0) ack 10001 win 0\n",
    "+.1 < E. 1:1(0) ack 4294967295 win 1\n",
    "+.1 < . 1:1(0) ack 1 win 500 <sack 1001:2001 1:4294967295 5:1>\n",
    "+.1 < . 1:1(0) ack 1001 win 500 <nop,nop,sack 1:1001,TS val 1 ecr 100>\n",
    "+.1 < [ce] . 1:1001(1000) ack 1 win 500\n",
    "+0 < . 4294967294:4294967295(1) ack 1 win 500\n",
    "+0 < W. 1:4294967295(4294967294) ack 1 win 500\n",
    "+0 > . 1:1(0) ack 1001 <nop,nop,sack 2001:3001>\n",
    "+80000 %{ assert tcpi_snd_cwnd == 10 }%\n",
    "+0 %{ assert ((((1)))) - -1 % 0, 1 }%\n",
    "+0...1 close(4) = 0\n",
    "+0 < icmp unreachable [1:1001(1000)]\n",
    "+1~+2 > . 1:1(0) ack 1\n",
    "/* ",
    "*/",
    "//",
    "%{",
    "}%",
    "`",
    "(",
    "\"",
    "\u{1f4e1}",
];

const OPENINGS: [&str; 4] = [
    "0 < S 0:0(0) win 65535 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
     +.1 < . 1:1(0) ack 1 win 65535 <nop,nop,TS val 1 ecr 100>\n",
    "0 < SEW 0:0(0) win 65535 <mss 10>\n+0 > SE. 0:0(0) ack 1 <mss 10>\n+.1 < . 1:1(0) ack 1 win 65535\n",
    "0 < S 0:0(0) win 65535 <mss 1,sackOK,nop,wscale 14>\n+0 > S. 0:0(0) ack 1 <...>\n\
     +.1 < . 1:1(0) ack 1 win 1\n",
    "0 connect(3, ..., ...) = 0\n+0 > S 0:0(0) <...>\n+.1 < S. 0:0(0) ack 1 win 65535 <mss 1000,sackOK>\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_verdict(text in "\\PC*") {
        play_text(&text, None);
    }

    #[test]
    fn any_order_of_fragments_has_a_verdict(order in prop::collection::vec(0..PIECES.len(), 0..25)) {
        let text: String = order.into_iter().map(|piece| PIECES[piece]).collect();
        play_text(&text, None);
    }

    #[test]
    fn any_course_of_a_connection_has_a_verdict(
        opening in 0..OPENINGS.len(),
        order in prop::collection::vec(12..31_usize, 0..40),
    ) {
        let rest: String = order.into_iter().map(|piece| PIECES[piece]).collect();
        play_text(&format!("{}{rest}", OPENINGS[opening]), None);
    }
}
