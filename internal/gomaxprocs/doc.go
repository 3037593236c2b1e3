// Package gomaxprocs sets GOMAXPROCS to the number of processors that the process needs. While one
// processor is enough for its work, that number is one.
//
// In Go, waking threads is a large part of the cost of a small call. Whenever a goroutine becomes
// runnable while the runtime has an idle processor, the runtime wakes a thread. The thread looks
// for work, finds the goroutine or nothing, and sleeps again. A process that forwards messages
// wakes many times for each call, and then works for some microseconds. Its additional threads use
// more processor time than they save, and they take that time from the process that receives the
// message. With GOMAXPROCS=1 the runtime wakes no second thread. ADR 0017 has the measurements.
//
// The package owns GOMAXPROCS until other code sets it. It does not know what the process works on.
package gomaxprocs
