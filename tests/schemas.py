#!/usr/bin/env python3
"""JSON that fatscan prints against its own schemas, by a validator.

    python3 tests/schemas.py [FATSCAN]

Every schema is closed first (no property that it does not name), so that a field that was forgotten fails. Needs the
package `jsonschema`; where it is not installed, a virtual environment is made for it. What cannot be had is said as
`skipped: why`; where the environment variable CI is set it is a failure.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = next((ROOT / "fixtures/sample").glob("*.whl"))
DAMAGED = ROOT / "fixtures/bad_truncated.fatbin"


def within_environment():
    """Starts this program again where jsonschema can be imported."""
    if os.environ.get("FATSCAN_SCHEMAS_AGAIN"):
        sys.exit("jsonschema cannot be imported from the environment that was made for it")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = f"{folder}/bin/python"
        installed = subprocess.run([python, "-m", "pip", "install", "-q", "jsonschema"], capture_output=True, text=True)
        if installed.returncode:
            print(f"skipped: jsonschema cannot be installed: {installed.stderr.strip()[-200:]}")
            sys.exit(1 if os.environ.get("CI") else 0)
        again = subprocess.run([python, *sys.argv], env={**os.environ, "FATSCAN_SCHEMAS_AGAIN": "1"})
    sys.exit(again.returncode)


try:
    import jsonschema
except ImportError:
    within_environment()


def closed(schema):
    """The same with no property but those that are named."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
            schema.setdefault("additionalProperties", False)
        return schema
    return [closed(value) for value in schema] if isinstance(schema, list) else schema


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/fatscan")
    call = lambda *words: subprocess.run([program, *map(str, words)], capture_output=True, text=True).stdout
    validators = {}
    for path in sorted((ROOT / "crates/cli/schema").glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        schema = json.loads(call("schema", name))
        assert schema == json.loads(path.read_text()), name
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[name] = jsonschema.Draft202012Validator(closed(schema))
    checked = {name: 0 for name in validators}

    def holds(name, text):
        validators[name].validate(json.loads(text))
        checked[name] += 1

    both = (SAMPLE, DAMAGED)
    holds("report", call("list", *both, "--json"))
    holds("report", call("list", *both, "--json", "--by", "module", "--gpu", "9.0"))
    holds("report", call("explain", *both, "--gpu", "7.5,9.0", "--json"))
    holds("report", call("explain", SAMPLE, "--gpu", "7.0", "--error", "CUDA error 209", "--json"))
    holds("report", call("check", *both, "--require", "7.5", "--contains", "8.0;9.0+PTX", "--strict", "--json"))
    for by in ("artefact", "member", "module"):
        for line in call("list", *both, "--format", "ndjson", "--by", by).splitlines():
            holds("lines", line)
    for words in ([], ["--matrix", "--resources"], ["--missing", "sm_75"], ["--missing-for", "9.0"]):
        holds("kernels", call("kernels", *both, *words, "--json"))
    for by in ("arch", "member", "module", "kernel"):
        holds("size", call("size", *both, "--by", by, "--json"))
    holds("diff", call("diff", SAMPLE, DAMAGED, "--json", "--fail-on", "lost-arch,bytes=+1%"))
    holds("arch", call("arch", "--json"))
    holds("arch", call("arch", "sm_90a", "Blackwell", "RTX 4090", "--json"))
    holds("slim", call("slim", SAMPLE, "--for", "9.0", "--dry-run", "--json"))
    holds("slim", call("slim", SAMPLE, "--keep", "sm_90", "--dry-run", "--json"))
    holds("variant", call("variant", SAMPLE, "--json"))
    holds("device", call("device", "--json"))
    holds("fleet", call("fleet", *both, "--gpu", "7.5,9.0", "--driver", "535", "--json"))
    with tempfile.TemporaryDirectory() as folder:
        call("extract", SAMPLE, "-o", folder)
        holds("extract", pathlib.Path(folder, "index.json").read_text())
    # a validator that accepts everything shows nothing
    for name, text in (("size", call("arch", "--json")), ("report", '{"schema": 1}')):
        try:
            validators[name].validate(json.loads(text))
        except jsonschema.ValidationError:
            continue
        sys.exit(f"{name} accepts what it must not")
    assert all(checked.values()), checked
    print("validated: " + ", ".join(f"{number} {name}" for name, number in checked.items()))


if __name__ == "__main__":
    main()
