//! The fields of a request, read from its JSON without a tree of values or copies of its texts. What is not a field is read to its end
//! all the same, because a body that is not JSON is refused.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// What requests say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    AppId,
    Platform,
    DeviceId,
    VersionBuild,
    VersionName,
    PluginVersion,
    DefaultChannel,
    KeyId,
    Channel,
    Action,
}

impl Field {
    const ALL: [Field; 10] = [
        Field::AppId,
        Field::Platform,
        Field::DeviceId,
        Field::VersionBuild,
        Field::VersionName,
        Field::PluginVersion,
        Field::DefaultChannel,
        Field::KeyId,
        Field::Channel,
        Field::Action,
    ];

    /// Its name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Field::AppId => "app_id",
            Field::Platform => "platform",
            Field::DeviceId => "device_id",
            Field::VersionBuild => "version_build",
            Field::VersionName => "version_name",
            Field::PluginVersion => "plugin_version",
            Field::DefaultChannel => "defaultChannel",
            Field::KeyId => "key_id",
            Field::Channel => "channel",
            Field::Action => "action",
        }
    }

    fn named(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// The values of a JSON object that are texts or numbers. Of a name that occurs twice, the last value counts.
#[derive(Debug, Default)]
pub(super) struct Fields<'b> {
    values: [Value<'b>; Field::ALL.len()],
}

/// A value without what is inside it.
#[derive(Debug, Default)]
enum Value<'b> {
    Text(Cow<'b, str>),
    Number(Number),
    Object,
    #[default]
    Other,
}

impl<'b> Fields<'b> {
    /// Reads a document; `None` if it is not an object.
    pub fn read(json: &'b [u8]) -> Option<Fields<'b>> {
        serde_json::from_slice::<Document<'b>>(json).ok()?.0
    }

    /// Takes a value that is a text.
    pub fn take_text(&mut self, field: Field) -> Option<Cow<'b, str>> {
        match std::mem::take(&mut self.values[field as usize]) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Takes a value that is a text or a number, as text.
    pub fn take(&mut self, field: Field) -> Option<Cow<'b, str>> {
        match std::mem::take(&mut self.values[field as usize]) {
            Value::Text(text) => Some(text),
            Value::Number(number) => Some(number.to_string().into()),
            Value::Object | Value::Other => None,
        }
    }
}

/// Any JSON document: its fields if it is an object.
pub(super) struct Document<'b>(pub Option<Fields<'b>>);

impl<'de> Deserialize<'de> for Document<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::default();
        let reader = Reader {
            fields: Some(&mut fields),
        };
        let value = reader.deserialize(deserializer)?;
        Ok(Document(matches!(value, Value::Object).then_some(fields)))
    }
}

/// Reads a value to its end. Of an object, it keeps the fields if there is a place for them.
struct Reader<'f, 'b> {
    fields: Option<&'f mut Fields<'b>>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_, 'de> {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, 'de> {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Number::from_f64(number).map_or(Value::Other, Value::Number))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        while list.next_element_seed(Reader { fields: None })?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        let mut fields = self.fields;
        while let Some(Key(field)) = map.next_key()? {
            let value = map.next_value_seed(Reader { fields: None })?;
            if let (Some(field), Some(fields)) = (field, fields.as_deref_mut()) {
                fields.values[field as usize] = value;
            }
        }
        Ok(Value::Object)
    }
}

/// A name in an object.
struct Key(Option<Field>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyReader)
    }
}

struct KeyReader;

impl Visitor<'_> for KeyReader {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Key, E> {
        Ok(Key(Field::named(name)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Tree;

    use super::*;

    /// What a tree of the document has in each field: as text or number, and as text.
    fn model(json: &[u8]) -> Option<Vec<(Option<String>, Option<String>)>> {
        let tree: Tree = serde_json::from_slice(json).ok()?;
        let tree = tree.as_object()?;
        let field = |field: Field| {
            let value = tree.get(field.name());
            let text = value.and_then(Tree::as_str).map(str::to_owned);
            let number = value.and_then(Tree::as_number).map(Number::to_string);
            (text.clone().or(number), text)
        };
        Some(Field::ALL.map(field).into())
    }

    fn read(json: &[u8]) -> Option<Vec<(Option<String>, Option<String>)>> {
        let (mut all, mut texts) = (Fields::read(json)?, Fields::read(json)?);
        let field = |field| {
            let text = texts.take_text(field).map(Cow::into_owned);
            (all.take(field).map(Cow::into_owned), text)
        };
        Some(Field::ALL.map(field).into())
    }

    #[test]
    fn strange_documents_are_read_as_their_trees() {
        let deep = |depth: usize| format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        for json in [
            "",
            "null",
            "5",
            "\"app_id\"",
            "[{\"app_id\": \"a\"}]",
            "{}",
            " {\"app_id\": \"a\"} \n",
            "{\"app_id\": \"a\"} x",
            "{\"app_id\": \"a\",}",
            "{\"app_id\": \"a\", \"app_id\": \"b\"}",
            "{\"app_id\": \"a\", \"app_id\": null}",
            "{\"app_id\": \"a\", \"app_id\": {\"app_id\": \"c\"}}",
            "{\"\\u0061pp_id\": \"\\u0062\\ud83d\\ude00\"}",
            "{\"other\": \"\\ud800\"}",
            "{\"other\": 1e999, \"app_id\": \"a\"}",
            "{\"app_id\": -0, \"platform\": -0.0, \"key_id\": 1E30, \"channel\": 18446744073709551616}",
            "{\"app_id\": 01}",
            "{\"app_id\": .5}",
            "{\"app_id\": tru}",
            "{\"app_id\": \"a\tb\"}",
            "{app_id: 1}",
            "{\"app_id\"}",
            "{5: 1}",
            "\u{feff}{}",
            &deep(126),
            &deep(127),
            &deep(10_000),
        ] {
            assert_eq!(read(json.as_bytes()), model(json.as_bytes()), "{json:.80}");
        }
        for json in [
            &b"{\"other\": \"\xff\"}"[..],
            b"{\"\xff\": 1}",
            b"{\"app_id\": \"\xc3\xa9\"}",
        ] {
            assert_eq!(read(json), model(json), "{json:?}");
        }
    }

    /// A value of any kind, inside others.
    fn value() -> impl Strategy<Value = String> {
        let plain = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            any::<i64>().prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| format!("{number:e}")),
            "-?[0-9]{1,25}(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
            any::<String>().prop_map(|text| Tree::String(text).to_string()),
            r#""(\\u[0-9a-f]{4}|\\[nt"\\/x]|[ -~é]){0,6}""#,
        ];
        plain.prop_recursive(4, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(","))),
                object(inner),
            ]
        })
    }

    fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
        let names = Field::ALL.map(Field::name).to_vec();
        let name = prop_oneof![9 => prop::sample::select(names).prop_map(str::to_owned), 1 => "[a-z]{0,3}"];
        let pairs = prop::collection::vec((name, value), 0..8);
        pairs.prop_map(|pairs| {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(name, value)| format!("\"{name}\": {value}"))
                .collect();
            format!("{{{}}}", pairs.join(","))
        })
    }

    proptest! {
        #[test]
        fn every_document_is_read_as_its_tree(
            json in object(value()),
            other in value(),
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            (place, byte) in (any::<prop::sample::Index>(), any::<u8>()),
        ) {
            prop_assert_eq!(read(json.as_bytes()), model(json.as_bytes()));
            prop_assert_eq!(read(other.as_bytes()), model(other.as_bytes()));
            prop_assert_eq!(read(&bytes), model(&bytes));
            let mut changed = json.into_bytes();
            let place = place.index(changed.len());
            changed[place] = byte;
            prop_assert_eq!(read(&changed), model(&changed));
            prop_assert_eq!(read(&changed[..place]), model(&changed[..place]));
        }
    }
}
