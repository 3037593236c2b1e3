package gomaxprocs

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// largestMeasured is the number of processors of the largest machine on which the benchmark was
	// run with a governor. On a larger machine the runtime's own choice stays.
	largestMeasured = 4
	// window is the time over which use is measured for a decision, while there is work.
	window = 10 * time.Millisecond
	// calmWindow is the time between two looks without work. Work that begins without a call of
	// Work gets its processors after this time at the latest.
	calmWindow = 5 * time.Second
	// crowded is the time for which all processors must be at work before the process gets more.
	// A garbage collection of toolhost keeps one processor busy for about 50 ms if the ledger has
	// 10,000 outcomes, while goroutines wait. It must not count as lasting load.
	crowded = 250 * time.Millisecond
	// memory is the time over which the highest need counts.
	memory = 250 * time.Millisecond
	// full is the part of its processors' time above which a process gets more processors.
	full = 0.9
	// ample is the largest part of the time of n processors that a process may use when it is
	// reduced to n, for n above one.
	ample = 0.7
	// alone is the use below which a process is reduced to one processor. The bound needs no
	// reserve, because use falls by a fifth with one processor: the runtime wakes no second thread.
	// With a lower bound, a process that got a second processor for a moment would keep it only
	// because of that overhead.
	alone = 1.0
	// idle is the part of one processor's time below which a process counts as idle.
	idle = 0.02
	// blocking is the number of processors of a process that waits for disks. A waiting thread can
	// keep its processor for up to ten milliseconds, until the runtime takes the processor away.
	blocking = 2
)

// crowd is the beginning of a period in which all processors were at work, as the values of the two
// clocks of system.
type crowd struct {
	usage
	waited, spare time.Duration
}

// Governor sets GOMAXPROCS as the process needs it. All methods are safe for concurrent use. A nil
// *Governor does nothing.
type Governor struct {
	system system
	timer  *time.Timer // calls look
	calm   atomic.Bool // the next look is more than window away, and Work brings it forward
	held   atomic.Int64

	mu     sync.Mutex // held while GOMAXPROCS is set, which can take as long as a garbage collection
	given  int        // the number that this governor has set
	most   int        // the number that the runtime would choose
	last   usage
	needed int   // the highest need since begun
	begun  usage // when needed was reset
	crowd  crowd // zero: not all processors were at work in the last window
	calmed bool  // the timer was set for a calm time
	ended  bool
}

// Govern starts a governor. It leaves GOMAXPROCS unchanged for the first quarter of a second, so
// that the process starts as fast as without a governor. Govern returns nil and changes nothing in
// these cases: GOMAXPROCS is set in the environment or by runtime.GOMAXPROCS; the runtime uses one
// processor only, or more than four; the system does not report the process's use. Close ends the
// governor.
func Govern(getenv func(string) string) *Governor {
	chosen := runtime.GOMAXPROCS(0)
	if getenv("GOMAXPROCS") != "" || chosen == 1 || chosen > largestMeasured {
		return nil
	}
	runtime.SetDefaultGOMAXPROCS() // it costs nothing if the number is the default already
	if runtime.GOMAXPROCS(0) != chosen {
		runtime.GOMAXPROCS(chosen)
		return nil
	}
	return govern(processSystem())
}

func govern(s system) *Governor {
	now, ok := s.used()
	if !ok {
		return nil
	}
	g := &Governor{system: s, most: s.number(), given: s.number(), last: now, begun: now, needed: 1}
	g.mu.Lock() // the timer may call look at once
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(memory, g.look)
	return g
}

// Work tells the governor that the process is no longer idle, so that the governor soon measures
// its load. Callers use it at the start of each call. It never blocks. If the governor is already
// measuring, it costs one atomic read.
func (g *Governor) Work() {
	if g == nil || !g.calm.Load() || !g.calm.CompareAndSwap(true, false) {
		return
	}
	g.timer.Reset(window)
}

// Hold gives the process a second processor within moments, and keeps it until the caller calls
// release. The caller must call release. Hold is for work during which a thread keeps its processor
// without working, such as the start of a process. It never blocks.
func (g *Governor) Hold() (release func()) {
	if g == nil {
		return func() {}
	}
	g.held.Add(1)
	g.timer.Reset(0)
	return sync.OnceFunc(func() { g.held.Add(-1) })
}

// Close ends the governor and leaves GOMAXPROCS to the runtime.
func (g *Governor) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.give(g.most)
	}
	g.end()
}

// look measures the use since the last look, and sets GOMAXPROCS. The timer calls it.
func (g *Governor) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	if g.system.number() != g.given && !g.chosenByRuntime() {
		g.end() // other code has set it
		return
	}
	now, _ := g.system.used()
	use, disks := g.last.processors(now), now.disks != g.last.disks
	g.last = now
	if disks || g.held.Load() > 0 {
		g.need(blocking)
	}
	called := g.calmed && !g.calm.Load() // Work brought this look forward, and use is the average of a long calm
	if !called {
		g.widen(use, now)
		g.narrow(now)
	}
	pause := window
	switch {
	case called:
	case g.given == g.most, use < idle && g.given > 1: // the number can only fall, after memory
		pause = memory
	case use < idle:
		pause = calmWindow
	}
	g.next(pause)
}

// next sets the timer. The caller holds g.mu.
func (g *Governor) next(pause time.Duration) {
	g.timer.Reset(pause)
	g.calmed = pause > window && g.given < g.most
	g.calm.Store(g.calmed)
	if g.held.Load() > 0 && g.given < min(blocking, g.most) { // Hold may have set the timer just before this Reset
		g.timer.Reset(0)
	}
}

// chosenByRuntime reports whether the runtime changed the number of processors. The runtime follows
// the limits of the container as long as no code has set a number.
func (g *Governor) chosenByRuntime() bool {
	if g.given != g.most {
		return false
	}
	chosen := g.system.number()
	g.system.limit(0)
	g.most = g.system.number()
	if g.most != chosen {
		g.system.limit(chosen)
		return false
	}
	g.given = chosen
	return true
}

// widen doubles the number of processors if three conditions hold: all processors were at work for
// some time, goroutines waited for a processor, and the machine has an idle one. The second
// condition distinguishes work from garbage collection, which uses all processors of the process.
// Without the third, another thread would take processor time from the processes that receive this
// process's messages.
func (g *Governor) widen(use float64, now usage) {
	crowding := !g.crowd.at.IsZero()
	if crowding {
		use = g.crowd.processors(now)
	}
	if use < full*float64(g.given) || g.given >= g.most {
		g.crowd = crowd{}
		return
	}
	switch took := now.at.Sub(g.crowd.at); {
	case !crowding:
	case took < crowded:
		return
	case g.system.waited()-g.crowd.waited >= took/4 && g.system.spare()-g.crowd.spare >= took/4:
		g.need(2 * g.given)
	}
	g.crowd = crowd{usage: now, waited: g.system.waited(), spare: g.system.spare()}
}

// narrow lowers the number of processors if the process needed fewer for some time.
func (g *Governor) narrow(now usage) {
	if now.at.Sub(g.begun.at) < memory {
		return
	}
	g.needed = max(g.needed, enough(g.begun.processors(now)))
	if g.needed < g.given {
		g.give(g.needed)
	}
	g.needed, g.begun = 1, now
}

// need raises the number of processors to n, or to the number that the runtime would use if that is
// smaller.
func (g *Governor) need(n int) {
	g.needed = max(g.needed, n)
	if g.given < n {
		g.give(min(n, g.most))
	}
}

// enough returns the number of processors that suffice for a use.
func enough(use float64) int {
	if use < alone {
		return 1
	}
	return int(math.Ceil(use / ample))
}

// give sets the number of processors. If that is all of them, it lets the runtime choose, because
// the limits of the container may have changed.
func (g *Governor) give(n int) {
	switch {
	case g.ended || n == g.given || g.system.number() != g.given: // the next look finds out what changed it
		return
	case n == g.most:
		g.system.limit(0)
		g.most = g.system.number()
	default:
		g.system.limit(n)
	}
	g.given = g.system.number()
}

func (g *Governor) end() {
	g.ended = true
	g.timer.Stop()
}
