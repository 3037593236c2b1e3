"""The bounds of the dependencies: the tests run with the versions that pyproject.toml names as the lowest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent.parent


def test_the_lowest_versions_are_those_that_are_tested() -> None:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    lowest = dict(re.findall(r"^([a-z-]+)==([0-9.]+)$", (HERE / "requirements-lowest.in").read_text(), re.MULTILINE))
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["otel"]]:
        bounds = re.fullmatch(r"([a-z-]+)>=([0-9.]+),<([0-9]+)", requirement)
        assert bounds, f"{requirement} needs a lower bound and, as its upper bound, a major version"
        assert lowest.pop(bounds[1]) == bounds[2], requirement
    assert set(lowest) == {"pytest", "pytest-rerunfailures"}
