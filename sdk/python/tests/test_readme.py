"""The quick start of README.md, command by command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from conftest import BIN, HERE, Server, program, short_folder, until_asked

BLOCKS = re.findall(
    r"^```(\w+) ?([\w.]*)\n(.*?)^```",
    (HERE.parent / "README.md").read_text().split("## Tools")[0],
    re.DOTALL | re.MULTILINE,
)


def environment_of(home: Path, configured: Path) -> list[str | Path]:
    """Make the virtual environment of the quick start, with what is there instead of what is to be downloaded.

    Returns the words with which toolhost is configured to let plugins read that. The file is in a folder of its own,
    because toolhost takes no configuration from the workspace.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / ".venv"], check=True)
    library = next((home / ".venv" / "lib").iterdir()) / "site-packages"
    here = sysconfig.get_path("purelib")
    (library / "here.pth").write_text(f"{here}\n{HERE.parent / 'src'}\n")
    config = configured / "toolhost.yaml"
    config.write_text(f"defaults:\n  sandbox:\n    read: ['{here}', '{HERE.parent / 'src'}']\n")
    return ["--config", config, "--state", home / "state"]


def test_quick_start(tmp_path: Path) -> None:
    with short_folder() as home:
        options = environment_of(home, tmp_path)
        address = f"unix://{home}/t.sock"
        environment = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "TOOLHOST_ADDR": address}
        printed = []
        server = None
        for language, name, text in BLOCKS:
            if language == "python":
                (home / name).write_text(text)
            elif name == "serve":
                words = text.split()
                server = Server(program(words[0]), *words[1:], *options, home=home, address=address, cwd=home)
                until_asked(server, 1)
            elif language == "sh" and not name:
                run = subprocess.run(
                    ["/bin/sh", "-ec", text], cwd=home, env=environment, capture_output=True, text=True, check=False
                )
                assert run.returncode == 0, run.stderr
                printed.append(run.stdout)
        assert server is not None
        server.stop()
        assert "forecast  weather" in printed[1]
        assert printed[1].endswith("rain in Oslo for 3 days\n")
        assert printed[2] == "rain in Oslo for 1 days\n"
        tested = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_weather.py"],
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "1 passed" in tested.stdout, tested.stdout


def test_the_licence_is_that_of_the_repository() -> None:
    assert (HERE.parent / "LICENSE").read_text() == (HERE.parents[2] / "LICENSE").read_text()


def test_a_folder_with_a_plugin_yaml(tmp_path: Path) -> None:
    with short_folder() as home:
        options = environment_of(home, tmp_path)
        folder = home / "plugins" / "weather"
        folder.mkdir(parents=True)
        source = next(text for _, name, text in BLOCKS if name == "weather.py")
        main = f"#!{home}/.venv/bin/python\nfrom words import words\n" + source.replace("rain in", "{words} in")
        (folder / "weather.py").write_text(main)
        (folder / "weather.py").chmod(0o700)
        (folder / "words.py").write_text("words = 'sun'\n")
        (folder / "plugin.yaml").write_text("command: [./weather.py]\n")
        address = f"unix://{home}/t.sock"
        server = Server(
            program("toolhost"),
            "serve",
            "--plugins",
            "plugins",
            *options,
            home=home,
            address=address,
            cwd=home,
        )
        try:
            until_asked(server, 1)
            called = subprocess.run(
                [program("toolhost"), "call", "--addr", address, "forecast", '{"city":"Oslo"}'],
                capture_output=True,
                text=True,
                check=False,
            )
            assert called.stdout == "sun in Oslo for 1 days\n", called.stderr
        finally:
            server.stop()
