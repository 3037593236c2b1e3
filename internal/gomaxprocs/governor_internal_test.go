package gomaxprocs

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// machine simulates a machine with one process, in the time of a synctest bubble.
type machine struct {
	mu         sync.Mutex
	processors int     // of the machine
	limit      int     // the number that the runtime would choose
	others     float64 // processors that other processes use
	wanted     float64 // processors that the work of the process would use if it had them
	lonely     bool    // the work is one goroutine, and no other waits for its processor
	waking     float64 // processors that waking threads uses while the process has more than one
	set        int     // GOMAXPROCS
	custom     bool    // code has set it

	at    time.Time
	state usage
	wait  time.Duration
	idle  time.Duration
	asked int // calls of used
}

func newMachine(processors int) *machine {
	return &machine{processors: processors, limit: processors, set: processors, at: time.Now()}
}

// pass accounts for the time since the last call. The caller holds m.mu.
func (m *machine) pass() {
	took := time.Since(m.at)
	m.at = time.Now()
	of := func(n float64) time.Duration { return time.Duration(n * float64(took)) }
	wanted := m.wanted
	if m.set > 1 {
		wanted += m.waking
	}
	use := math.Min(wanted, float64(m.set))
	m.state.cpu += of(use)
	if !m.lonely {
		m.wait += of(wanted - use)
	}
	m.idle += of(math.Max(0, float64(m.processors)-use-m.others))
}

func (m *machine) system() system {
	locked := func(f func()) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pass()
		f()
	}
	return system{
		number: func() (n int) { locked(func() { n = m.set }); return n },
		limit: func(n int) {
			locked(func() {
				m.set, m.custom = n, n != 0
				if n == 0 {
					m.set = m.limit
				}
			})
		},
		used: func() (u usage, ok bool) {
			locked(func() { m.asked++; u = m.state; u.at = m.at })
			return u, true
		},
		waited: func() (d time.Duration) { locked(func() { d = m.wait }); return d },
		spare:  func() (d time.Duration) { locked(func() { d = m.idle }); return d },
	}
}

// change lets f change the machine.
func (m *machine) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass()
	f()
}

// looks returns how often the governor measured.
func (m *machine) looks() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// after lets time pass and returns GOMAXPROCS at its end.
func (m *machine) after(d time.Duration) int {
	time.Sleep(d)
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.set
}

func TestAProcessHasTheProcessorsThatItsWorkNeeds(t *testing.T) {
	tests := []struct {
		name       string
		wanted     float64
		others     float64
		lonely     bool
		waking     float64
		disks      int64
		start, end int // GOMAXPROCS before and after, of eight processors
	}{
		{name: "none to speak of", wanted: 0.01, start: 8, end: 1},
		{name: "what fits on one", wanted: 0.65, start: 8, end: 1},
		{name: "what fits on one, from one", wanted: 0.85, start: 1, end: 1},
		{name: "what fits on one without waking threads", wanted: 0.75, waking: 0.2, start: 8, end: 1},
		{name: "what needs three", wanted: 1.9, start: 8, end: 3},
		{name: "what needs all, from one", wanted: 20, start: 1, end: 8},
		{name: "what needs three, from one", wanted: 2.7, start: 1, end: 4},
		{name: "one goroutine that computes", wanted: 1, lonely: true, start: 1, end: 1},
		{name: "a machine with nothing to spare", wanted: 3, others: 7, start: 1, end: 1},
		{name: "a machine with a little to spare", wanted: 3, others: 6, start: 1, end: 2},
		{name: "disks", wanted: 0.1, disks: 8, start: 1, end: 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(8)
				g := govern(m.system())
				defer g.Close()
				if test.start == 1 && m.after(2*memory) != 1 {
					t.Fatal("without work it does not come down to one")
				}
				m.change(func() {
					m.wanted, m.others, m.lonely, m.waking = test.wanted, test.others, test.lonely, test.waking
				})
				g.Work()
				got := 0
				for range 100 {
					m.change(func() { m.state.disks += test.disks })
					got = m.after(window)
				}
				if got != test.end {
					t.Errorf("it has %d processors, want %d", got, test.end)
				}
			})
		})
	}
}

// A garbage collection with one processor does not get a second one, although it looks like work
// that needs it.
func TestABurstIsNoLastingLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		g := govern(m.system())
		defer g.Close()
		m.after(2 * memory)
		for range 10 {
			m.change(func() { m.wanted = 3 })
			g.Work()
			if got := m.after(crowded / 2); got != 1 {
				t.Fatalf("in a burst it has %d processors, want 1", got)
			}
			m.change(func() { m.wanted = 0.6 })
			if got := m.after(crowded); got != 1 {
				t.Fatalf("after a burst it has %d processors, want 1", got)
			}
		}
	})
}

func TestAHeldProcessHasASecondProcessorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		g := govern(m.system())
		defer g.Close()
		m.after(2 * memory)
		first, second := g.Hold(), g.Hold()
		if got := m.after(0); got != 2 {
			t.Fatalf("held, it has %d", got)
		}
		first()
		first()
		if got := m.after(2 * calmWindow); got != 2 {
			t.Errorf("held by one more, it has %d", got)
		}
		second()
		if got := m.after(2 * memory); got != 1 {
			t.Errorf("released, it has %d", got)
		}
	})
}

// The governor does not look at an idle process, because a look costs processor time and a machine
// may have hundreds of idle plugins.
func TestAnIdleProcessIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		g := govern(m.system())
		defer g.Close()
		m.after(2 * calmWindow)
		before := m.looks()
		m.after(time.Minute)
		if looks := m.looks() - before; looks > int(time.Minute/calmWindow)+1 {
			t.Errorf("it was looked at %d times in an idle minute", looks)
		}
		m.change(func() { m.wanted = 8 })
		g.Work()
		if got := m.after(8 * crowded); got != 8 {
			t.Errorf("soon after work was announced it has %d processors, want all", got)
		}
		m.change(func() { m.wanted = 0 })
		m.after(2 * calmWindow)
		m.change(func() { m.wanted = 8 })
		if got := m.after(2 * calmWindow); got != 8 {
			t.Errorf("work that was not announced has %d processors, want all", got)
		}
	})
}

func TestANumberThatOtherCodeSetStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		g := govern(m.system())
		m.after(2 * memory)
		m.change(func() { m.set, m.custom = 5, true })
		m.after(2 * calmWindow)
		g.Work()
		g.Hold()()
		g.Close()
		if got := m.after(time.Minute); got != 5 {
			t.Errorf("it has %d, want the 5 that were chosen", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		g := govern(m.system())
		m.after(2 * memory)
		m.change(func() { m.set, m.custom = 3, true }) // since the last look
		g.Hold()()
		g.Close()
		if got := m.after(time.Minute); got != 3 {
			t.Errorf("it has %d, want the 3 that were chosen", got)
		}
	})
}

// The governor lets the runtime follow changed limits of the container, which it does as long as no
// code has set a number.
func TestTheLimitsOfTheContainerMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		m.wanted = 8
		g := govern(m.system())
		m.after(memory)
		m.change(func() { m.limit, m.set = 4, 4 })
		if got := m.after(memory); got != 4 || m.custom {
			t.Errorf("it has %d, want 4", got)
		}
		m.change(func() { m.wanted = 0 })
		if got := m.after(2 * memory); got != 1 {
			t.Errorf("without work it has %d", got)
		}
		m.change(func() { m.limit = 6 })
		g.Close()
		if got := m.after(0); got != 6 || m.custom {
			t.Errorf("in the end it has %d, want 6, as the runtime chooses", got)
		}
	})
}

// The governor works if the limit of the container falls to one processor while the process uses
// all.
func TestOneProcessorIsAllThatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(8)
		m.wanted = 8
		g := govern(m.system())
		defer g.Close()
		m.after(memory)
		m.change(func() { m.limit, m.set = 1, 1 })
		m.after(memory)
		defer g.Hold()()
		before := m.looks()
		if got := m.after(time.Second); got != 1 {
			t.Errorf("held, it has %d processors, want the one that there is", got)
		}
		if looks := m.looks() - before; looks > int(time.Second/memory)+2 {
			t.Errorf("held, it was looked at %d times in a second", looks)
		}
	})
}
