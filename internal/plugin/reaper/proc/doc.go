// Package proc asks the operating system about processes and ends those that should not be there.
//
// It names a process by pid and start time, so that a number that the system gave away again is never mistaken for
// the process that had it before, and finds processes by a mark in their environment, whatever group or session they
// moved to. It starts nothing and decides nothing: package process and package reaper do.
//
// On systems without /proc, processes cannot be found by their mark, and memory and descent are unknown.
package proc
