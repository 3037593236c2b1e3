// Package clients tests toolhost with real MCP clients: Claude Code, Codex, Gemini CLI and
// opencode, in the versions of the lock file. `make clients` installs them and runs the tests, as
// root on Linux.
//
// Each client runs without a user, in a network namespace that has only loopback. Its model is a
// server of the test, which speaks the API that the client expects. The model calls one tool after
// the other and sees in the next request what the client made of the result. What it must see is
// data that nothing but the tool has. A person approves a call by a command, and another one at the
// pages of agentd.
package clients
