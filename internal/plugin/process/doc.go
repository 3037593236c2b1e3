// Package process owns ONE plugin process: its launch and handshake through go-plugin, the connection, what it prints,
// its stop and its end. It does not know which plugin to launch, when or why; package host does.
//
// go-plugin's Client does the protocol, but nothing here waits for it: its calls take no context and its Kill blocks
// for as long as a plugin is stopped. So the process is started, watched and killed by this package, go-plugin is shown
// one validated handshake line and an empty standard error, and is cleaned up when the process is gone already.
//
// The process is held by package limits and, where this machine gives one, lives in a PID namespace (package pidns).
//
// Who owns what: a Process has one goroutine (own) that ends when everything of the process is released, and that waits
// for the others: one that starts the process and reaps it, on a thread of its own, and one that then tells (child), two
// that read its pipes, one that logs (output), two that watch its limits.
package process
