//! Where claims stand in packages, read from the disk.

use std::ops::ControlFlow;

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
const CMAKE_FILES: usize = 1000;

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
    let unread = |why: &str| Claim::new(speaker, "the package", &name, Says::Nothing(why.to_owned()));
    if !artefact.at.inner().is_empty() {
        claims.push(unread("it lies in another archive: what it says of itself is not read"));
        return claims;
    }
    let source = match open_file(&artefact.at.path(), Mapping::Auto, 0, |_| true) {
        Ok(Some(source)) => source,
        Ok(None) => return claims,
        Err(error) => {
            claims.push(unread(&format!("what it says of itself cannot be read: {error}")));
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
fn in_info<'a>(path: &'a str, own: &str) -> Option<&'a str> {
    let folder = path.strip_suffix(own)?.strip_suffix(".dist-info/")?;
    (!folder.contains('/')).then_some(path)
}

fn of_wheel(source: &FileSource, file: &str, limits: &Limits) -> Vec<Claim> {
    let zip = Zip::list(source, limits);
    let label = WheelName::parse(file).and_then(|name| name.label);
    let (mut claims, mut has_variant, mut cmake_files) = (Vec::new(), false, 0usize);
    for member in zip.members.iter().filter(|member| member.is_there() && !member.encrypted) {
        let Ok(path) = core::str::from_utf8(&member.name) else { continue };
        let base = path.rsplit('/').next().unwrap_or_default();
        if in_info(path, "METADATA").is_some() {
            let text = text(source, member, limits);
            claims.extend(metadata::claims(path, &String::from_utf8_lossy(&text)));
        } else if in_info(path, "variant.json").is_some() {
            has_variant = true;
            claims.extend(variant::claims(path, &text(source, member, limits), label));
        } else if lists::TORCH.contains(&base) {
            let windows = Windows::new(limits.window_bytes, 1, true);
            if let Ok(mut stream) = open::member(source, member, limits, &windows) {
                claims.extend(lists::compiled(path, &mut *stream));
            }
        } else if base.ends_with(".cmake") && cmake_files < CMAKE_FILES {
            cmake_files = cmake_files.saturating_add(1);
            let text = text(source, member, limits);
            claims.extend(lists::cmake(path, &String::from_utf8_lossy(&text)));
        }
    }
    if let Some(label) = label.filter(|_| !has_variant) {
        let why = "there is no `variant.json` that says what the label stands for".to_owned();
        claims.push(Claim::new(Speaker::Variant, "its file name", label, Says::Nothing(why)));
    }
    claims
}

/// The first bytes of a member that is a text.
fn text(source: &FileSource, member: &ZipMember, limits: &Limits) -> Vec<u8> {
    let windows = Windows::new(limits.window_bytes, 1, true);
    match open::member(source, member, limits, &windows) {
        Ok(mut stream) => start(&mut *stream, TEXT),
        // that it cannot be read is told of as a member
        Err(_) => Vec::new(),
    }
}

fn start(stream: &mut dyn ByteStream, size: usize) -> Vec<u8> {
    stream.fill(size);
    let window = stream.window();
    window.get(..size).unwrap_or(window).to_vec()
}

/// A `.conda`: a zip archive with `info-NAME.tar.zst` in it.
fn of_conda(source: &FileSource, limits: &Limits) -> Vec<Claim> {
    let zip = Zip::list(source, limits);
    let is_info = |member: &&ZipMember| member.name.starts_with(b"info-") && member.is_there() && !member.encrypted;
    let windows = Windows::new(limits.window_bytes, 1, true);
    let member = zip.members.iter().find(is_info);
    match member.map(|member| open::member(source, member, limits, &windows)) {
        Some(Ok(mut stream)) => of_tar(&mut *stream, limits),
        _ => Vec::new(),
    }
}

/// A tar archive, compressed or not, with `info/index.json` in it.
fn of_tar(stream: &mut dyn ByteStream, limits: &Limits) -> Vec<Claim> {
    stream.fill(SNIFF_SIZE);
    let windows = Windows::new(limits.window_bytes, 1, true);
    let mut claims = Vec::new();
    match Codec::sniff(stream.window()) {
        Some(codec) => {
            let mut inner = codec.unpack(stream, Expected::most(limits.member_bytes), &windows);
            let _ = of_entries(&mut *inner, limits, &mut claims);
        }
        None => {
            let _ = of_entries(stream, limits, &mut claims);
        }
    }
    claims
}

/// Both files are at the start of a package, `info/` first; what follows them is not read.
fn of_entries(stream: &mut dyn ByteStream, limits: &Limits, claims: &mut Vec<Claim>) -> ControlFlow<()> {
    let mut walk = TarWalk::new(limits.table_bytes);
    let (mut index, mut exports) = (false, false);
    while let Some(Ok(entry)) = walk.next(stream) {
        let name = String::from_utf8_lossy(&entry.part.name).into_owned();
        let size = usize::try_from(entry.part.size).unwrap_or(TEXT).min(TEXT);
        match name.trim_start_matches("./") {
            "info/index.json" => {
                index = true;
                claims.extend(conda::index("info/index.json", &start(stream, size)));
            }
            "info/run_exports.json" => {
                exports = true;
                claims.extend(conda::run_exports("info/run_exports.json", &start(stream, size)));
            }
            _ => {}
        }
        if index && exports {
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Continue(())
}
