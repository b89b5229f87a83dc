use nodeb_base::units::Duration;
use nodeb_packetdrill::download::Download;
use nodeb_packetdrill::report::{Verdict, play_text};
use proptest::prelude::*;

fn download(keys: &str) -> Download {
    let mut download = Download::default();
    keys.split(' ').try_for_each(|key| download.set(key)).unwrap();
    download
}

#[test]
fn script_of_a_download_passes() {
    for keys in [
        "bytes=144800",
        "bytes=1",
        "lost=1,2,3,4,5,6,7,8,9,10 control=reno",
        "lost=15,16,20,72 control=cubic timestamps=1",
        "lost=68,69,70 delay_ms=100 rate_bps=384000",
        "queue=5 packet_size=1000 control=reno",
        "writes=0:40000,0.02:500,2.5:30000,2.6:1000,2.7:1000,9:60000 lost=12 control=cubic",
    ] {
        let script = download(keys).script();
        let verdict = play_text(&script, None);
        let Verdict::Passed(passed) = &verdict else {
            panic!("{keys}: {verdict}\n{script}");
        };
        assert!(passed.packets > 0 && passed.unchecked.is_empty(), "{keys}: {verdict}");
    }
}

#[test]
fn difference_from_the_recorded_download_is_detected() {
    let script = download("lost=15 control=reno").script();
    for (text, other, got) in [
        ("tcpi_snd_ssthresh == 12", "tcpi_snd_ssthresh == 11", "tcpi_snd_ssthresh = 12"),
        ("0.126208000 > P. 14601", "0.136208000 > P. 14601", ". 14601:16061(1460) ack 1"),
    ] {
        assert!(script.contains(text), "{script}");
        let verdict = play_text(&script.replace(text, other), None);
        assert!(matches!(&verdict, Verdict::Differs(found) if found.got == got), "{verdict}");
    }
}

#[test]
fn invalid_keys_are_rejected() {
    for (key, error) in [
        ("bytes", "bytes: expected KEY=VALUE"),
        ("bytes=0", "bytes=0: expected a whole number from 1 to 150000"),
        (
            "writes=0:9,1",
            "writes=0:9,1: expected SECONDS:BYTES with commas between, at most 150000 B in total",
        ),
        ("lost=1,x", "lost=1,x: expected numbers with commas between"),
        (
            "colour=1",
            "colour: no such key; expected bytes, writes, rate_bps, delay_ms, queue, lost, control, timestamps or packet_size",
        ),
    ] {
        assert_eq!(Download::default().set(key), Err(error.to_owned()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_download_is_a_script_that_passes(
        lost in prop::collection::vec(1..120_u64, 0..15),
        kbps in 200..10_000_u64,
        delay in 1..150_u64,
        queue in 5..200_u64,
        control in prop::sample::select(vec!["reno", "cubic"]),
        stamps in 0..2_u8,
        pauses in prop::collection::vec((0..3_000_u64, 1..20_000_u64), 1..6),
    ) {
        let mut download =
            download(&format!("rate_bps={kbps}000 delay_ms={delay} queue={queue} control={control} timestamps={stamps}"));
        download.lost = lost;
        let mut at_ms = 0;
        download.writes = pauses.iter().map(|&(ms, bytes)| {
            at_ms += ms;
            // At no instant of a timer, which expires at whole milliseconds: scripts do not say what comes first.
            (Duration(at_ms * 1_000_000 + 137_000), bytes)
        }).collect();
        let verdict = play_text(&download.script(), None);
        prop_assert!(matches!(verdict, Verdict::Passed(_)), "{download:?}: {verdict}");
    }
}
