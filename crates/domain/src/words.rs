//! Types that are one of a few words, on the wire as in the database.

/// The text is none of the words. The message is made to follow the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of {0}")]
pub struct UnknownWord(pub(crate) &'static str);

/// Makes an enum of words, with its way to and from text. The list is what the error says.
macro_rules! words {
    ($(#[$note:meta])* $name:ident, $list:literal, $($(#[$variant_note:meta])* $variant:ident = $word:literal,)+) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_note])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of the contract.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// The word on the wire and in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::words::UnknownWord> {
                $name::ALL.iter().copied().find(|word| word.as_str() == text).ok_or($crate::words::UnknownWord($list))
            }
        }
    };
}
