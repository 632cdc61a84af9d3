#!/usr/bin/env python3
"""Writes src/tables/*.rs from the TOML files beside this script.

Run it after a change of a TOML file, from anywhere; it needs Python 3.11 and nothing else:

    python3 crates/gpu-arch/tables/generate.py          # write
    python3 crates/gpu-arch/tables/generate.py --check  # compare only, exit 1 on a difference
"""

import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "tables"
SUFFIX = {"": "N", "a": "A", "f": "F"}


def load(name):
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def option(value, render):
    return f"Some({render(value)})" if value else "None"


def pair(value):
    major, minor = value.split(".")
    return int(major), int(minor)


def capability(value):
    return "cc({}, {})".format(*pair(value))


def cuda(value):
    return "cuda({}, {})".format(*pair(value))


def isa(value):
    return "isa({}, {})".format(*pair(value))


def arch(value):
    number, suffix = re.fullmatch(r"(\d+)([af]?)", value).groups()
    return f"arch({number}, {SUFFIX[suffix]})"


def driver(value):
    """The first version in the text: a few rows name two releases or add a remark."""
    numbers = [str(int(part)) for part in re.match(r"[\d.]+", value).group().split(".")]
    return "driver{}({})".format(len(numbers), ", ".join(numbers))


def many(values, render):
    return "&[" + ", ".join(render(value) for value in values) + "]"


def variant(value):
    return "".join(part.capitalize() for part in re.split(r"[-_]", value))


def host(value):
    return "Host::" + {"x86_64": "X86_64", "aarch64": "Aarch64"}[value]


def module(name, source, doc, imports, body):
    lines = [
        f"//! {doc}",
        "//!",
        f"//! Generated from `tables/{source}` by `tables/generate.py`; the sources of the facts are named there.",
        "",
        imports,
        "",
        body,
    ]
    return name, "\n".join(lines).rstrip() + "\n"


def table(name, row_type, rows, doc):
    lines = [f"/// {doc}", "#[rustfmt::skip]", f"pub(crate) static {name}: &[{row_type}] = &["]
    lines += ["    " + row + "," for row in rows]
    return "\n".join(lines + ["];"]) + "\n"


def struct(name, fields):
    return name + " { " + ", ".join(f"{key}: {value}" for key, value in fields) + " }"


def architectures():
    platform = {"tegra-sbsa": "Sbsa", "discrete-soc": "Sbsa"}
    rows = [
        struct("Architecture", [
            ("capability", capability(row["cc"])),
            ("name", text(row["name"])),
            ("chips", many(row["chips"], text)),
            ("platform", "Platform::" + platform.get(row["platform"], variant(row["platform"]))),
            ("host", option(row.get("host"), host)),
            ("first_toolkit", cuda(row["first_toolkit"])),
            ("last_toolkit", option(row["last_toolkit"], cuda)),
            ("first_isa", isa(row["first_ptx_isa"])),
            ("first_driver", option(row["first_driver"], str)),
            ("last_driver", option(row["last_driver"], str)),
            ("family", option(row["family"], str)),
            ("note", text(row["note"])),
        ])
        for row in load("architectures.toml")["arch"]
    ]
    return module(
        "architectures.rs", "architectures.toml", "The architectures.",
        "use super::{cc, cuda, isa};\nuse crate::catalogue::{Architecture, Host, Platform};",
        table("ARCHITECTURES", "Architecture", rows, "Every architecture with a compute capability of its own, ascending."),
    )


def toolkits():
    data = load("toolkits.toml")
    rows = [
        struct("Toolkit", [
            ("version", cuda(row["version"])),
            ("archs", many(row["archs"] + row["suffix_archs"], arch)),
            ("isa", isa(row["ptx_isa"])),
            ("default_arch", arch(row["default_arch"].removeprefix("sm_"))),
            ("driver_linux", option(row["driver_linux"], driver)),
            ("driver_windows", option(row["driver_windows"], driver)),
            ("measured", str(row["measured"]).lower()),
        ])
        for row in data["toolkit"]
    ]
    first_isa = [f"({arch(name)}, {isa(value)})" for name, value in data["target_min_ptx"].items()]
    return module(
        "toolkits.rs", "toolkits.toml", "The toolkits and what their assemblers take.",
        "use super::{A, F, N, arch, cuda, driver1, driver2, driver3, isa};\nuse crate::arch::Arch;\nuse crate::catalogue::Toolkit;\nuse crate::isa::Isa;",
        table("TOOLKITS", "Toolkit", rows, "Every toolkit from 8.0 on, ascending.")
        + "\n"
        + table("FIRST_ISA", "(Arch, Isa)", first_isa, "The first PTX ISA that takes a `.target`."),
    )


def drivers():
    data = load("toolkits.toml")
    branches = [
        struct("DriverBranch", [("branch", str(branch)), ("cuda", cuda(version))])
        for branch, version in sorted((int(key), value) for key, value in data["driver_branch_cuda"].items())
    ]
    releases = []
    for name, (linux, windows) in data["driver_rows"].items():
        version, _, update = name.partition(" ")
        releases.append(struct("Release", [
            ("cuda", cuda(version)),
            ("update", text("" if update == "GA" else update)),
            ("driver_linux", driver(linux)),
            ("driver_windows", option("" if windows == "N/A" else windows, driver)),
        ]))
    isas = [f"({isa(key)}, {cuda(value)})" for key, value in data["ptx_min_cuda"].items()]
    floors = [
        struct("RuntimeFloor", [
            ("major", major),
            ("linux", driver(row["linux"])),
            ("windows", driver(row["windows"])),
        ])
        for major, row in data["minor_compat"].items()
    ]
    return module(
        "drivers.rs", "toolkits.toml", "Drivers: their branches, releases and floors.",
        "use super::{cuda, driver1, driver2, driver3, isa};\nuse crate::catalogue::{DriverBranch, Release, RuntimeFloor};\nuse crate::isa::Isa;\nuse crate::version::CudaVersion;",
        table("BRANCHES", "DriverBranch", branches, "Driver branches, ascending, with the CUDA version that each implements.")
        + "\n"
        + table("RELEASES", "Release", releases, "Every toolkit release with the driver that belongs to it, newest first.")
        + "\n"
        + table("ISA_CUDA", "(Isa, CudaVersion)", isas, "The first CUDA version of a driver that compiles a PTX ISA, ascending.")
        + "\n"
        + table("RUNTIME_FLOORS", "RuntimeFloor", floors, "The oldest driver that runs any toolkit of a major version."),
    )


def products():
    source = {
        "pci.ids": "PciIds",
        "open-gpu-kernel-modules": "OpenKernelModules",
        "developer.nvidia.com/cuda-gpus": "CudaGpus",
    }

    def sources(row):
        return many(row["src"], lambda item: "Manual" if item.startswith("manual") else source[item])

    rows = [
        ("on_aarch64({})" if row.get("host") else "{}").format("product({}, {}, {}, {}, {}, {})".format(
            text(row["name"]), capability(row["cc"]), variant(row["class"]), many(row["chips"], text),
            many(row["pci"], lambda item: "0x" + item.upper()), sources(row),
        ))
        for row in load("products.toml")["gpu"]
    ]
    return module(
        "products.rs", "products.toml", "Products by name.",
        "use super::{cc, on_aarch64, product};\nuse crate::catalogue::Product;\nuse crate::catalogue::ProductClass::{DatacenterOrOther, Geforce, Pro, Tegra};\n"
        "use crate::catalogue::ProductSource::{CudaGpus, Manual, OpenKernelModules, PciIds};",
        table("PRODUCTS", "Product", rows, "Every product, by capability; a name with two capabilities has two rows."),
    )


def families():
    def member(row):
        value, *examples = row
        return struct("FamilyMember", [("capability", capability(value)), ("examples", many(examples, text))])

    rows = [
        struct("Family", [
            ("name", text(row["name"])),
            ("aliases", many(row["aliases"], text)),
            ("members", many(row["member"], member)),
            ("host", option(row.get("host"), host)),
            ("note", text(row["note"])),
        ])
        for row in load("families.toml")["family"]
    ]
    return module(
        "families.rs", "families.toml", "Names of many products at once.",
        "use super::cc;\nuse crate::catalogue::{Family, FamilyMember, Host};",
        table("FAMILIES", "Family", rows, "Every family, with its capabilities ascending."),
    )


def torch():
    data = load("torch.toml")
    rows, last = [], ""
    for row in data["torch"]:
        last = last if row["src"] == "same" else row["src"]
        note = row.get("note", "")
        rows.append(struct("TorchBuild", [
            ("version", text(row["version"])),
            ("release", text(data["torch_releases"][row["version"]])),
            ("cuda", text(row["cuda"])),
            ("host", host(row["host"])),
            ("sass", many(row["sass"], capability)),
            ("ptx", many(row["ptx"], capability)),
            ("pypi_default", str(row["pypi_default"]).lower()),
            ("confidence", "Confidence::" + row["confidence"].capitalize()),
            ("source", text(last + (f" ({note})" if note else ""))),
        ]))
    hints = [
        struct("TorchHint", [
            ("capabilities", many(row["cc"], capability)),
            ("torch", text(row["torch"])),
            ("variant", text(row["variant"])),
        ])
        for row in data["hint"]
    ]

    def counted(item):
        name, _, count = item.partition(":")
        return f"({arch(name)}, {count})"

    measured = [
        struct("MeasuredFile", [
            ("package", text(row["package"])),
            ("version", text(row["version"])),
            ("file", text(row["file"])),
            ("sass", many(row["sass"], counted)),
            ("ptx", many(row["ptx"], counted)),
        ])
        for row in data["measured"]
    ]
    published = [
        struct("PublishedList", [
            ("package", text(row["package"])),
            ("versions", text(row["versions"])),
            ("archs", text(row["archs"])),
            ("pip", option(row.get("pip"), text)),
            ("confidence", "Confidence::" + row["confidence"].capitalize()),
            ("source", text(row["src"])),
        ])
        for row in data["other"]
    ]
    return module(
        "torch.rs", "torch.toml", "What published wheels hold: hints, never a wheel's truth.",
        "use super::{A, N, arch, cc};\nuse crate::catalogue::{Confidence, Host, MeasuredFile, PublishedList, TorchBuild, TorchHint};",
        table("TORCH", "TorchBuild", rows, "The builds of torch, ascending.")
        + "\n"
        + table("TORCH_HINTS", "TorchHint", hints, "Which torch loads on a capability.")
        + "\n"
        + table("MEASURED", "MeasuredFile", measured, "Images counted in wheels with `cuobjdump` 13.5.")
        + "\n"
        + table("PUBLISHED", "PublishedList", published, "Lists that other packages publish."),
    )


def errors():
    rows = [
        struct("CudaError", [("code", str(row["code"])), ("name", text(row["name"])), ("runtime_name", text(row["runtime_name"])),
                             ("messages", many(row["messages"], text)), ("advice", text(row["advice"]))])
        for row in load("errors.toml")["error"]
    ]
    return module(
        "errors.rs", "errors.toml", "Error codes of the CUDA driver and runtime.",
        "use crate::catalogue::CudaError;",
        table("ERRORS", "CudaError", rows, "The errors that have to do with devices, drivers and device code, ascending."),
    )


def torch_arch_list():
    data = load("torch_arch_list.toml")["torch_cuda_arch_list"]
    names = [f"({text(name)}, {text(value)})" for name, value in data["names"].items()]
    dotted = re.compile(r"(\d+)\.(\d)([af]?)")

    def element(value):
        major, minor, suffix = dotted.fullmatch(value).groups()
        return arch(major + minor + suffix)

    supported = [element(value) for value in data["supported"]]
    return module(
        "torch_arch_list.rs", "torch_arch_list.toml", "What `TORCH_CUDA_ARCH_LIST` takes.",
        "use super::{A, N, arch};\nuse crate::arch::Arch;",
        table("FAMILY_NAMES", "(&str, &str)", names, "Family names and the list that each stands for.")
        + "\n"
        + table("SUPPORTED", "Arch", supported, "The elements that torch takes."),
    )


def main():
    check = "--check" in sys.argv[1:]
    different = []
    for name, content in [architectures(), toolkits(), drivers(), products(), families(), torch(), errors(), torch_arch_list()]:
        path = TARGET / name
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        different.append(name)
        if not check:
            path.write_text(content, encoding="utf-8")
    if different:
        print("differs:" if check else "wrote:", ", ".join(different))
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main())
