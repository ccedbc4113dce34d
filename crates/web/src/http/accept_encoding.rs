//! Reads `Accept-Encoding` (RFC 9110, section 12.5.3).

use axum::http::{HeaderMap, header};

/// How a file is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// With gzip.
    Gzip,
    /// With Brotli.
    Brotli,
}

/// What a client accepts: of each coding its weight, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    brotli: u16,
    gzip: u16,
    /// 0 also if the client does not say: then it is what is left.
    identity: u16,
}

impl Accepted {
    /// Reads the headers of a request. A coding with a malformed weight is not accepted.
    pub fn read(headers: &HeaderMap) -> Accepted {
        let (mut brotli, mut gzip, mut identity, mut others) = (None, None, None, None);
        let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
        for coding in lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','))
        {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, "q=1"));
            let weight = match name.trim().to_ascii_lowercase().as_str() {
                "br" => &mut brotli,
                "gzip" | "x-gzip" => &mut gzip,
                "identity" => &mut identity,
                "*" => &mut others,
                _ => continue,
            };
            *weight = Some(read_weight(parameters).unwrap_or(0));
        }
        let others = others.unwrap_or(0);
        Accepted {
            brotli: brotli.unwrap_or(others),
            gzip: gzip.unwrap_or(others),
            identity: identity.unwrap_or(0),
        }
    }

    /// The coding that the client likes best; of those that it likes as well the smallest.
    pub fn best(self) -> Coding {
        let Accepted { brotli, gzip, identity } = self;
        if brotli > 0 && brotli >= gzip.max(identity) {
            Coding::Brotli
        } else if gzip > 0 && gzip >= identity {
            Coding::Gzip
        } else {
            Coding::Identity
        }
    }

    /// The same without Brotli.
    pub fn without_brotli(self) -> Accepted {
        Accepted { brotli: 0, ..self }
    }
}

/// A weight from 0 to 1, in thousandths.
fn read_weight(parameters: &str) -> Option<u16> {
    let (name, number) = parameters.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
    let is_number = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths: u16 = format!("{fraction:0<3}").parse().ok().filter(|_| is_number)?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_coding_that_the_client_likes_best_is_chosen() {
        for (field, with_brotli, without) in [
            ("", Coding::Identity, Coding::Identity),
            ("gzip", Coding::Gzip, Coding::Gzip),
            ("br", Coding::Brotli, Coding::Identity),
            ("gzip, deflate, br", Coding::Brotli, Coding::Gzip),
            ("gzip;q=1.0, br;q=0.9", Coding::Gzip, Coding::Gzip),
            ("BR, GZIP;q=0.5", Coding::Brotli, Coding::Gzip),
            ("br;q=0, gzip ; Q=0.001", Coding::Gzip, Coding::Gzip),
            ("gzip;q=0", Coding::Identity, Coding::Identity),
            ("gzip; q=0.0", Coding::Identity, Coding::Identity),
            ("*", Coding::Brotli, Coding::Gzip),
            ("*;q=0.5, br;q=0", Coding::Gzip, Coding::Gzip),
            ("identity;q=0, *;q=0", Coding::Identity, Coding::Identity),
            ("identity, gzip;q=0.5", Coding::Identity, Coding::Identity),
            ("deflate, zstd", Coding::Identity, Coding::Identity),
            ("gzip;q=x", Coding::Identity, Coding::Identity),
            ("gzip;q=2", Coding::Identity, Coding::Identity),
            ("gzip;q=1.001", Coding::Identity, Coding::Identity),
            ("gzip;q=0.0001", Coding::Identity, Coding::Identity),
            ("gzip;q=0.+1", Coding::Identity, Coding::Identity),
            ("gzip;level=1", Coding::Identity, Coding::Identity),
            (";;=,,br;q=", Coding::Identity, Coding::Identity),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_str(field).unwrap())]);
            let accepted = Accepted::read(&headers);
            assert_eq!(
                (accepted.best(), accepted.without_brotli().best()),
                (with_brotli, without),
                "{field}"
            );
        }
    }

    #[test]
    fn several_fields_count_as_one() {
        let mut headers = HeaderMap::new();
        assert_eq!(Accepted::read(&headers).best(), Coding::Identity);
        for field in ["gzip", "br"] {
            headers.append(header::ACCEPT_ENCODING, HeaderValue::from_static(field));
        }
        assert_eq!(Accepted::read(&headers).best(), Coding::Brotli);
    }
}
