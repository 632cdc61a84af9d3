//! Examples, as the help of each command ends with them.

/// A line, and what it is for.
type Example = (&'static str, &'static str);

/// Commands, and what each of them is for. `None` is the program as a whole.
pub(super) const EXAMPLES: &[(Option<&str>, &[Example])] = &[
    (
        None,
        &[
            ("fatscan x.whl", "what is in it"),
            ("fatscan explain x.whl --gpu \"RTX 4090\"", "does it run there, and what to do"),
            ("fatscan check x.whl --require 8.0,9.0", "pass or fail"),
        ],
    ),
    (
        Some("list"),
        &[
            ("fatscan list x.whl", "architectures, file by file"),
            ("fatscan list --by artefact dist", "a row for each wheel"),
            ("find . -name '*.so' -print0 | fatscan list -", "paths from another program"),
            ("fatscan list x.whl --output json=x.json --output csv=x.csv", "two files beside the table"),
        ],
    ),
    (
        Some("explain"),
        &[
            ("fatscan explain x.whl", "on the GPUs of this machine"),
            ("fatscan explain x.whl --gpu T4 --driver 535.183.01", "on another one"),
            ("fatscan explain torch", "an installed package"),
            (
                "fatscan explain x.whl --gpu 7.0 --error \"CUDA error: no kernel image is available\"",
                "what an error means",
            ),
        ],
    ),
    (
        Some("env"),
        &[
            ("fatscan env", "the active environment on the GPUs of this machine"),
            ("fatscan env .venv --gpu 7.5,8.0", "one environment on two GPUs"),
        ],
    ),
    (
        Some("check"),
        &[
            ("fatscan check x.whl --require 8.0,8.6,9.0", "it must run there"),
            ("fatscan check x.whl --contains \"8.0;9.0+PTX\" --strict", "it must hold that, and nothing else"),
            (
                "fatscan check x.whl --config fatscan.toml --output sarif=x.sarif",
                "fleets and files, and a report beside",
            ),
        ],
    ),
    (
        Some("kernels"),
        &[
            ("fatscan kernels x.so", "how many, by architecture"),
            ("fatscan kernels x.so --missing sm_75", "those that no sm_75 image has"),
            ("fatscan kernels x.so --resources --filter gemm", "what they need"),
        ],
    ),
    (
        Some("size"),
        &[
            ("fatscan size x.whl", "what each architecture costs"),
            ("fatscan size x.whl --by kernel --top 5", "the largest kernels"),
            ("fatscan size x.whl --budget 500MB", "fail above that"),
            ("fatscan size x.whl --for H100", "and what `fatscan slim` would save"),
        ],
    ),
    (
        Some("diff"),
        &[
            ("fatscan diff old.whl new.whl", "what changed, and for which GPUs"),
            ("fatscan diff old.whl new.whl --fail-on lost-arch,bytes=+5%", "a gate"),
        ],
    ),
    (
        Some("extract"),
        &[
            ("fatscan extract x.so -o out --arch sm_90a", "cubins into a folder"),
            ("fatscan extract x.so --stdout --module 0 --kind ptx", "one image to a pipe"),
        ],
    ),
    (
        Some("slim"),
        &[
            ("fatscan slim torch-2.15.0-*.whl --for H100 -o slim/", "a wheel for one GPU"),
            ("fatscan slim libtorch_cuda.so --for 8.0,9.0 -o small.so", "a library for two"),
            ("fatscan slim libtorch_cuda.so --keep sm_90a,compute_90 -o small.so", "by the labels of the code"),
            ("fatscan slim dist/*.whl --fleet fleet.toml -o slim/", "for the GPUs of a configuration"),
            ("fatscan slim .venv --for A100 --in-place --backup old/", "an environment, and what it was"),
            ("fatscan slim dist/*.whl --for T4,L4 --keep-ptx none --dry-run", "what it would save"),
        ],
    ),
    (
        Some("fleet"),
        &[
            ("fatscan fleet dist/*.whl --config fleet.toml", "the fleets of a configuration"),
            (
                "fatscan fleet dist/*.whl --gpu T4,A100,H100 --driver 535.183.01 --driver 580.65.06",
                "each with each driver",
            ),
            ("fatscan fleet .venv --gpu 7.5,8.0,9.0 --allow-jit", "a row for each package"),
            ("fatscan fleet dist/*.whl --config fleet.toml --format html > fleet.html", "and a page for a browser"),
        ],
    ),
    (
        Some("variant"),
        &[
            ("fatscan variant torch-2.15.0-*.whl", "the properties that are true of it"),
            (
                "fatscan variant x.whl --label cu13 --format variant-json > variant.json",
                "as the file that goes into it",
            ),
        ],
    ),
    (
        Some("device"),
        &[
            ("fatscan device", "GPUs, driver, toolkits, and what is wrong"),
            ("fatscan device --record here.json", "for --recording elsewhere"),
        ],
    ),
    (
        Some("arch"),
        &[
            ("fatscan arch", "all of them"),
            ("fatscan arch 8.9 \"RTX 5090\"", "what they are, and how to build for them"),
        ],
    ),
    (
        Some("schema"),
        &[
            ("fatscan schema", "of the report of list, explain, env and check"),
            ("fatscan schema kernels", "of another document"),
        ],
    ),
    (
        Some("completions"),
        &[("fatscan completions bash > ~/.local/share/bash-completion/completions/fatscan", "for bash")],
    ),
    (
        Some("man"),
        &[
            ("fatscan man | man -l -", "read it"),
            ("fatscan man --dir ~/.local/share/man/man1", "a page for each command"),
        ],
    ),
];

/// The examples of a command as text.
pub(super) fn text(command: Option<&str>) -> Option<String> {
    let (_, own) = EXAMPLES.iter().find(|(name, _)| *name == command)?;
    let lines = own.iter().map(|(line, what)| format!("  {line}\n      {what}\n"));
    Some(format!("Examples:\n{}", lines.collect::<String>()))
}
