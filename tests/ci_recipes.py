#!/usr/bin/env python3
"""Runs what docs/CI.md, action.yml and .pre-commit-hooks.yaml promise, as far as one machine can.

    tests/ci_recipes.py                     with the binary in target/release
    tests/ci_recipes.py --wheel X.whl       also installs that wheel as the action and the hook do

- Every example is held to the schema of its system (check-jsonschema's, pre-commit's, cibuildwheel's own).
- The steps of action.yml run in bash as they stand there, with the files and variables that a runner gives.
- The commands of the examples run on the sample, which passes or fails as its truth says.
Exit code: 0 all held, 1 something did not, 2 could not run.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl"
STRICT = bool(os.environ.get("CI"))
TOOLS = ["check-jsonschema>=0.37", "pre-commit>=4", "pyyaml>=6", "cibuildwheel>=3"]
failures = []


def held(what, condition, about=""):
    print(f"{'ok' if condition else 'FAILED':7} {what}")
    if not condition:
        failures.append(what)
        print(f"        {about}")


def skipped(what, why):
    print(f"skipped {what}: {why}")


def tools(folder):
    """A virtual environment with the validators; None if they cannot be had."""
    venv.create(folder, with_pip=True)
    done = subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", *TOOLS],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr[-500:], file=sys.stderr)
        return None
    return folder / "bin"


def examples():
    """The fenced blocks of docs/CI.md by the file that their first line names."""
    text = (ROOT / "docs/CI.md").read_text()
    blocks = re.findall(r"^```(yaml|toml)\n# (\S+)\n(.*?)^```$", text, re.M | re.S)
    return {name: body for _, name, body in blocks}


def validated(bin, examples, folder):
    for name, schema in [(".github/workflows/wheels.yml", "vendor.github-workflows"), (".gitlab-ci.yml", "vendor.gitlab-ci")]:
        file = folder / pathlib.Path(name).name
        file.write_text(examples[name])
        run = subprocess.run([bin / "check-jsonschema", "--builtin-schema", schema, file], capture_output=True, text=True)
        held(f"{name} fits {schema}", run.returncode == 0, run.stdout)
    run = subprocess.run([bin / "check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"],
                         capture_output=True, text=True)
    held("action.yml fits vendor.github-actions", run.returncode == 0, run.stdout)
    run = subprocess.run([bin / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"],
                         capture_output=True, text=True)
    held(".pre-commit-hooks.yaml fits pre-commit", run.returncode == 0, run.stdout + run.stderr)
    config = folder / ".pre-commit-config.yaml"
    config.write_text(examples[".pre-commit-config.yaml"])
    run = subprocess.run([bin / "pre-commit", "validate-config", config], capture_output=True, text=True)
    held(".pre-commit-config.yaml fits pre-commit", run.returncode == 0, run.stdout + run.stderr)
    schema, = bin.parent.glob("lib/python3*/site-packages/cibuildwheel/resources/cibuildwheel.schema.json")
    table = folder / "cibuildwheel.json"
    import json
    table.write_text(json.dumps(tomllib.loads(examples["pyproject.toml"])["tool"]["cibuildwheel"]))
    run = subprocess.run([bin / "check-jsonschema", "--schemafile", schema, table], capture_output=True, text=True)
    held("pyproject.toml fits cibuildwheel", run.returncode == 0, run.stdout)
    skipped("meta.yaml", "conda-build's recipes have no schema of their own")


def as_json(bin, path):
    """A YAML file as plain data, by the tools' PyYAML."""
    import json
    code = "import json,sys,yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
    run = subprocess.run([bin / "python", "-c", code], input=path if isinstance(path, str) else path.read_text(),
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


class Runner:
    """Enough of a runner for action.yml: inputs, the environment file, outputs, the summary."""

    def __init__(self, action, folder, fatscan):
        self.action, self.folder, self.fatscan = action, folder, fatscan
        self.work = folder / "work"
        (self.work / "dist").mkdir(parents=True)
        shutil.copy(SAMPLE, self.work / "dist")

    def run(self, given, install=False):
        inputs = {name: spec.get("default", "") for name, spec in self.action["inputs"].items()}
        unknown = set(given) - set(inputs)
        assert not unknown, f"inputs that action.yml does not have: {unknown}"
        inputs.update({name: str(value) for name, value in given.items()})
        files = {name: self.folder / name for name in ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"]}
        for file in files.values():
            file.write_text("")
        environment = {**os.environ, **{name: str(file) for name, file in files.items()},
                       "RUNNER_TEMP": str(self.folder / "temp"), "FATSCAN": str(self.fatscan)}
        (self.folder / "temp").mkdir(exist_ok=True)
        fill = lambda text: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], text)
        for step in self.action["runs"]["steps"]:
            if step["name"] == "Install fatscan" and not install:
                continue
            own = {name: fill(value) for name, value in step.get("env", {}).items()}
            assert "${{" not in step["run"], "an input stands in the text of a command"
            where = self.work / fill(step.get("working-directory", "."))
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                                  cwd=where, env={**environment, **own}, capture_output=True, text=True)
            environment.update(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
            if done.returncode != 0:
                break
        return done, files["GITHUB_OUTPUT"].read_text(), files["GITHUB_STEP_SUMMARY"].read_text()


def action(bin, folder, fatscan, wheel, examples):
    runner = Runner(as_json(bin, ROOT / "action.yml"), folder, fatscan)
    annotations = lambda done: [line for line in done.stdout.splitlines() if line.startswith("::")]

    done, output, summary = runner.run({"require": "9.0"})
    held("action: the sample runs on 9.0", done.returncode == 0 and output == "result=passed\n", done.stdout + done.stderr)
    held("action: the summary says so", "passed" in summary, summary)

    done, output, summary = runner.run({"require": "8.0;9.0", "sarif": "out.sarif"})
    held("action: the sample fails on 8.0", done.returncode == 1 and output == "result=failed\n", done.stdout + done.stderr)
    held("action: the failure is annotated at the wheel",
         any(line.startswith("::error file=dist/fatscan_sample") for line in annotations(done)), done.stdout)
    held("action: the summary has the library", "librdc.so" in summary, summary)
    sarif = runner.work / "out.sarif"
    held("action: SARIF is written", sarif.exists() and '"2.1.0"' in sarif.read_text())

    done, output, _ = runner.run({"require": "7.0;7.5;8.0;8.6;8.9;9.0;10.0;10.3;12.0;12.1"})
    told = annotations(done)
    held("action: at most ten annotations, the last counts the others",
         done.returncode == 1 and len(told) == 10 and "more" in told[-1], "\n".join(told))

    done, output, _ = runner.run({"paths": "nothing/*.whl", "require": "9.0"})
    held("action: no file is an error", done.returncode == 2 and output == "result=error\n", done.stdout + done.stderr)
    done, output, _ = runner.run({"require": '9.0"; touch broken; "'})
    held("action: an input is no command", done.returncode == 2 and not (runner.work / "broken").exists())
    strange = runner.work / "dist two"
    strange.mkdir()
    shutil.copy(SAMPLE, strange)
    done, output, _ = runner.run({"require": "9.0", "paths": "dist two/*.whl\ndist/*.whl", "args": "--allow-jit\n"})
    held("action: paths with spaces, several lines, more arguments", done.returncode == 0, done.stdout + done.stderr)

    workflow = as_json(bin, examples[".github/workflows/wheels.yml"])
    step, = [step for step in workflow["jobs"]["check"]["steps"] if step["uses"].startswith("OWNER/fatscan@")]
    done, output, _ = runner.run({**step["with"], "require": "9.0"})
    held("action: with the inputs of docs/CI.md", done.returncode == 0, done.stdout + done.stderr)

    if wheel:
        done, output, _ = runner.run({"require": "9.0", "install": str(wheel)}, install=True)
        held("action: installs the wheel", done.returncode == 0 and output == "result=passed\n", done.stdout + done.stderr)
    else:
        skipped("action: the step that installs", "no --wheel is given")


def commands(bin, folder, fatscan, examples):
    """The lines of the examples that call fatscan, on the sample."""
    path = folder / "path"
    path.mkdir()
    (path / "fatscan").symlink_to(fatscan)
    work = folder / "commands"
    (work / "dist").mkdir(parents=True)
    shutil.copy(SAMPLE, work / "dist")

    def shell(line, **more):
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", **more}
        return subprocess.run(["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True)

    gitlab = as_json(bin, examples[".gitlab-ci.yml"])["fatscan"]
    line, = [line for line in gitlab["script"] if line.startswith("fatscan ")]
    done = shell(line)
    report = work / gitlab["artifacts"]["reports"]["junit"]
    held("gitlab: the sample fails on 8.0, JUnit says so",
         done.returncode == 1 and "<failure" in report.read_text(), done.stdout + done.stderr)
    done = shell(line.replace("8.0;9.0;12.0", "9.0"))
    held("gitlab: it passes on 9.0", done.returncode == 0 and "<failure" not in report.read_text(), done.stdout)

    repair, check = tomllib.loads(examples["pyproject.toml"])["tool"]["cibuildwheel"]["linux"]["repair-wheel-command"]
    line = re.sub(r"^pipx run --spec \S+ ", "", check).replace("{dest_dir}", "dist")
    done = shell(line)
    held("cibuildwheel: the sample lacks 8.0 and fails", done.returncode == 1, done.stdout + done.stderr)

    test = as_json(bin, examples["meta.yaml"])["test"]["commands"]
    line, = [line for line in test if line.startswith("fatscan ")]
    package = work / "mypackage"
    package.mkdir()
    shutil.copy(ROOT / "fixtures/librdc.so", package)
    done = shell(line, SP_DIR=str(work))
    held("conda-build: a library without 8.0 fails", done.returncode == 1, done.stdout + done.stderr)


def hook(bin, folder, wheel):
    """The hook's entry, in a repository of its own. pre-commit installs the project's clone, which compiles: with a wheel
    only, which is put in its place."""
    if not wheel:
        skipped("pre-commit: the hook runs", "no --wheel is given")
        return
    repository = folder / "hook"
    project = folder / "project"
    for where in [repository, project]:
        where.mkdir()
        subprocess.run(["git", "init", "-q", where], check=True)
    git = lambda where, *words: subprocess.run(["git", "-C", where, "-c", "user.name=test", "-c", "user.email=test@localhost",
                                                *words], check=True, capture_output=True)
    # what pre-commit clones: the hook as it is, and the wheel as the thing to install
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", project)
    name = "fatscan-hook"
    (project / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "0"\ndependencies = ["fatscan @ {wheel.resolve().as_uri()}"]\n'
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[tool.setuptools]\npy-modules = []\n')
    git(project, "add", "-A")
    git(project, "commit", "-qm", "hook")
    shutil.copy(SAMPLE, repository)
    git(repository, "add", "-A")
    revision = subprocess.run(["git", "-C", project, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    for gpu, code in [("9.0", 0), ("8.0", 1)]:
        (repository / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {project}\n  rev: {revision.stdout.strip()}\n  hooks:\n  - id: fatscan-check\n    args: [--require={gpu}, --]\n")
        git(repository, "add", "-A")
        done = subprocess.run([bin / "pre-commit", "run", "--all-files"], cwd=repository, capture_output=True, text=True,
                              env={**os.environ, "PRE_COMMIT_HOME": str(folder / "pre-commit")})
        held(f"pre-commit: the hook ends with {code} on {gpu}", done.returncode == code, done.stdout + done.stderr)


def version():
    """What the examples install is the version of this project."""
    own = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for file in ["docs/CI.md", "action.yml"]:
        named = set(re.findall(r"fatscan(?:==|@v)(\d+\.\d+\.\d+)", (ROOT / file).read_text()))
        held(f"{file} names version {own}", named == {own}, str(named))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fatscan", type=pathlib.Path, default=ROOT / "target/release/fatscan", help="the binary")
    parser.add_argument("--wheel", type=pathlib.Path, help="a wheel of fatscan for this machine")
    arguments = parser.parse_args()
    target = os.environ.get("CARGO_TARGET_DIR")
    if not arguments.fatscan.exists() and target:
        arguments.fatscan = pathlib.Path(target) / "release/fatscan"
    if not arguments.fatscan.exists():
        print(f"{arguments.fatscan} does not exist: cargo build --release", file=sys.stderr)
        return 2
    version()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        bin = tools(folder / "tools")
        if bin is None:
            skipped("all else", "pip cannot fetch the validators")
            return 1 if STRICT or failures else 0
        found = examples()
        validated(bin, found, folder)
        fatscan = arguments.fatscan.resolve()
        (folder / "action").mkdir()
        action(bin, folder / "action", fatscan, arguments.wheel, found)
        commands(bin, folder, fatscan, found)
        hook(bin, folder, arguments.wheel)
    print(f"{len(failures)} failed" if failures else "all held")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
