//! The variables that change what a driver loads.

/// What the environment asks of the driver's compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Environment {
    /// `CUDA_FORCE_PTX_JIT`: embedded SASS is ignored.
    pub force_ptx_jit: bool,
    /// `CUDA_DISABLE_PTX_JIT`: embedded PTX is not compiled.
    pub disable_ptx_jit: bool,
}

impl Environment {
    /// Reads the variables out of an environment. `CUDA_FORCE_JIT` and `CUDA_DISABLE_JIT` of newer
    /// drivers count as the same; how they differ is not documented. A variable is set unless it is
    /// empty or `0`.
    pub fn from_vars<Name, Value>(variables: impl IntoIterator<Item = (Name, Value)>) -> Self
    where
        Name: AsRef<str>,
        Value: AsRef<str>,
    {
        let mut environment = Self::default();
        for (name, value) in variables {
            let is_set = !matches!(value.as_ref().trim(), "" | "0");
            match name.as_ref() {
                "CUDA_FORCE_PTX_JIT" | "CUDA_FORCE_JIT" => environment.force_ptx_jit |= is_set,
                "CUDA_DISABLE_PTX_JIT" | "CUDA_DISABLE_JIT" => {
                    environment.disable_ptx_jit |= is_set;
                }
                _ => {}
            }
        }
        environment
    }
}
