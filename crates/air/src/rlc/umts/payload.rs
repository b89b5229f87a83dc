/// Octets: two for AM (TS 25.322, 9.2.1.4); for UM one, plus one for a length indicator (9.2.1.3).
pub const RLC_HEADER: u64 = 2;

/// As whole RLC PDUs or as octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Payload of an RLC PDU.
    pub pdu_bytes: u32,
    /// A block carries octets instead of whole PDUs.
    pub segmented: bool,
    /// MAC header.
    pub block_header_bits: u32,
}

impl Payload {
    /// PDUs, the last one padded, or octets with one header per PDU.
    pub fn units_of(self, bytes: u32) -> u64 {
        let pdus = u64::from(bytes.div_ceil(self.pdu_bytes));
        if self.segmented { u64::from(bytes) + RLC_HEADER * pdus } else { pdus }
    }

    /// On the air: 8 for an octet, or a PDU with its RLC header.
    pub fn unit_bits(self) -> u32 {
        if self.segmented { 8 } else { (self.pdu_bytes + RLC_HEADER as u32) * 8 }
    }

    /// Besides the MAC header.
    pub fn units_in(self, bits: u32) -> u32 {
        bits.saturating_sub(self.block_header_bits) / self.unit_bits()
    }

    /// Without RLC headers; padding counts as packet bytes, and octets are those of full PDUs.
    pub fn bytes_in(self, units: u32) -> f64 {
        let pdu = f64::from(self.pdu_bytes);
        let per_unit = if self.segmented { pdu / (pdu + RLC_HEADER as f64) } else { pdu };
        f64::from(units) * per_unit
    }

    /// Each PDU starts with its header, and padding counts as packet bytes.
    pub fn bytes_before(self, units: u64) -> u32 {
        let pdu = u64::from(self.pdu_bytes);
        let bytes = if self.segmented {
            let (whole, rest) = (units / (pdu + RLC_HEADER), units % (pdu + RLC_HEADER));
            whole * pdu + rest.saturating_sub(RLC_HEADER)
        } else {
            units * pdu
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// `bytes` octets, or the whole PDUs whose payloads are at most `bytes` together.
    pub fn units_for(self, bytes: u64) -> u64 {
        if self.segmented { bytes } else { bytes / u64::from(self.pdu_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PDU of forty octets and an RLC header takes 336 bits, which fit in no block below CQI 5.
    #[test]
    fn small_blocks_carry_octets_but_no_pdu() {
        let whole = Payload { pdu_bytes: 40, segmented: false, block_header_bits: 21 };
        assert_eq!([137, 317, 377, 792, 7_168].map(|bits| whole.units_in(bits)), [0, 0, 1, 2, 21]);
        assert_eq!(whole.units_of(1_500), 38);
        let octets = Payload { segmented: true, block_header_bits: 24, ..whole };
        assert_eq!([137, 317, 7_168].map(|bits| octets.units_in(bits)), [14, 36, 893]);
        assert_eq!(octets.units_of(1_500), 1_500 + 2 * 38);
    }
}
