//! Which names are those of CUDA libraries, and which CUDA a number in such a name stands for.

/// How the number behind `.so.` follows CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// It is the number of CUDA.
    Cuda,
    /// It is the library's own, and changes with CUDA: for each number the CUDAs that had it.
    Own(&'static [(u32, &'static [u32])]),
    /// It tells nothing of CUDA.
    Free,
    /// It is a part of the driver.
    Driver,
}

/// The libraries by their names up to `.so`; what ends in `*` is a beginning. The first that fits counts.
///
/// Read from the wheels of NVIDIA for CUDA 11, 12 and 13 (nvidia-cufft-cu11 10.9, -cu12 11.4, nvidia-cufft 12.2;
/// nvidia-cusolver-cu11 11.4, -cu12 11.7, nvidia-cusolver 12.2; nvidia-cusparse-cu11 11.7, -cu12 12.5, nvidia-cusparse
/// 12.7; nvidia-curand-cu11 and -cu12 10.3, nvidia-curand 10.4), those of 10 and of cuSOLVER 10 from the release notes of
/// CUDA 10.1, 10.2 and 11.0.
const LIBRARIES: &[(&str, Number)] = &[
    ("libcudart", Number::Cuda),
    ("libcublas", Number::Cuda),
    ("libcublasLt", Number::Cuda),
    ("libnvblas", Number::Cuda),
    ("libnvrtc", Number::Cuda),
    ("libnvrtc-builtins", Number::Cuda),
    ("libnvJitLink", Number::Cuda),
    ("libnvfatbin", Number::Cuda),
    ("libcupti", Number::Cuda),
    ("libnvjpeg", Number::Cuda),
    ("libnpp*", Number::Cuda),
    ("libcufft", CUFFT),
    ("libcufftw", CUFFT),
    ("libcusolver", CUSOLVER),
    ("libcusolverMg", CUSOLVER),
    ("libcusparse", Number::Own(&[(10, &[10]), (11, &[11]), (12, &[12, 13])])),
    ("libcurand", Number::Own(&[(10, &[10, 11, 12, 13])])),
    ("libcudnn*", Number::Free),
    ("libcusparseLt", Number::Free),
    ("libnccl", Number::Free),
    ("libnvToolsExt", Number::Free),
    ("libnvtx3interop", Number::Free),
    ("libnvshmem*", Number::Free),
    ("libcufile*", Number::Free),
    ("libcudss*", Number::Free),
    ("libcutensor*", Number::Free),
    ("libcusolverMp", Number::Free),
    ("libcublasMp", Number::Free),
    ("libcufftMp", Number::Free),
    ("libnvcomp*", Number::Free),
    ("libnvimgcodec", Number::Free),
    ("libnvjpeg2k", Number::Free),
    ("libnvtiff", Number::Free),
    ("libnvvm", Number::Free),
    ("libcustatevec", Number::Free),
    ("libcutensornet", Number::Free),
    ("libcuda", Number::Driver),
    ("libcudadebugger", Number::Driver),
    ("libnvidia-*", Number::Driver),
    ("libnvcuvid", Number::Driver),
    ("libnvoptix", Number::Driver),
];
const CUFFT: Number = Number::Own(&[(10, &[10, 11]), (11, &[12]), (12, &[13])]);
const CUSOLVER: Number = Number::Own(&[(10, &[10, 11]), (11, &[11, 12]), (12, &[13])]);

/// A CUDA library by the name that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaLibrary {
    /// The name up to `.so`, without what a wheel's tool wrote into it: `libcudart`.
    pub family: &'static str,
    /// The first number behind `.so.`, the library's own: 12 of `libcusparse.so.12`.
    pub number: Option<u32>,
    /// The majors of CUDA that had this number; empty where it tells nothing of CUDA, or is not known.
    pub cuda: Vec<u32>,
    /// Whether the driver brings it.
    pub is_driver: bool,
    /// A wheel's own copy: its name has a hash in it (`libcudart-d0da41ae.so.11.0`, `libcudart.3eda8113.so.13`). It is loaded
    /// beside the one of the plain name, so that a process has both.
    pub is_private: bool,
}

impl CudaLibrary {
    /// The CUDA library of this name; nothing where it is none. DLLs by their names on Windows: `cudart64_12.dll`.
    ///
    /// ```
    /// use fatscan_core::linkage::CudaLibrary;
    /// let cufft = CudaLibrary::of("libcufft.so.11").unwrap();
    /// assert_eq!((cufft.number, cufft.cuda), (Some(11), vec![12]));
    /// assert!(CudaLibrary::of("libc.so.6").is_none());
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let (stem, number, is_private) = match name.split_once(".so") {
            Some((stem, rest)) if rest.is_empty() || rest.starts_with('.') => {
                let (stem, is_private) = without_hash(stem);
                (stem.to_owned(), first_number(rest.trim_start_matches('.')), is_private)
            }
            _ => of_dll(name)?,
        };
        let fits = |known: &str| match known.strip_suffix('*') {
            Some(start) => stem.starts_with(start),
            None => stem.trim_end_matches(".alt") == known,
        };
        let (known, kind) = LIBRARIES.iter().find(|(known, _)| fits(known))?;
        let cuda = match (kind, number) {
            (Number::Cuda, Some(number)) => vec![number],
            (Number::Own(numbers), Some(number)) => {
                let own = numbers.iter().find(|(own, _)| *own == number);
                own.map(|(_, cuda)| cuda.to_vec()).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let family = known.trim_end_matches('*');
        Some(Self { family, number, cuda, is_driver: *kind == Number::Driver, is_private })
    }

    /// The CUDA that it belongs to, where there is but one.
    #[must_use]
    pub fn major(&self) -> Option<u32> {
        match self.cuda.as_slice() {
            [major] => Some(*major),
            _ => None,
        }
    }
}

/// A name without the hash that auditwheel puts behind it: `-` or `.` and eight or more hexadecimal digits.
fn without_hash(stem: &str) -> (&str, bool) {
    let is_hash = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match stem.rsplit_once(['-', '.']) {
        Some((name, hash)) if is_hash(hash) => (name, true),
        _ => (stem, false),
    }
}

fn first_number(text: &str) -> Option<u32> {
    let digits = text.split('.').next().filter(|digits| digits.len() <= 4)?;
    digits.parse().ok()
}

/// The name as on Linux, of `cudart64_12.dll`, `cudart64_110.dll`, `nvrtc64_120_0.dll`, `nvcuda.dll`.
fn of_dll(name: &str) -> Option<(String, Option<u32>, bool)> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".dll")?;
    if stem == "nvcuda" || stem == "nvml" {
        return Some((if stem == "nvcuda" { "libcuda" } else { "libnvidia-ml" }.to_owned(), None, false));
    }
    let (family, rest) = stem.split_once("64_")?;
    let digits = rest.split('_').next().filter(|digits| digits.len() <= 4)?;
    let number: u32 = digits.parse().ok()?;
    // three digits are major and minor
    let number = if number >= 100 { number / 10 } else { number };
    let named = LIBRARIES
        .iter()
        .map(|(known, _)| *known)
        .find(|known| known.strip_prefix("lib").is_some_and(|known| known.eq_ignore_ascii_case(family)));
    Some((named.map_or_else(|| format!("lib{family}"), str::to_owned), Some(number), false))
}
