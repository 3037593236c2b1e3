package gomaxprocs

import (
	"runtime"
	"time"
)

// usage is what a process has used since its start.
type usage struct {
	at    time.Time
	cpu   time.Duration // of all processors
	disks int64         // blocks that were read and written
}

// processors returns how many processors were at work on average between u and later.
func (u usage) processors(later usage) float64 {
	return float64(later.cpu-u.cpu) / float64(max(later.at.Sub(u.at), 1))
}

// system is what a Governor works on: the runtime and the kernel, or a test's.
type system struct {
	// number returns how many processors the runtime uses now.
	number func() int
	// limit sets that number. 0 leaves the choice to the runtime.
	limit func(n int)
	// used returns the processor time that the process has used. ok is false if the system does not
	// report it.
	used func() (u usage, ok bool)
	// waited returns approximately how long all goroutines together were runnable without running.
	waited func() time.Duration
	// spare returns how long all processors of the machine together were idle.
	spare func() time.Duration
}

// processSystem returns the system that consists of the runtime and the kernel.
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
