// Package mcpofficial tests toolhost with the programs of the MCP project: its conformance suite,
// for both versions of the protocol that toolhost speaks, as a server and as a client, and its
// clients in TypeScript and Python and its Inspector. `make mcp` runs the tests. install.sh
// installs the programs in the versions of the lock files.
//
// The suite lists which scenarios each version of the protocol requires. A requirement that does
// not pass fails the test, and so does one that did not run. There are no expected failures.
// Scenarios that no version requires are extensions, or are newer than the version. The table that
// the test prints has them with their state, which fails nothing.
//
// As a server, the suite calls the listener of a toolhost whose plugins are an MCP server,
// testplugins/conformserver, and testplugins/conformplugin. So its calls pass both of toolhost's
// translations of MCP. As a client, the suite starts a server for each scenario and runs this
// package's test program, which calls the tools of that server through a toolhost.
package mcpofficial
