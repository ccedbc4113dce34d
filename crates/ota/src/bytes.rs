//! Numbers and byte strings in the records of the index.

/// Reads a record. Records are our own, so what is missing at the end reads as zero instead of failing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// Reads from the start of these bytes.
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }

    /// The bytes that were not read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.0
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// The next so many bytes, or fewer at the end.
    pub fn take(&mut self, count: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((array, rest)) => {
                self.0 = rest;
                *array
            }
            None => {
                self.0 = &[];
                [0; N]
            }
        }
    }

    /// A number that [`push_number`] wrote.
    pub fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    /// A number that [`push_signed`] wrote.
    pub fn signed(&mut self) -> i64 {
        let value = self.number();
        ((value >> 1) as i64) ^ -((value & 1) as i64)
    }
}

/// Writes a number in groups of seven bits: small ones take one byte.
pub fn push_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a number that may be negative; those near zero take one byte.
pub fn push_signed(out: &mut Vec<u8>, value: i64) {
    push_number(out, ((value << 1) ^ (value >> (i64::BITS - 1))) as u64);
}

/// Writes a number in decimal digits.
pub fn push_decimal(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(value in any::<u64>(), shift in 0u32..64, tail in any::<u8>()) {
            let value = value >> shift;
            let mut out = Vec::new();
            push_number(&mut out, value);
            push_signed(&mut out, value as i64);
            push_signed(&mut out, (value as i64).wrapping_neg());
            out.push(tail);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.number(), value);
            prop_assert_eq!(reader.signed(), value as i64);
            prop_assert_eq!(reader.signed(), (value as i64).wrapping_neg());
            prop_assert_eq!((reader.byte(), reader.number(), reader.array::<2>()), (tail, 0, [0; 2]));
            let mut digits = Vec::new();
            push_decimal(&mut digits, value);
            prop_assert_eq!(digits, value.to_string().into_bytes());
        }
    }
}
