mod head;
mod kernels;
mod tokens;

pub use head::{PTX_HEAD_LIMIT, PtxHead, PtxStart, PtxVersion, is_ptx_text_byte};
pub use kernels::{PtxKernel, PtxKernels, PtxLinkage, ptx_kernel_details, ptx_kernels, ptx_kernels_within};
