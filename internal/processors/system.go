package processors

import (
	"runtime"
	"time"
)

// usage is what a process has used since it began.
type usage struct {
	at    time.Time
	cpu   time.Duration // of all processors
	disks int64         // blocks that were read and written
}

// processors returns how many were at work on average from u to later.
func (u usage) processors(later usage) float64 {
	return float64(later.cpu-u.cpu) / float64(max(later.at.Sub(u.at), 1))
}

// system is what a Governor works on: the runtime and the kernel, or a test's.
type system struct {
	// number returns how many processors the runtime uses now.
	number func() int
	// limit sets that. 0 stands for what the runtime would choose by itself.
	limit func(n int)
	// used returns what the process has used. ok is false where that is not known.
	used func() (u usage, ok bool)
	// waited returns for how long goroutines have been runnable without running, all together, roughly.
	waited func() time.Duration
	// spare returns how long the machine's processors have had nothing to do, all together.
	spare func() time.Duration
}

// processSystem is the runtime and the kernel.
func processSystem() system {
	return system{
		number: func() int { return runtime.GOMAXPROCS(0) },
		limit: func(n int) {
			if n == 0 {
				runtime.SetDefaultGOMAXPROCS()
				return
			}
			runtime.GOMAXPROCS(n)
		},
		used:   processUsage,
		waited: new(waiting).read,
		spare:  spareTime,
	}
}
