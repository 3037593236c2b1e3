// Package gomaxprocs sets GOMAXPROCS to the number of processors that the process needs: to one,
// while its work fits on one.
//
// In Go, waking threads is a large part of the cost of a small call. Whenever a goroutine becomes
// runnable while the runtime has an idle processor, the runtime wakes a thread that looks for work,
// finds the goroutine or nothing, and sleeps again. A process that passes messages on wakes many
// times for each call and then works for some microseconds. Its threads take more processor time
// than they give, and they take it from the process that receives the message. With GOMAXPROCS=1
// the runtime wakes no second thread. ADR 0017 has the measurements.
//
// The package owns GOMAXPROCS until other code sets it. It does not know what the work is.
package gomaxprocs
