//! FQ-CoDel (RFC 8290): flows are hashed to queues, each with its own CoDel. Queues are served by
//! deficit round robin, and queues that just became active (new queues) are served before the other
//! ones (old queues).

use nodeb_base::params;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Duration, Rate, Size, Time};
use rand_core::Rng;

use super::codel::{Control, check_times};
use super::{DropLog, Queue, QueueParams, TimedFifo};

params! {
    /// Parameters of an FQ-CoDel queue, which has a CoDel queue for each flow (RFC 8290).
    pub struct FqCodel {
        // The defaults are those of RFC 8290, section 5.2. The default quantum is the size of a
        // full Ethernet frame.
        /// Largest number of packets waiting in all queues; beyond it, the queue with most bytes drops
        /// packets from its head.
        pub limit: NonZeroU32 = const { NonZeroU32::new(10_240).unwrap() },
        /// Number of queues to which flows are hashed.
        pub flows: NonZeroU32 = const { NonZeroU32::new(1024).unwrap() },
        /// Bytes that each flow's queue may send per round of the round robin.
        pub quantum: Size = Size(1514),
        /// Acceptable standing queueing delay in each queue.
        pub target: Duration = Duration::from_millis(5),
        /// Time for which the queueing delay must exceed the target before a packet is dropped.
        pub interval: Duration = Duration::from_millis(100),
        /// Whether the queue marks ECN-capable packets instead of dropping them.
        pub ecn: bool = true,
    }
}

impl Checked for FqCodel {
    fn check(&self, check: &mut Check) {
        check_times(check, self.target, self.interval);
        check.at_most("flows", self.flows.get(), 65_536);
        check.require((1..=1_000_000_000).contains(&self.quantum.0), "quantum", || {
            "the quantum is out of range; expected 1 B to 1 GB, such as \"1514 B\"".to_owned()
        });
    }
}

/// Largest number of packets that are dropped at once when an arriving packet exceeds the limit (RFC 8290,
/// section 4.1).
const MAX_SHED: usize = 64;
const UNUSED: u32 = u32::MAX;

#[derive(Debug)]
struct FlowQueue {
    fifo: TimedFifo,
    control: Control,
    /// Number of bytes that the queue may still send in this round. A single packet may exceed it,
    /// so it can be negative.
    credit: i64,
    listed: bool,
}

impl QueueParams for FqCodel {
    fn build(&self, _rate: Rate, stream: Stream) -> Box<dyn Queue> {
        Box::new(FlowQueues::new(self, stream))
    }

    fn limit(&self) -> Option<NonZeroU32> {
        Some(self.limit)
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

#[derive(Debug)]
pub struct FlowQueues {
    params: FqCodel,
    /// Odd factor of the hash function, drawn at random so that different flows collide in
    /// different runs.
    salt: u64,
    /// For each slot of the hash table, the index of its queue in `queues`, or `UNUSED`.
    slots: Vec<u32>,
    queues: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: u64,
}

impl FlowQueues {
    pub fn new(params: &FqCodel, mut stream: Stream) -> Self {
        Self {
            params: params.clone(),
            salt: stream.next_u64() | 1,
            slots: vec![UNUSED; params.flows.get() as usize],
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Multiply-shift hashing (Dietzfelbinger et al., J. Algorithms 25, 1997).
    fn slot(&self, flow: u32) -> usize {
        let hash = (u64::from(flow) + 1).wrapping_mul(self.salt) >> 32;
        ((hash * self.slots.len() as u64) >> 32) as usize
    }

    fn queue_of(&mut self, flow: u32) -> u32 {
        let slot = self.slot(flow);
        if self.slots[slot] == UNUSED {
            self.slots[slot] = self.queues.len() as u32;
            let FqCodel { target, interval, ecn, .. } = self.params;
            let control = Control::new(target, interval, ecn);
            self.queues.push(FlowQueue { fifo: TimedFifo::default(), control, credit: 0, listed: false });
        }
        self.slots[slot]
    }

    /// Drops half the packets of the queue with most bytes, but at least one and at most 64, from
    /// its head (RFC 8290, section 4.1). Returns true if only the packet that just arrived in queue
    /// `arrival` was dropped.
    fn shed(&mut self, arrival: u32, drops: &mut DropLog) -> bool {
        let sizes = self.queues.iter().enumerate().map(|(i, queue)| (queue.fifo.bytes(), i));
        let fattest = sizes.max_by_key(|&(bytes, i)| (bytes, std::cmp::Reverse(i)));
        let Some((_, fattest)) = fattest else { return false };
        let fifo = &mut self.queues[fattest].fifo;
        let alone = fattest == arrival as usize && fifo.len() == 1;
        for _ in 0..(fifo.len() / 2).clamp(1, MAX_SHED) {
            let Some((_, packet)) = fifo.pop() else { break };
            self.packets -= 1;
            self.bytes -= u64::from(packet.size);
            if alone { drops.refuse_overflow() } else { drops.discard_overflow(packet) }
        }
        alone
    }

    fn turn(&mut self) -> Option<(u32, bool)> {
        loop {
            let (index, is_new) = match (self.new.front(), self.old.front()) {
                (Some(&index), _) => (index, true),
                (None, Some(&index)) => (index, false),
                (None, None) => return None,
            };
            let queue = &mut self.queues[index as usize];
            if queue.credit > 0 {
                return Some((index, is_new));
            }
            queue.credit += self.params.quantum.0.cast_signed();
            self.leave(is_new);
            self.old.push_back(index);
        }
    }

    fn leave(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
    }
}

impl Queue for FlowQueues {
    fn push(&mut self, now: Time, packet: Packet, drops: &mut DropLog) -> bool {
        let index = self.queue_of(packet.flow_hash);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(now, packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.params.quantum.0.cast_signed();
            self.new.push_back(index);
        }
        self.packets <= self.params.limit.get() as usize || !self.shed(index, drops)
    }

    fn pop(&mut self, now: Time, drops: &mut DropLog) -> Option<Packet> {
        while let Some((index, is_new)) = self.turn() {
            let queue = &mut self.queues[index as usize];
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let packet = queue.control.dequeue(now, &mut queue.fifo, drops);
            self.packets -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(packet) = packet {
                queue.credit -= i64::from(packet.size);
                return Some(packet);
            }
            // A new queue that becomes empty must pass through the old queues before it can be new
            // again. Otherwise a sparse flow could starve all other flows (RFC 8290, section 4.2).
            queue.listed = is_new;
            self.leave(is_new);
            if is_new {
                self.old.push_back(index);
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    fn queues(params: &FqCodel) -> FlowQueues {
        FlowQueues::new(params, Streams::new(1, 0).stream("test", 0, "queue"))
    }

    fn segment(flow: u32, size: u32, seq: u64) -> Packet {
        Packet { flow_hash: flow, ..Packet::new(seq, size) }
    }

    #[test]
    fn a_sparse_flow_is_served_before_a_bulk_flow() {
        let (mut fq, mut drops) = (queues(&FqCodel::default()), DropLog::default());
        let mut waited = Vec::new();
        let mut came = Time::ZERO;
        // The link takes a packet every 12 ms, the time of 1500 bytes at 1 Mbit/s. Before it does, at
        // least 100 packets wait, nearly all of them of the bulk flow.
        for t in 0..2_000u64 {
            let now = Time(t * 12_000_000);
            while fq.len() < 100 {
                fq.push(now, segment(1, 1500, t), &mut drops);
            }
            if t % 10 == 0 {
                fq.push(now, segment(2, 200, t), &mut drops);
                came = now;
            }
            let packet = fq.pop(now, &mut drops).unwrap();
            if packet.flow_hash == 2 {
                waited.push(now.since(came));
            }
        }
        assert_eq!(waited.len(), 200);
        // When the first sparse packet arrives, the bulk queue is a new queue too and first sends a
        // quantum, that is, two packets. Later the bulk queue is an old queue, so sparse packets
        // are served at once.
        assert_eq!(waited[0], Duration::from_millis(24));
        assert!(waited[1..].iter().all(|wait| *wait == Duration::ZERO), "{waited:?}");
        assert!(drops.counts.early > 100);
    }

    #[test]
    fn bulk_flows_share_bytes_equally_whatever_their_packet_sizes() {
        let (mut fq, mut drops) = (queues(&FqCodel::default()), DropLog::default());
        for seq in 0..3_000 {
            fq.push(Time::ZERO, segment(1, 1500, seq), &mut drops);
            fq.push(Time::ZERO, segment(2, 300, seq), &mut drops);
        }
        let mut sent = [0u32; 3];
        for _ in 0..2_000 {
            let packet = fq.pop(Time::ZERO, &mut drops).unwrap();
            sent[packet.flow_hash as usize] += packet.size;
        }
        assert!(sent[1].abs_diff(sent[2]) <= 2 * 1514, "{sent:?}");
    }

    #[test]
    fn an_overflow_drops_half_of_the_largest_queue_from_its_head() {
        let params = FqCodel { limit: 10.try_into().unwrap(), ..FqCodel::default() };
        let (mut fq, mut drops) = (queues(&params), DropLog::default());
        for seq in 0..8 {
            fq.push(Time::ZERO, segment(1, 1500, seq), &mut drops);
        }
        for seq in 0..3 {
            assert!(fq.push(Time::ZERO, segment(2, 40, seq), &mut drops));
        }
        let lost: Vec<_> = drops.take_discarded().map(|(p, _)| (p.flow_hash, p.id.0)).collect();
        assert_eq!(lost, [(1, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!((fq.len(), fq.bytes(), drops.counts.overflowed), (7, 4 * 1500 + 3 * 40, 4));
    }

    #[test]
    fn flows_spread_over_the_slots() {
        let fq = queues(&FqCodel::default());
        let slots: std::collections::HashSet<_> = (0..200).map(|flow| fq.slot(flow)).collect();
        assert!(slots.len() > 150 && slots.iter().all(|slot| *slot < 1024), "{}", slots.len());
    }
}
