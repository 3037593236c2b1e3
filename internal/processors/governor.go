package processors

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// window is how long use is measured for a decision, while there is work.
	window = 10 * time.Millisecond
	// calmWindow is the same while there is none. What begins to work without a word gets its processors after it at the latest.
	calmWindow = 5 * time.Second
	// crowded is for how long all processors must be at work before there are more.
	crowded = 3 * window
	// memory is for how long the most that was needed is given.
	memory = 250 * time.Millisecond
	// full is the part of its processors' time from which on a process gets more of them.
	full = 0.9
	// ample is the part of fewer processors' time that a process may use at the most to be given those.
	ample = 0.7
	// idle is the part of one processor's time below which a process counts as calm.
	idle = 0.02
	// blocking is how many processors a process has that waits for disks, since one of them may be held by a thread that waits
	// for up to ten milliseconds, which is when the runtime looks for such.
	blocking = 2
)

// crowd is when all processors came to be at work, and what had been waited and spared by then.
type crowd struct {
	since         time.Time
	waited, spare time.Duration
}

// Governor gives a process processors as it needs them. Its methods may be called at the same time, and on nil, which does
// nothing.
type Governor struct {
	system system
	timer  *time.Timer // calls look
	calm   atomic.Bool // looks are far apart
	held   atomic.Int64

	mu     sync.Mutex // below: held while the runtime is told, which can take as long as a collection of garbage
	given  int        // as this governor has set it
	most   int        // as the runtime would choose
	last   usage
	needed int   // the most that was needed since begun
	begun  usage // of needed
	crowd  crowd // zero: not all were at work in the last window
	calmed bool  // the timer was set for a calm time
	ended  bool
}

// Govern begins with the processors that there are, so that a start takes no longer than without it. It returns nil, which
// leaves everything as it is, where somebody has chosen a number, by GOMAXPROCS in the environment or by runtime.GOMAXPROCS,
// where there is one processor only, and where it is not known what a process uses. Close ends it.
func Govern(getenv func(string) string) *Governor {
	if getenv("GOMAXPROCS") != "" || runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	chosen := runtime.GOMAXPROCS(0)
	runtime.SetDefaultGOMAXPROCS() // costs nothing where it is so already
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
	g.mu.Lock() // look may be called at once
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(memory, g.look)
	return g
}

// Work says that work begins, so that what it uses is looked at soon. It is meant for each call: it never waits, and costs next
// to nothing while there is work already.
func (g *Governor) Work() {
	if g == nil || !g.calm.Load() || !g.calm.CompareAndSwap(true, false) {
		return
	}
	g.timer.Reset(window)
}

// Hold gives the process a second processor, very soon, and at least until release is called, which must happen. It is for
// work during which a thread keeps its processor although it does nothing on it, like the start of a process. It never waits.
func (g *Governor) Hold() (release func()) {
	if g == nil {
		return func() {}
	}
	g.held.Add(1)
	g.timer.Reset(0)
	return sync.OnceFunc(func() { g.held.Add(-1) })
}

// Close gives the process all processors again.
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

// look decides by what was used since the last time. It is called by the timer.
func (g *Governor) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	if g.system.number() != g.given && !g.chosenByRuntime() {
		g.end() // it was chosen by somebody
		return
	}
	now, _ := g.system.used()
	use, disks := g.last.processors(now), now.disks != g.last.disks
	g.last = now
	if disks || g.held.Load() > 0 {
		g.need(blocking)
	}
	called := g.calmed && !g.calm.Load() // by Work: use is that of a long calm
	if !called {
		g.widen(use, now.at)
		g.narrow(now)
	}
	pause := window
	switch {
	case called:
	case g.given == g.most, use < idle && g.given > 1: // nothing is done before it may be fewer
		pause = memory
	case use < idle:
		pause = calmWindow
	}
	g.next(pause)
}

// next sets the timer. g.mu is held.
func (g *Governor) next(pause time.Duration) {
	g.timer.Reset(pause)
	g.calmed = pause > window && g.given < g.most
	g.calm.Store(g.calmed)
	if g.held.Load() > 0 && g.given < min(blocking, g.most) { // Hold may have set the timer before it was set here
		g.timer.Reset(0)
	}
}

// chosenByRuntime reports whether it is the runtime that has changed the number, as it does with the limits of the container
// while nobody has chosen one.
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

// widen gives twice as many processors where all were at work for some time, goroutines waited for one, and the machine has
// one to spare. Without the waiting nothing would be gained: the collection of garbage uses whatever processors there are.
// Without one to spare, a thread more would take its time from those that this process passes its work to.
func (g *Governor) widen(use float64, at time.Time) {
	if use < full*float64(g.given) || g.given >= g.most {
		g.crowd = crowd{}
		return
	}
	switch took := at.Sub(g.crowd.since); {
	case g.crowd.since.IsZero():
	case took < crowded:
		return
	case g.system.waited()-g.crowd.waited >= took/4 && g.system.spare()-g.crowd.spare >= took/4:
		g.need(2 * g.given)
	}
	g.crowd = crowd{since: at, waited: g.system.waited(), spare: g.system.spare()}
}

// narrow gives less when less was needed for some time.
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

// need gives n processors at least, and at most all.
func (g *Governor) need(n int) {
	g.needed = max(g.needed, n)
	if g.given < n {
		g.give(min(n, g.most))
	}
}

// enough returns how many processors are ample for what so many were used for.
func enough(use float64) int {
	return max(1, int(math.Ceil(use/ample)))
}

// give sets the number. All that there are is what the runtime chooses then, which may have changed with the limits of the
// container.
func (g *Governor) give(n int) {
	switch {
	case g.ended || n == g.given || g.system.number() != g.given: // the next look sees who has chosen
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
