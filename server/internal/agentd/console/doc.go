// Package console has the pages of agentd: an inbox of the decisions that wait for a person, one
// page for each decision, and runs as text.
//
// The pages are a client. A person logs in, and each request of the browser is an RPC of that
// person over a connection in memory: the gate and the services decide what the person may see and
// do, and write the audit log. This package has no rights of its own. docs/adr/0049-pages.md
// describes the design.
//
// Text of models, tools and callers enters a page as text, after the function that terminals use
// (cli.OneLine). No page contains such text as HTML, as a URL, or in a script.
package console
