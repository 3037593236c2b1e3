// Package reaper keeps a small process beside toolhost that outlives it for a moment, however toolhost ends, kill -9
// included: then it kills every process group that toolhost told it of and every process that carries the toolhost's
// mark in its environment or is in one of its control groups, and removes the run folder and the socket.
//
// A Handle is toolhost's side: it starts the helper process, tells it what there is, and starts it again should it die.
// Main is the helper's side. Between them is a pipe whose other end only toolhost holds: the operating system closes
// it with toolhost's last breath, and that is the signal.
//
// Sweep does the same for a toolhost that died together with its reaper: the next one calls it when it starts.
//
// It does not supervise plugins, and what it cannot see it cannot kill: a process that left its group and wiped its
// environment escapes it, unless it is in a control group or in a PID namespace, whose first process has the mark.
package reaper
