use super::tokens::Tokens;
use crate::Error;
use crate::digits;
use crate::limits::{Limits, REACHED};

/// Linkage of a PTX kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PtxLinkage {
    /// Neither directive: known within its module.
    Local,
    /// `.visible`.
    Visible,
    /// `.weak`.
    Weak,
}

/// A kernel that a PTX text defines, with the directives between its parameters and its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtxKernel<'data> {
    /// Mangled name.
    pub name: &'data [u8],
    /// `.visible`, `.weak` or neither.
    pub linkage: PtxLinkage,
    /// Number of parameters.
    pub parameters: usize,
    /// `.maxntid`: most threads of a block in x, y, z; a dimension left out is 1.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: exact threads of a block.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`: least blocks of a multiprocessor.
    pub min_blocks: Option<u32>,
    /// `.maxnreg`: most registers of a thread.
    pub max_registers: Option<u32>,
}

/// The kernels that a PTX text of any version defines, in the order of the text; `.extern .entry` defines none. A text
/// that is cut within a kernel gives what stands before the cut.
///
/// Nothing is kept: a text can define a kernel in nine bytes.
///
/// ```
/// let text = b".visible .entry a() { ret; } .entry b() { ret; }";
/// assert_eq!(cubin::PtxKernels::new(text).map(|kernel| kernel.name).collect::<Vec<_>>(), [b"a", b"b"]);
/// ```
#[derive(Clone, Debug)]
pub struct PtxKernels<'data> {
    tokens: Tokens<'data>,
}

impl<'data> PtxKernels<'data> {
    /// Reads `text` on the way.
    #[must_use]
    pub const fn new(text: &'data [u8]) -> Self {
        Self { tokens: Tokens::new(text) }
    }
}

impl<'data> Iterator for PtxKernels<'data> {
    type Item = PtxKernel<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        let tokens = &mut self.tokens;
        let mut linkage = Some(PtxLinkage::Local);
        loop {
            match tokens.next()? {
                b".extern" => linkage = None,
                // `.extern` stays what it is
                b".visible" => linkage = linkage.map(|_| PtxLinkage::Visible),
                b".weak" => linkage = linkage.map(|_| PtxLinkage::Weak),
                b".entry" => {
                    if let Some(linkage) = linkage.replace(PtxLinkage::Local) {
                        return Some(PtxKernel::read(tokens.next()?, linkage, tokens));
                    }
                }
                _ => linkage = Some(PtxLinkage::Local),
            }
        }
    }
}

/// Names of the kernels that a PTX text defines, mangled, in the order of the text. All are kept: of texts that nobody
/// bounded, ask [`PtxKernels`] or [`ptx_kernels_within`].
#[must_use]
pub fn ptx_kernels(text: &[u8]) -> Vec<&[u8]> {
    PtxKernels::new(text).map(|kernel| kernel.name).collect()
}

/// The kernels of [`PtxKernels`]. All are kept: of texts that nobody bounded, ask [`PtxKernels`] or
/// [`ptx_kernels_within`].
#[must_use]
pub fn ptx_kernel_details(text: &[u8]) -> Vec<PtxKernel<'_>> {
    PtxKernels::new(text).collect()
}

/// The kernels of [`PtxKernels`], no more than [`Limits::functions`].
///
/// # Errors
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) where the text defines more.
pub fn ptx_kernels_within<'data>(text: &'data [u8], limits: &Limits) -> Result<Vec<PtxKernel<'data>>, Error> {
    let mut kernels = Vec::new();
    for kernel in PtxKernels::new(text) {
        if kernels.len() >= limits.functions {
            return Err(REACHED);
        }
        kernels.push(kernel);
    }
    Ok(kernels)
}

impl<'data> PtxKernel<'data> {
    /// Reads on behind the name, up to the brace of the body or the semicolon of a mere declaration.
    fn read(name: &'data [u8], linkage: PtxLinkage, tokens: &mut Tokens<'data>) -> Self {
        let mut kernel = Self {
            name,
            linkage,
            parameters: 0,
            max_threads: None,
            required_threads: None,
            min_blocks: None,
            max_registers: None,
        };
        loop {
            // what follows is looked at before it is taken: a missing number must not swallow the brace
            let mut ahead = tokens.clone();
            match ahead.next() {
                Some(b".entry" | b".visible" | b".weak" | b".extern") | None => return kernel,
                Some(b"{" | b";") => {
                    *tokens = ahead;
                    return kernel;
                }
                Some(token) => {
                    *tokens = ahead;
                    match token {
                        b".param" => kernel.parameters = kernel.parameters.saturating_add(1),
                        b".maxntid" => kernel.max_threads = three(tokens),
                        b".reqntid" => kernel.required_threads = three(tokens),
                        b".minnctapersm" => kernel.min_blocks = number(tokens),
                        b".maxnreg" => kernel.max_registers = number(tokens),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// The number that comes next; anything else is left where it is.
fn number(tokens: &mut Tokens<'_>) -> Option<u32> {
    let mut ahead = tokens.clone();
    let (number, rest) = digits::number(ahead.next()?)?;
    if !rest.is_empty() {
        return None;
    }
    *tokens = ahead;
    Some(number)
}

/// One to three numbers with commas between.
fn three(tokens: &mut Tokens<'_>) -> Option<[u32; 3]> {
    let mut dimensions = [number(tokens)?, 1, 1];
    for dimension in dimensions.iter_mut().skip(1) {
        let mut ahead = tokens.clone();
        if ahead.next() != Some(b",") {
            break;
        }
        *dimension = number(&mut ahead)?;
        *tokens = ahead;
    }
    Some(dimensions)
}
