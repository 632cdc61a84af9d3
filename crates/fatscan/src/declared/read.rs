//! Where claims stand in packages, read from the disk.

use fatscan_containers::{
    ByteStream, Codec, Expected, FileSource, Limits, Mapping, SNIFF_SIZE, Source, TarWalk, Windows, Zip, ZipMember,
    open_file,
};

use super::name::WheelName;
use super::{Claim, Says, Speaker, conda, lists, metadata, name, variant};
use crate::model::{Artefact, ArtefactKind};
use crate::open;

/// Bytes of one text that are read.
const TEXT: usize = 1 << 20;
/// CMake files of one wheel that are read.
const CMAKE_FILES: usize = 256;
/// Bytes of a package of conda in which its description is looked for.
const INFO: u64 = 64 << 20;

/// The claims of an artefact; none of what is neither a wheel nor a package of conda.
pub(super) fn claims(artefact: &Artefact, limits: &Limits) -> Vec<Claim> {
    let name = artefact.at.file_name();
    let is_wheel = artefact.kind == ArtefactKind::Wheel;
    let is_conda = name.ends_with(".conda") || name.ends_with(".tar.bz2");
    if !(is_wheel
        || is_conda && artefact.kind == ArtefactKind::Package
        || is_conda && artefact.kind == ArtefactKind::Archive)
    {
        return Vec::new();
    }
    let mut claims = if is_wheel { name::claims(&name) } else { Vec::new() };
    let speaker = if is_wheel { Speaker::Metadata } else { Speaker::Conda };
    let doubt = |why: &str| Claim::new(speaker, &name, "", Says::Doubt(why.to_owned()));
    if !artefact.at.inner().is_empty() {
        claims.push(doubt("it lies in another archive: what it says of itself is not read"));
        return claims;
    }
    let source = match open_file(&artefact.at.path(), Mapping::Auto, 0, |_| true) {
        Ok(Some(source)) => source,
        Ok(None) => return claims,
        Err(error) => {
            claims.push(doubt(&format!("what it says of itself cannot be read: {error}")));
            return claims;
        }
    };
    match (is_wheel, name.ends_with(".conda")) {
        (true, _) => claims.extend(of_wheel(&source, &name, limits)),
        (false, true) => claims.extend(of_conda(&source, limits)),
        (false, false) => {
            let bytes: &dyn Source = &source;
            claims.extend(of_tar(&mut *bytes.stream(0, bytes.len()), limits));
        }
    }
    claims
}

/// The file `own` of a wheel's `*.dist-info`.
fn in_info(path: &str, own: &str) -> bool {
    let folder = path.strip_suffix(own).and_then(|path| path.strip_suffix(".dist-info/"));
    folder.is_some_and(|folder| !folder.contains('/'))
}

fn of_wheel(source: &FileSource, file: &str, limits: &Limits) -> Vec<Claim> {
    let zip = Zip::list(source, limits);
    let members = || zip.members.iter().filter_map(|member| Some((core::str::from_utf8(&member.name).ok()?, member)));
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut claims = Vec::new();
    // one that stands there twice is another one to another reader
    let only = |speaker, own: &str, claims: &mut Vec<Claim>| {
        let mut all = members().filter(|(path, _)| in_info(path, own));
        let (path, member) = all.next()?;
        if all.next().is_some() {
            claims.push(Claim::new(speaker, path, own, Says::Nothing("there are several".to_owned())));
        }
        match text(source, member, limits) {
            Ok(text) => Some((path.to_owned(), text)),
            Err(why) => {
                claims.push(Claim::new(speaker, path, own, Says::Nothing(format!("it cannot be read: {why}"))));
                None
            }
        }
    };
    let label = WheelName::parse(file).and_then(|name| name.label);
    if let Some((path, text)) = only(Speaker::Variant, "variant.json", &mut claims) {
        claims.extend(variant::claims(&path, &text, label));
    } else if let Some(label) = label.filter(|_| claims.is_empty()) {
        let why = "there is no `variant.json` that says what the label stands for".to_owned();
        claims.push(Claim::new(Speaker::Variant, "its file name", label, Says::Nothing(why)));
    }
    if let Some((path, text)) = only(Speaker::Metadata, "METADATA", &mut claims) {
        claims.extend(metadata::claims(&path, &String::from_utf8_lossy(&text)));
    }
    if let Some((path, member)) = members().find(|(path, _)| lists::TORCH.contains(&&*base(path))) {
        let windows = Windows::new(limits.window_bytes, 1, true);
        // that it cannot be read is told of as a library
        if let Ok(mut stream) = open::member(source, member, limits, &windows) {
            claims.extend(lists::compiled(path, &mut *stream));
        }
    }
    let mut cmake = members().filter(|(path, _)| path.ends_with(".cmake"));
    for (path, member) in cmake.by_ref().take(CMAKE_FILES) {
        match text(source, member, limits) {
            Ok(text) => claims.extend(lists::cmake(path, &String::from_utf8_lossy(&text))),
            Err(why) => {
                claims.push(Claim::new(Speaker::Cmake, path, "", Says::Doubt(format!("it cannot be read: {why}"))))
            }
        }
        if claims.len() > super::CLAIMS {
            break;
        }
    }
    if cmake.next().is_some() && claims.len() <= super::CLAIMS {
        let why = format!("of its CMake files the first {CMAKE_FILES} were read");
        claims.push(Claim::new(Speaker::Cmake, file, "", Says::Doubt(why)));
    }
    claims
}

/// The first bytes of a member that is a text.
fn text(source: &FileSource, member: &ZipMember, limits: &Limits) -> Result<Vec<u8>, String> {
    if !member.is_there() {
        return Err("its bytes are not where the archive says".to_owned());
    }
    let windows = Windows::new(limits.window_bytes, 1, true);
    let mut stream = open::member(source, member, limits, &windows).map_err(|why| why.to_string())?;
    let text = start(&mut *stream, TEXT);
    stream.fault().map_or(Ok(text), |fault| Err(fault.to_string()))
}

fn start(stream: &mut dyn ByteStream, size: usize) -> Vec<u8> {
    stream.fill(size);
    let window = stream.window();
    window.get(..size).unwrap_or(window).to_vec()
}

/// A `.conda`: a zip archive with `info-NAME.tar.zst` in it.
fn of_conda(source: &FileSource, limits: &Limits) -> Vec<Claim> {
    let zip = Zip::list(source, limits);
    let is_info = |member: &&ZipMember| member.name.starts_with(b"info-") && !member.name.contains(&b'/');
    let windows = Windows::new(limits.window_bytes, 1, true);
    let doubt = |why: String| vec![Claim::new(Speaker::Conda, "its archive of `info/`", "", Says::Doubt(why))];
    match zip.members.iter().find(is_info) {
        Some(member) => match open::member(source, member, limits, &windows) {
            Ok(mut stream) => of_tar(&mut *stream, limits),
            Err(why) => doubt(format!("it cannot be read: {why}")),
        },
        None => doubt("it is not there".to_owned()),
    }
}

/// A tar archive, compressed or not, with `info/index.json` in it.
fn of_tar(stream: &mut dyn ByteStream, limits: &Limits) -> Vec<Claim> {
    stream.fill(SNIFF_SIZE);
    let windows = Windows::new(limits.window_bytes, 1, true);
    match Codec::sniff(stream.window()) {
        Some(codec) => of_entries(&mut *codec.unpack(stream, Expected::most(INFO), &windows), limits),
        None => of_entries(stream, limits),
    }
}

/// Both files are at the start of a package, `info/` first; what lies behind [`INFO`] bytes is not looked for.
fn of_entries(stream: &mut dyn ByteStream, limits: &Limits) -> Vec<Claim> {
    let mut walk = TarWalk::new(limits.table_bytes);
    let (mut index, mut exports) = (None, None);
    while let Some(Ok(entry)) = walk.next(stream) {
        if entry.part.offset > INFO || index.is_some() && exports.is_some() {
            break;
        }
        let name = String::from_utf8_lossy(&entry.part.name).into_owned();
        let size = usize::try_from(entry.part.size).unwrap_or(TEXT).min(TEXT);
        match name.trim_start_matches("./") {
            // of two the last stays where they are unpacked; nobody makes such packages
            "info/index.json" => index = Some(conda::index("info/index.json", &start(stream, size))),
            "info/run_exports.json" => {
                exports = Some(conda::run_exports("info/run_exports.json", &start(stream, size)));
            }
            _ => {}
        }
    }
    let missing = || {
        let why = format!("it is not in the first {} MiB of the package", INFO >> 20);
        vec![Claim::new(Speaker::Conda, "info/index.json", "", Says::Doubt(why))]
    };
    let mut claims = index.unwrap_or_else(missing);
    claims.extend(exports.unwrap_or_default());
    claims
}
