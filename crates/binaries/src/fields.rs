//! Reads numbers and bytes one after the other; whatever is not there is [`Malformed`].

/// The bytes do not have the form that they must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// What is still unread.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// What lies in `bytes` from this offset on.
    pub(crate) fn at(bytes: &'a [u8], offset: usize) -> Result<Self, Malformed> {
        bytes.get(offset..).map(Fields).ok_or(Malformed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), Malformed> {
        self.take(count).map(|_| ())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// A 32-bit number that counts bytes or places.
    pub(crate) fn size(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.u32()?).map_err(|_| Malformed)
    }

    /// A number of this many bytes, big endian; more than 8 are refused.
    pub(crate) fn big_endian(&mut self, count: usize) -> Result<u64, Malformed> {
        if count > 8 {
            return Err(Malformed);
        }
        let bytes = self.take(count)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number of this many bytes, big endian, that counts bytes or places.
    pub(crate) fn big_endian_size(&mut self, count: usize) -> Result<usize, Malformed> {
        usize::try_from(self.big_endian(count)?).map_err(|_| Malformed)
    }

    /// The bytes that follow their own 32-bit length.
    pub(crate) fn prefixed(&mut self) -> Result<Fields<'a>, Malformed> {
        let length = self.size()?;
        self.take(length).map(Fields)
    }
}
