// Package lifecycle decides what happens to one plugin and its instances: which call goes where, when a process is
// started, replaced, drained and stopped, how long to wait after a crash, when to give up and when to try again.
//
// It decides and does nothing else: a Machine is told what happened and when, and answers with Actions for its driver
// (internal/host) to carry out. It holds no lock, starts no goroutine, reads no clock and does no I/O, so that every
// path can be tested by telling it stories.
package lifecycle
