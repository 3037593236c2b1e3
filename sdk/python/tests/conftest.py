"""What the tests share: real servers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolhost.client import Client, Event, Execution, Outcome

HERE = Path(__file__).parent
BIN = Path(os.environ.get("BIN", HERE.parents[2] / "bin"))
PATIENCE = 60.0
"""Bounds every wait, in seconds, so that what hangs fails a test instead of stopping the run."""

# A shell has what it runs in the background ignore interrupts, and what was started here would be
# left.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints each test that failed and passed when it ran again, after the failure. The report of .ci/run reads it."""
    failed = {report.nodeid for report in terminalreporter.stats.get("failed", [])}
    flaky = {report.nodeid: report.longreprtext for report in terminalreporter.stats.get("rerun", [])}
    for name, failure in flaky.items():
        if name not in failed:
            terminalreporter.write_line(f"{failure}\nFLAKY {name}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI=true a skipped test fails the run, as the Go tests do."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def program(name: str) -> Path:
    path = BIN / name
    if not path.exists():
        pytest.fail(f"{path} is not there; run make build")
    return path


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a short name: a socket's path has a bound of about 100 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="py-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(source: Path, folder: Path) -> None:
    """Put a plugin into a folder, as one executable file with the Python that runs it."""
    folder.mkdir(exist_ok=True)
    path = folder / source.stem
    path.write_text(f"#!{sys.executable}\n{source.read_text()}")
    path.chmod(0o700)


class Server:
    """A server that is ready, and is stopped in the end."""

    def __init__(self, *command: str | Path, home: Path, address: str, cwd: Path | None = None) -> None:
        self.home = home
        self.address = address
        self._log = (home / f"{Path(command[0]).name}.log").open("w+")
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TMPDIR": str(home)}
        self.process = subprocess.Popen(
            [*map(str, command), "--listen", address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            cwd=cwd,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if address not in line or "problems" in line:
            self.process.kill()
            self.process.wait()
            log = self.log
            self.release()
            pytest.fail(f"not ready: {line!r}\n{log}")

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def stop(self) -> None:
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        log = self.log
        self.release()
        assert code == 0, log

    def release(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()


def serve_toolhost(home: Path, *plugins: str, config: str = "") -> Server:
    for name in plugins:
        install(HERE / "plugins" / f"{name}.py", home / "plugins")
    (home / "workspace").mkdir()
    # Installed packages can be read with the Python that they are for; this one is used from where
    # it is.
    sandbox = f"defaults:\n  sandbox:\n    read: ['{HERE.parent / 'src'}']\n"
    patient = f"launch:\n  timeout: {PATIENCE}s\n"
    (home / "toolhost.yaml").write_text(sandbox + patient + config)
    server = Server(
        program("toolhost"),
        "serve",
        "--config",
        home / "toolhost.yaml",
        "--plugins",
        home / "plugins",
        "--state",
        home / "state",
        "--workspace",
        home / "workspace",
        home=home,
        address=f"unix://{home}/t.sock",
    )
    until_asked(server, len(plugins))
    return server


def until_asked(server: Server, plugins: int) -> None:
    """Wait until a toolhost has described all plugins. Under load it is ready earlier."""
    with Client(server.address) as client:
        eventually(lambda: len({tool.plugin for tool in client.list_tools()}) == plugins, lambda: server.log)


def eventually(condition: Callable[[], bool], describe: Callable[[], object] = str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, describe()
        time.sleep(0.01)


@pytest.fixture(scope="session")
def toolhost() -> Iterator[Server]:
    """A toolhost with the plugins of the tests, which several tests share."""
    with short_folder() as home:
        filters = "filters:\n  - filter: guard\n    tools: [guarded]\n"
        server = serve_toolhost(home, "fixture", "extras", config=filters)
        yield server
        server.stop()


@pytest.fixture
def own_toolhost() -> Iterator[Callable[..., Server]]:
    """Makes a toolhost of one test's own."""
    with contextlib.ExitStack() as stack:

        def make(*plugins: str, config: str = "") -> Server:
            server = serve_toolhost(stack.enter_context(short_folder()), *plugins, config=config)
            stack.callback(server.stop)
            return server

        yield make


def first(execution: Execution, *kinds: type) -> Event:
    """Read to the first event of some kinds."""
    for event in execution:
        assert not isinstance(event.payload, Outcome) or Outcome in kinds, event
        if isinstance(event.payload, kinds):
            return event
    raise AssertionError("nobody read the outcome, and there are no more events")
