// Package lifecycle decides what happens to one plugin and its instances for one tenant: which
// instance gets a call, when a process starts, is replaced, drains and stops, how long to wait
// after a crash, when to quarantine the plugin and when to try it again.
//
// The package is a pure state machine. A driver (server/internal/toolhost/host/supervisor) passes
// events and times to a Machine and executes the Actions that the Machine returns. A Machine has no
// lock, starts no goroutine, reads no clock and does no I/O, so that tests can take it through any
// sequence of events.
package lifecycle
