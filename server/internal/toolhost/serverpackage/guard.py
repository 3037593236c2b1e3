# Runs pip, which starts a program only for a package that is no wheel of its index: git for a
# repository, and Python to build it. pip goes on without the optional ones. On musl, it
# reads the version of the C library from the output of the loader.
import os
import runpy
import sys

STARTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"}
OPTIONAL = {"keyring", "lsb_release", "rustc", "uname"}


def refuse(event, args):
    if event not in STARTS:
        return
    program = os.path.basename(os.fsdecode(args[0])) if args else event
    if event in ("subprocess.Popen", "os.posix_spawn") and program.startswith("ld-musl-"):
        return
    if program not in OPTIONAL:
        os.write(2, f"toolhost: the installation may not run {program}\n".encode())
    raise PermissionError(13, "toolhost: the installation may not run " + program)


sys.addaudithook(refuse)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
