"""A toolhost and an agentd with the plugin of one benchmark, in a folder of their own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import toolhost

HERE = Path(__file__).resolve().parent
PATIENCE = 60.0  # seconds for a server to start, or for a run that goes on


class Servers:
    """The two programs. They are killed and started again by name."""

    def __init__(self, folder: Path, bin: Path, benchmark: str, site: str, *, check: bool, pause: float = 0.0) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.bin = folder, bin
        self.effects, self.trace, self.script = folder / "effects", folder / "effects/trace", folder / "script.json"
        for name in ("home", "run", "work", "plugins", "effects"):
            (folder / name).mkdir(parents=True)
        (folder / "run").chmod(0o700)
        name = benchmark.partition("-")[2] or benchmark
        settings = {
            "benchmark": benchmark,
            "name": name,
            "site": site,
            "effects": str(self.effects),
            "trace": str(self.trace),
            "check": check,
            "pause": pause,
        }
        (folder / "plugins" / name).mkdir()
        (folder / "plugins" / name / "settings.json").write_text(json.dumps(settings))
        program = folder / "plugins" / name / "plugin"
        program.write_text(
            f"#!{sys.executable} -B\nimport os, pathlib, runpy, sys\n"
            'if os.environ.get("PYTHONHASHSEED") != "0":  # a set of texts has the same order in each process\n'
            '    os.execve(sys.executable, [sys.executable, "-B", *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})\n'
            'sys.argv.append(str(pathlib.Path(__file__).with_name("settings.json")))\n'
            f'runpy.run_path("{HERE}/plugin.py", run_name="__main__")\n'
        )
        program.chmod(0o755)
        (folder / "plugins" / name / "plugin.yaml").write_text(json.dumps({"command": ["./plugin"]}))
        sandbox = {
            "read": [str(HERE), site, sys.prefix, sys.base_prefix, str(Path(toolhost.__file__).parents[1])],
            "write": [str(self.effects)],
        }
        config = {
            "plugins": [str(folder / "plugins")],
            "workspace": str(folder / "work"),
            "plugin": {name: {"sandbox": sandbox}},
        }
        (folder / "toolhost.yaml").write_text(json.dumps(config))
        (folder / "agentd.yaml").write_text("{}")
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder / "home"),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "LANG": "C.UTF-8",
        }
        self.processes: dict[str, subprocess.Popen] = {}
        self.starts = 0

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/run/agentd/agentd.sock"

    def start(self, program: str) -> None:
        """Start a server and wait until it says where it listens."""
        more = {"toolhost": [], "agentd": ["--model", f"scripted:{self.script}"]}[program]
        self.starts += 1
        log = self.folder / f"{program}-{self.starts}.log"
        command = [self.bin / program, "serve", "--config", self.folder / f"{program}.yaml", *more]
        with log.open("wb") as errors:
            p = subprocess.Popen(
                command,
                env=self.environment,
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self.processes[program] = p
        if not p.stdout.readline():
            raise RuntimeError(f"{program} did not start: {log.read_text()[-2000:]}")

    def await_tools(self, count: int) -> None:
        """Wait until the tools are known."""
        until, log = time.monotonic() + PATIENCE, ""
        while time.monotonic() < until and "cannot be used" not in log:
            if self.cli("toolhost", "tools").count("\n") > count:
                return
            time.sleep(0.1)
            log = (self.folder / f"toolhost-{self.starts}.log").read_text()
        raise RuntimeError(f"toolhost does not know the {count} tools: {log[-2000:]}")

    def kill(self, program: str, how: int = signal.SIGKILL) -> None:
        p = self.processes.get(program)
        if p and p.poll() is None:
            p.send_signal(how)
            p.wait()

    def kill_plugin(self) -> int:
        """Kill the processes of the plugin, and return how many there were."""
        killed = 0
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                words = Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
                # toolhost runs a copy of the plugin in its state.
                if words[0].endswith(b"python") and any(
                    w.startswith(bytes(self.folder)) and w.endswith(b"/plugin") for w in words
                ):
                    os.kill(int(entry), signal.SIGKILL)
                    killed += 1
            except OSError:
                continue  # it has ended
        return killed

    def cli(self, program: str, *arguments: str) -> str:
        command = [self.bin / program, *arguments]
        return subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True).stdout

    def events(self, run: str) -> list[dict]:
        """The events of a run."""
        return [
            json.loads(line)
            for line in self.cli("agentd", "show", run, "-o", "json", "--config", "agentd.yaml").splitlines()
        ]

    def close(self) -> None:
        for program in ("agentd", "toolhost"):
            self.kill(program, signal.SIGTERM)
