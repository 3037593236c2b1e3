// Package proc asks the operating system about processes, and kills processes.
//
// It identifies a process by pid and start time, so that a pid that was given to another process is
// never mistaken for the earlier one. It finds processes by a mark in their environment, whatever
// group or session they moved to. It starts nothing and decides nothing: package process and
// package reaper do.
//
// On systems without /proc, processes cannot be found by their mark, and memory and descent are
// unknown.
package proc
