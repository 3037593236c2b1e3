"""Check that a toolhost has the contract that this program was written for."""

from toolhost.client import Client

with Client() as toolhost:
    version = toolhost.version()
    if version.contracts.host != "toolhost.v1":
        raise SystemExit(f"toolhost {version.version} serves {version.contracts.host}, and not toolhost.v1")
    print(version.contracts.host)

# Output:
# toolhost.v1
