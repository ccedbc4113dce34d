//! The architectures of an IPA's code, and the system classes that require a purpose string and that it refers to. They
//! follow from the symbols that the executable and the embedded libraries import from Apple's libraries. Unreadable
//! code yields fewer facts, and is no reason to refuse the app.

use std::io::{BufReader, Read, Seek};

use launchway_domain::submission::preflight::PURPOSE_STRINGS;

use super::EXECUTABLE;
use super::mach_o::{MachO, Slice};
use crate::MAX_TEXT;
use crate::archive::{Archive, Place};
use crate::error::BinaryError;
use crate::fields::{Fields, MalformedError};

/// The maximum number of unpacked bytes of executable and libraries together.
const MAX_CODE: u64 = 2 << 30;
/// The maximum number of embedded libraries; large apps have some ten.
const MAX_LIBRARIES: usize = 200;
/// The maximum number of symbols in an executable, and of those imported from the system. Large apps have a tenth.
const MAX_SYMBOLS: usize = 4 << 20;
const MAX_WANTED: usize = 1 << 18;
/// How many libraries with code for simulators are named.
const MAX_SIMULATOR_CODE: usize = 10;
/// The number of symbols read at a time.
const SYMBOLS_AT_A_TIME: usize = 4096;
/// Longer names match no class in the table.
const MAX_NAME: u64 = 64;

const LC_SYMTAB: u32 = 0x2;
/// `LC_LOAD_DYLIB`, and its lazy, weak, reexporting and upward variants. Library ordinals count all of them.
const LC_LIBRARIES: [u32; 5] = [0xc, 0x20, 0x8000_0018, 0x8000_001f, 0x8000_0023];
/// The flag of executables whose symbols name their library.
const MH_TWOLEVEL: u32 = 0x80;
/// The bits of a symbol's type that are clear for an undefined external symbol.
const N_STAB_AND_TYPE: u8 = 0xee;
const N_EXT: u8 = 0x01;
const CLASS_SYMBOL: &[u8] = b"_OBJC_CLASS_$_";

/// The facts about the code. `None`: unknown.
#[derive(Default)]
pub(super) struct Code {
    pub(super) architectures: Option<Vec<&'static str>>,
    pub(super) system_classes: Option<Vec<&'static str>>,
    /// The libraries with code that only simulators run.
    pub(super) simulator_code: Vec<String>,
}

/// Reads the executable, and the libraries in the app's folder.
pub(super) fn read<R: Read + Seek>(
    archive: &mut Archive<R>,
    folder: &[u8],
    executable: Option<Place>,
) -> Result<Code, BinaryError> {
    let Some(executable) = executable else {
        return Ok(Code::default());
    };
    let libraries = archive.files(MAX_LIBRARIES, |name| {
        name.strip_prefix(folder).is_some_and(is_embedded_library)
    });
    let mut left = MAX_CODE;
    let mut code = read_one(archive, executable, &mut left)?;
    for (name, library) in libraries {
        let library = read_one(archive, library, &mut left)?;
        if library.architectures.is_some_and(|all| all.iter().any(is_simulated)) {
            let name = String::from_utf8_lossy(name.get(folder.len()..).unwrap_or_default());
            code.simulator_code.push(name.chars().take(MAX_TEXT).collect());
        }
        if let Some(classes) = &mut code.system_classes {
            classes.extend(library.system_classes.unwrap_or_default());
        }
    }
    code.simulator_code.truncate(MAX_SIMULATOR_CODE);
    if let Some(classes) = &mut code.system_classes {
        classes.sort_unstable();
        classes.dedup();
    }
    Ok(code)
}

/// Whether only simulators run code of an architecture.
fn is_simulated(architecture: &&'static str) -> bool {
    matches!(*architecture, "x86_64" | "i386")
}

/// `Frameworks/<name>.framework/<name>` or `Frameworks/<name>.dylib`.
fn is_embedded_library(name: &[u8]) -> bool {
    let Some(name) = name.strip_prefix(b"Frameworks/") else {
        return false;
    };
    let mut parts = name.split(|byte| *byte == b'/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(file), None, _) => file.ends_with(b".dylib"),
        (Some(folder), Some(file), None) => !file.is_empty() && folder.strip_suffix(b".framework") == Some(file),
        _ => false,
    }
}

/// Reads one file of at most `left` bytes, and deducts what it read.
pub(super) fn read_one<R: Read + Seek>(
    archive: &mut Archive<R>,
    place: Place,
    left: &mut u64,
) -> Result<Code, BinaryError> {
    let mut unpacked = match archive.unpack(place, EXECUTABLE) {
        Ok(unpacked) => unpacked.take(*left),
        Err(error @ BinaryError::Unreadable(_)) => return Err(error),
        Err(_) => return Ok(Code::default()),
    };
    let code = MachO::open(BufReader::new(&mut unpacked)).map(read_slices);
    *left = unpacked.limit();
    Ok(code.unwrap_or_default())
}

/// Reads all slices: what one of them uses, the app uses.
fn read_slices(mut executable: MachO<impl Read>) -> Code {
    let (mut architectures, mut classes) = (std::mem::take(&mut executable.architectures), Some(Vec::new()));
    let is_fat = !architectures.is_empty();
    while let Some(slice) = executable.next_slice() {
        let Ok(mut slice) = slice else {
            classes = None;
            break;
        };
        if !is_fat {
            architectures.push(slice.architecture);
        }
        classes = match (classes, system_classes(&mut slice)) {
            (Some(classes), Ok(more)) => Some([classes, more].concat()),
            _ => None,
        };
    }
    Code {
        architectures: (!architectures.is_empty()).then_some(architectures),
        system_classes: classes.map(|mut classes| {
            classes.sort_unstable();
            classes.dedup();
            classes
        }),
        simulator_code: Vec::new(),
    }
}

/// The classes of the table that a slice imports from Apple's libraries.
fn system_classes<R: Read>(executable: &mut Slice<'_, R>) -> Result<Vec<&'static str>, MalformedError> {
    let mut is_system = Vec::new();
    let mut table = None;
    for command in executable.commands() {
        let (command, mut body) = command?;
        if LC_LIBRARIES.contains(&command) {
            is_system.push(is_system_library(body)?);
        } else if command == LC_SYMTAB {
            table = Some((body.u32()?, body.size()?, body.u32()?, body.u32()?));
        }
    }
    let Some((symbols, count, names, names_length)) = table else {
        return Ok(Vec::new());
    };
    if executable.flags & MH_TWOLEVEL == 0 || count > MAX_SYMBOLS {
        return Err(MalformedError);
    }
    let wanted = imported_symbols(executable, &is_system, symbols.into(), count)?;
    let mut classes = Vec::new();
    for (index, offset) in wanted.iter().enumerate() {
        let next = wanted.get(index + 1).copied().unwrap_or(names_length);
        let length = u64::from(next.checked_sub(*offset).ok_or(MalformedError)?).min(MAX_NAME);
        let place = u64::from(names) + u64::from(*offset);
        let name = executable.take_at(place, usize::try_from(length).map_err(|_| MalformedError)?)?;
        classes.extend(class_of(&name));
    }
    Ok(classes)
}

/// Whether the library in a load command is Apple's.
fn is_system_library(body: Fields<'_>) -> Result<bool, MalformedError> {
    // The offset of the name counts from the start of the command; kind and size precede the body.
    let mut start = body;
    let place = start.size()?.checked_sub(8).ok_or(MalformedError)?;
    let name = Fields::at(body.0, place)?.0;
    Ok(name.starts_with(b"/System/Library/") || name.starts_with(b"/usr/lib/"))
}

/// The offsets of the names of the symbols that are imported from Apple's libraries, in order.
fn imported_symbols<R: Read>(
    executable: &mut Slice<'_, R>,
    is_system: &[bool],
    symbols: u64,
    count: usize,
) -> Result<Vec<u32>, MalformedError> {
    let size = if executable.is_64 { 16 } else { 12 };
    let mut wanted = Vec::new();
    let mut first = 0;
    while first < count {
        let some = SYMBOLS_AT_A_TIME.min(count - first);
        let table = executable.take_at(symbols + (first * size) as u64, some * size)?;
        for symbol in table.chunks_exact(size) {
            let mut fields = Fields(symbol);
            let (name, kind) = (fields.u32()?, fields.u8()?);
            // The section of a defined symbol.
            fields.skip(1)?;
            let library = usize::from(fields.u16()? >> 8);
            let is_elsewhere = kind & N_STAB_AND_TYPE == 0 && kind & N_EXT != 0;
            // Libraries count from 1; 0 is the executable itself.
            let of_system = library.checked_sub(1).and_then(|index| is_system.get(index));
            if is_elsewhere && of_system == Some(&true) {
                wanted.push(name);
            }
        }
        if wanted.len() > MAX_WANTED {
            return Err(MalformedError);
        }
        first += some;
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// The class of the table for a symbol.
fn class_of(name: &[u8]) -> Option<&'static str> {
    let end = name.iter().position(|byte| *byte == 0)?;
    let class = name[..end].strip_prefix(CLASS_SYMBOL)?;
    let known = PURPOSE_STRINGS.iter().map(|(class, _)| *class);
    known.into_iter().find(|known| known.as_bytes() == class)
}
