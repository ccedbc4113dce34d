//! A project of many small files, and a folder of an update, for what packs and hashes them.

use std::fs;
use std::path::Path;

/// Files of a folder.
const FILES_OF_A_FOLDER: u32 = 100;
/// The smallest and the largest file, in bytes.
const SIZES: (usize, usize) = (200, 3_000);
/// One of this many files does not compress, as images do not.
const NOISE: u32 = 10;
/// What the other files are made of.
const WORDS: [&str; 8] = ["import ", "value", "return ", "{\n", "}\n", "(item)", " = ", "\"text\""];

/// Writes an Android project with this many files.
///
/// # Errors
/// When the disk fails.
pub fn android(root: &Path, files: u32) -> anyhow::Result<()> {
    const GRADLE: &str = "android {\n  defaultConfig {\n    applicationId \"com.example.pack\"\n    versionCode 1\n    versionName \"1.0.0\"\n  }\n}\n";
    fs::create_dir_all(root.join("app/src/main"))?;
    fs::write(root.join("settings.gradle"), "include ':app'\n")?;
    // Nothing runs it, but a build needs one.
    fs::write(root.join("gradlew"), "#!/bin/sh\n")?;
    fs::write(root.join("app/build.gradle"), GRADLE)?;
    fs::write(root.join("app/src/main/AndroidManifest.xml"), "<manifest/>\n")?;
    fs::write(root.join(".gitignore"), "*.tmp\n/out/\n")?;
    folder(&root.join("app/src/main/java"), "java", files)
}

/// Writes a folder with this many files, in folders of [`FILES_OF_A_FOLDER`].
///
/// # Errors
/// When the disk fails.
pub fn folder(root: &Path, ending: &str, files: u32) -> anyhow::Result<()> {
    let mut random = Random(1);
    for number in 0..files {
        let inner = root.join(format!("part{}", number / FILES_OF_A_FOLDER));
        if number.is_multiple_of(FILES_OF_A_FOLDER) {
            fs::create_dir_all(&inner)?;
        }
        let size = SIZES.0 + random.next() as usize % (SIZES.1 - SIZES.0);
        let content = if number.is_multiple_of(NOISE) {
            (0..size).map(|_| random.next() as u8).collect()
        } else {
            text(&mut random, size)
        };
        fs::write(inner.join(format!("File{number}.{ending}")), content)?;
    }
    Ok(())
}

fn text(random: &mut Random, size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + 16);
    while text.len() < size {
        let number = random.next();
        text.push_str(WORDS[number as usize % WORDS.len()]);
        if number.is_multiple_of(5) {
            text.push_str(&(number % 1_000).to_string());
        }
    }
    text.into_bytes()
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }
}
