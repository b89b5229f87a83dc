//! Plays the scripts of `scripts/`. Linux 6.18 passes them as well, except `pacing-credit.pkt`, which was not played
//! on it (see `docs/models/kernel.md`).

use std::path::Path;

use nodeb_packetdrill::report::{Verdict, find, play_text};

#[test]
fn every_script_passes() {
    let scripts = find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")).unwrap();
    assert!(!scripts.is_empty());
    let failed: Vec<String> = scripts
        .iter()
        .filter_map(|path| {
            let verdict = play_text(&std::fs::read_to_string(path).unwrap(), None);
            let whole = matches!(&verdict, Verdict::Passed(passed) if passed.unchecked.is_empty());
            (!whole).then(|| format!("{}: {}: {verdict}", path.display(), verdict.name()))
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Returns a script in which a server writes 3000 bytes after the handshake, followed by `tail`.
fn script(tail: &str) -> String {
    format!(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 < S 0:0(0) win 65535 <mss 1000,sackOK>\n\
         +0 > S. 0:0(0) ack 1 <...>\n\
         +.1 < . 1:1(0) ack 1 win 65535\n\
         +0 write(4, ..., 3000) = 3000\n{tail}"
    )
}

fn verdict(tail: &str) -> String {
    let verdict = play_text(&script(tail), None);
    format!("{}: {verdict}", verdict.name())
}

#[test]
fn first_difference_is_reported() {
    for (tail, shown) in [
        (
            "+0 > P. 1:2001(2000) ack 1\n+0 > P. 1:1001(1000) ack 1",
            "differs: line 7: expected `+0 > P. 1:1001(1000) ack 1`, \
             got `. 2001:3001(1000) ack 1` at 0.100000 s",
        ),
        (
            "+.05 > P. 1:3001(3000) ack 1",
            "differs: line 6: expected `+.05 > P. 1:3001(3000) ack 1 at 0.150000 s`, \
             got `. 1:3001(3000) ack 1` at 0.100000 s",
        ),
        (
            "+0 > P. 1:3001(3000) ack 1\n+0 %{\nassert tcpi_unacked == 4\n}%",
            "differs: line 8: expected `assert tcpi_unacked == 4`, got `tcpi_unacked = 3` at 0.100000 s",
        ),
        (
            "+0 > P. 1:3001(3000) ack 1\n+.05 > P. 3001:4001(1000) ack 1",
            "differs: line 7: expected `+.05 > P. 3001:4001(1000) ack 1`, \
             got `nothing until 0.156250 s` at 0.156250 s",
        ),
    ] {
        assert_eq!(verdict(tail), shown);
    }
}

#[test]
fn feature_not_modelled_is_named() {
    for (tail, shown) in [
        ("+0 > F. 1:1(0) ack 1", "not modelled: line 6: nothing up to here can be compared"),
        ("+0 < . 1:1001(1000) ack 1 win 9", "not modelled: line 1: data in both directions"),
        ("+0 write(4, ..., 5, MSG_MORE) = 5", "not modelled: line 6: MSG_MORE"),
        ("+0 < icmp unreachable [1:1001(1000)]", "not modelled: line 6: a packet of icmp"),
        ("+0 < sctp: INIT[flgs=0,\n  tsn=0];\n  PAD[]", "not modelled: line 6: a packet of sctp"),
        (
            "+0 < > addr[saddr0] S 0:0(0) win 9 <mss 1460>",
            "not modelled: line 6: a packet with addresses, as of a subflow of MPTCP",
        ),
        ("+0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 4", "not modelled: line 6: a socket of MPTCP"),
        (
            "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0",
            "not modelled: line 6: the socket option TCP_CORK",
        ),
    ] {
        let shown = if tail.contains("1001(1000)") && tail.starts_with("+0 < .") {
            let tail = format!("+0 > . 1:3001(3000) ack 1\n{tail}");
            (verdict(&tail), shown)
        } else {
            (verdict(tail), shown)
        };
        assert_eq!(shown.0, shown.1);
    }
}

#[test]
fn test_of_counters_is_not_evaluated() {
    let tail = "+0 > P. 1:3001(3000) ack 1\n+0 `nstat -n`\n+0 `nstat | grep -q \" 3 \"`";
    let shown =
        "passed: 1 packets, 0 assertions; not evaluated: the command `nstat | grep -q \" 3 \"`, line 8";
    assert_eq!(verdict(tail), shown);
}

/// A receiver whose application leaves data unread, or that gets segments beyond the MTU, is not
/// modelled. Other differences of a receiver are differences.
#[test]
fn limitation_of_receiver_is_no_difference() {
    let acknowledged =
        |bytes: u64| format!("+0 < P. 1:{0}({bytes}) ack 1 win 9\n+0 > . 1:1(0) ack {0} win 1\n", bytes + 1);
    let read = "+0 read(4, ..., 2000) = 1000\n";
    for (tail, shown) in [
        (acknowledged(1_000), "differs"),
        (acknowledged(1_461), "not modelled: line 6: segments beyond the MTU, here of 1461 B"),
        (acknowledged(1_000) + read, "not modelled: line 6: an application that leaves data unread"),
        (format!("+0 < P. 1:1001(1000) ack 1 win 9\n{read}+.04 > . 1:1(0) ack 1001 win 1"), "differs"),
    ] {
        let text = script(&tail).replace("+0 write(4, ..., 3000) = 3000\n", "");
        let verdict = play_text(&text, None);
        let verdict = format!("{}: {verdict}", verdict.name());
        assert!(verdict.starts_with(shown), "{verdict}");
    }
}

#[test]
fn syntax_errors_are_reported_with_their_line() {
    for (tail, shown) in [
        ("+0 > P. 1:2001(1000) ack 1", "line 6: 1:2001 are not 1000 bytes"),
        ("+0 > X. 1:2001(2000)", "line 6: X is no flag of TCP; expected S . F R P E W U"),
        ("hello", "line 6: expected a time in seconds, found `hello`"),
        ("+0 write(4, ...", "line 6: the parenthesis of this call is never closed"),
        ("+0 %{ assert 1", "line 6: `}%` is missing"),
        ("+90000 close(4) = 0", "line 6: expected a time of at most 86400 s, found `90000 close(4) = 0`"),
    ] {
        assert_eq!(verdict(tail), format!("could not be read: {shown}"));
    }
}
