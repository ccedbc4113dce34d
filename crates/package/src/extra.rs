//! The extra fields of an entry, in the directory and in its own header (APPNOTE 4.5), as far as they matter here.

use crate::fields::Fields;

/// The placeholder for a number in the extra fields.
const ELSEWHERE: u32 = u32::MAX;

/// The relevant extra fields.
#[derive(Default)]
pub(crate) struct Extra<'a> {
    wide: Option<&'a [u8]>,
    unicode_name: Option<&'a [u8]>,
}

impl<'a> Extra<'a> {
    /// `None` if a field is cut off, or a relevant one is repeated. Up to three bytes at the end may be padding.
    pub fn read(bytes: &'a [u8]) -> Option<Extra<'a>> {
        let mut extra = Extra::default();
        let mut fields = Fields(bytes);
        while fields.0.len() >= 4 {
            let (id, length) = (fields.u16()?, fields.u16()?);
            let data = fields.bytes(length.into())?;
            let place = match id {
                0x0001 => &mut extra.wide,
                0x7075 => &mut extra.unicode_name,
                _ => continue,
            };
            if place.replace(data).is_some() {
                return None;
            }
        }
        Some(extra)
    }

    /// Whether there is a second name, which some readers prefer, that differs from this one.
    pub fn other_name(&self, name: &[u8]) -> bool {
        // It is preceded by a version and the checksum of the first name.
        self.unicode_name.is_some_and(|field| field.get(5..) != Some(name))
    }

    /// The ZIP64 numbers, in the order of the fields that refer to them.
    pub fn wide(&self) -> WideNumbers<'a> {
        WideNumbers(Fields(self.wide.unwrap_or_default()))
    }
}

/// Numbers that do not fit their regular fields (ZIP64).
pub(crate) struct WideNumbers<'a>(Fields<'a>);

impl WideNumbers<'_> {
    /// The value of a regular field, read from here if it is the placeholder. `None` if it is missing.
    pub fn number(&mut self, field: u32) -> Option<u64> {
        if field == ELSEWHERE {
            self.0.u64()
        } else {
            Some(field.into())
        }
    }
}
