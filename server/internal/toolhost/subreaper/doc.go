// Package subreaper finds every process that descends from a toolhost by its descent, and kills it
// when that toolhost ends.
//
// The problem: a process that leaves its process group and its session and clears its environment
// carries no mark of the toolhost that started it. Where plugins run in writable control groups or
// in PID namespaces, those find the process. An ordinary user has neither on many machines.
//
// The idea: the kernel gives an orphan to its nearest living ancestor that is a subreaper
// (PR_SET_CHILD_SUBREAPER, which needs no privilege). Three processes of the same program form a
// chain: the outer subreaper, its child the inner subreaper, and the inner one's child, the served
// program (toolhost itself, which calls Serve). All three are subreapers. When one of the three
// ends, however it ends, each of the others kills all that descends from it except members of the
// chain, and ends.
//
// The invariant: a member of the chain kills the members below it only after everything else below
// it is gone. If a member killed the served program first, a kill of the remaining subreapers at
// that moment would leave processes without an ancestor that kills them. With the invariant, no
// order of killing one or two members leaves a process behind. Only a kill of all three at once
// does.
//
// Each member notices the end of the member above it by a pipe, the lifeline, of which only that
// member holds the other end. The members hand signals that ask for an end down, and the exit code
// up.
//
// The package does not know plugins, and does not decide when subreapers are needed. They cost two
// small processes. Other systems than Linux have no subreapers.
package subreaper
