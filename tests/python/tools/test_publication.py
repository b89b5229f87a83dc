"""Tests of what is published beside the package: licences, versions, workflows."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_licences_of_all_compiled_packages_are_in_the_wheel():
    listed = ROOT / "THIRD-PARTY.txt"
    tool = [sys.executable, str(ROOT / "tools/third_party.py"), "--check"]
    subprocess.run([*tool, str(listed)], check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert listed.name in project["license-files"]


def test_a_package_without_its_licence_is_named(tmp_path):
    stale = tmp_path / "stale.txt"
    text = (ROOT / "THIRD-PARTY.txt").read_text("utf-8")
    stale.write_text(text.replace("serde_json", "other_json"), "utf-8")
    tool = [sys.executable, str(ROOT / "tools/third_party.py"), "--check", str(stale)]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 1
    assert "other_json" in done.stderr


def test_all_files_state_one_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"][
        "version"
    ]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    assert f'version: "{version}"' in recipe
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for dependency in project["dependencies"]:
        assert dependency.replace("matplotlib", "matplotlib-base").replace(">=", " >=") in recipe


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_what_exists(workflow):
    yaml = pytest.importorskip("yaml")
    targets = {line.partition(":")[0] for line in (ROOT / "Makefile").read_text().splitlines()}
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    called = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    for command in called:
        words = command.split()
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets
        elif "/" in words[0]:
            assert (ROOT / words[0]).is_file()


@pytest.mark.needs("actionlint")
def test_workflows_are_valid():
    subprocess.run([shutil.which("actionlint"), *map(str, WORKFLOWS)], check=True)
