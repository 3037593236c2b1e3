// Package processors keeps a process on as few processors as its work needs: on one, while its work fits on one.
//
// What a small call costs in Go is for a good part the waking of threads. Whenever a goroutine becomes runnable while a
// processor of the runtime is idle, a thread is woken that looks for work, finds the goroutine or nothing, and sleeps again.
// A process that passes messages on wakes many times for each call and then works for some microseconds, so that these
// threads take more of the machine than they give, and take it from the process that the message goes to. With one processor
// nobody is woken beside the one that works. ADR 0017 has the figures.
//
// The package owns GOMAXPROCS, for as long as nobody else sets it. It does not look at what the work is, and does not know
// calls.
package processors
