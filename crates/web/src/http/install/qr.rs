//! A link as a QR code, drawn as one path.

use std::fmt::Write;

use launchway_ops::api_error::ApiError;
use qrcode::{Color, EcLevel, QrCode};

/// The quiet zone that readers need around the code, in modules.
const MARGIN: usize = 4;

/// A drawing: dark modules, to be filled on a light background.
pub struct Drawing {
    /// Modules on each side, quiet zone included.
    pub side: usize,
    /// The dark modules, as the data of an SVG path.
    pub path: String,
}

/// Draws a text.
pub fn draw(text: &str) -> Result<Drawing, ApiError> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M);
    let code = code.map_err(|error| ApiError::Internal(format!("drawing a QR code: {error}")))?;
    let width = code.width();
    let mut path = String::new();
    for (at, color) in code.to_colors().into_iter().enumerate() {
        if color == Color::Dark {
            let (x, y) = (at % width + MARGIN, at / width + MARGIN);
            // Writing to a `String` cannot fail.
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    Ok(Drawing {
        side: width + 2 * MARGIN,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_of_a_code_are_where_readers_look() {
        let drawing = draw("https://example.com/install/build_x?expires=1&signature=y").expect("fits");
        let dark = |x: usize, y: usize| drawing.path.contains(&format!("M{x} {y}h"));
        let last = drawing.side - MARGIN - 1;
        for (x, y) in [
            (MARGIN, MARGIN),
            (last, MARGIN),
            (MARGIN, last),
            (MARGIN + 3, MARGIN + 3),
        ] {
            assert!(dark(x, y), "{x} {y}");
        }
        assert!(!dark(MARGIN + 1, MARGIN + 1) && !dark(0, 0));
    }

    #[test]
    fn what_is_too_long_is_refused() {
        assert!(draw(&"x".repeat(5000)).is_err());
    }
}
