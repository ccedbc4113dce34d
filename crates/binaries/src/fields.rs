//! Reads numbers and bytes sequentially; missing bytes are a [`MalformedError`] error.

/// The bytes do not have the required format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedError;

/// The unread bytes.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The part of `bytes` from an offset on.
    pub(crate) fn at(bytes: &'a [u8], offset: usize) -> Result<Self, MalformedError> {
        bytes.get(offset..).map(Fields).ok_or(MalformedError)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], MalformedError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(MalformedError)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), MalformedError> {
        self.take(count).map(|_| ())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(MalformedError)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, MalformedError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, MalformedError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, MalformedError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, MalformedError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A 32-bit count or offset.
    pub(crate) fn size(&mut self) -> Result<usize, MalformedError> {
        usize::try_from(self.u32()?).map_err(|_| MalformedError)
    }

    /// A big-endian number of `count` bytes, at most 8.
    pub(crate) fn big_endian(&mut self, count: usize) -> Result<u64, MalformedError> {
        if count > 8 {
            return Err(MalformedError);
        }
        let bytes = self.take(count)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A big-endian count or offset of `count` bytes.
    pub(crate) fn big_endian_size(&mut self, count: usize) -> Result<usize, MalformedError> {
        usize::try_from(self.big_endian(count)?).map_err(|_| MalformedError)
    }

    /// The bytes after a 32-bit length prefix.
    pub(crate) fn prefixed(&mut self) -> Result<Fields<'a>, MalformedError> {
        let length = self.size()?;
        self.take(length).map(Fields)
    }
}
