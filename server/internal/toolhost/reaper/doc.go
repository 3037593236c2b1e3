// Package reaper keeps a small process, the reaper, beside toolhost. The reaper outlives toolhost
// for a moment, however toolhost ends, kill -9 included. It then kills every process group that
// toolhost told it about, every process with the toolhost's mark in its environment, and every
// process in the toolhost's control groups. It removes the run folder and the socket.
//
// A Handle is toolhost's side: it starts the reaper process, sends it the state, and starts it
// again if it dies. Main is the reaper process's side. Between them is a pipe. Only toolhost holds
// its writing end, which the operating system closes when toolhost ends. That starts the cleanup.
//
// Sweep does the same for a toolhost that died together with its reaper. The next toolhost calls it
// at its start.
//
// The package does not supervise plugins. A process that left its group and cleared its environment
// escapes it, unless the process is in a control group or in a PID namespace, whose first process
// has the mark. Package subreaper finds such processes by their descent.
package reaper
