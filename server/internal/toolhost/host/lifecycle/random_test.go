package lifecycle_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

var (
	seed    = flag.Uint64("seed", 0, "the first random story to tell; 0: any")
	stories = flag.Uint64("stories", 250, "how many random stories to tell for each isolation")
)

// steps is the length of a random story.
const steps = 200

func TestRandomStories(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	for _, isolation := range []lifecycle.Isolation{lifecycle.Shared, lifecycle.PerSession, lifecycle.PerCall} {
		t.Run(string(isolation), func(t *testing.T) {
			t.Parallel()
			for i := range *stories {
				random := rand.New(rand.NewPCG(first+i, 0))
				w := newWorld(anyConfig(random.IntN, isolation), first+i)
				for step := 0; step < steps && w.fault == nil; step++ {
					w.anything(random.IntN)
				}
				w.endsWell()
				w.report(t, fmt.Sprintf("run it again with -seed %d", first+i))
			}
		})
	}
}

func FuzzStory(f *testing.F) {
	f.Add([]byte("a plugin is launched, takes calls, crashes, and is replaced while it drains"))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 3, 1, 9, 200, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Fuzz(func(t *testing.T, story []byte) {
		choose := func(n int) int {
			if len(story) == 0 {
				return 0
			}
			b := story[0]
			story = story[1:]
			return int(b) % n
		}
		isolation := []lifecycle.Isolation{lifecycle.Shared, lifecycle.PerSession, lifecycle.PerCall}[choose(3)]
		w := newWorld(anyConfig(choose, isolation), 1)
		for step := 0; len(story) > 0 && step < 500 && w.fault == nil; step++ {
			w.anything(choose)
		}
		w.endsWell()
		w.report(t, "")
	})
}

func (w *world) report(t *testing.T, hint string) {
	t.Helper()
	if w.fault != nil {
		last := w.story[max(0, len(w.story)-60):]
		t.Fatalf("%v\n%s\n%+v\n%s", w.fault, hint, w.cfg, strings.Join(last, "\n"))
	}
}

// anyConfig returns a random configuration. choose picks the values. No timeout is longer than ten
// minutes.
func anyConfig(choose func(n int) int, isolation lifecycle.Isolation) lifecycle.Config {
	seconds := func(s ...int) time.Duration { return time.Duration(s[choose(len(s))]) * time.Second }
	cfg := lifecycle.Config{
		Isolation:           isolation,
		MinInstances:        choose(3),
		MaxInstances:        choose(4),
		Prewarmed:           choose(4) - 1,
		MaxCallsPerInstance: choose(3),
		RefillAfter:         time.Duration(choose(4)-1) * 40 * time.Millisecond,
		MaxQueue:            1 + choose(6),
		IdleTimeout:         seconds(3, 60, 300, -1),
		RecycleAfterCalls:   uint64(choose(3) * choose(3)),
		RecycleAfterAge:     seconds(0, 0, 5, 100),
		DrainTimeout:        seconds(1, 30),
		MaxCrashes:          1 + choose(5),
		CrashWindow:         seconds(10, 600),
		ProbeAfter:          seconds(5, 300, -1),
		StableAfter:         seconds(2, 10),
	}
	if isolation != lifecycle.Shared {
		cfg.MinInstances = 0 // has no meaning with this isolation
	}
	return cfg
}

// anything passes one random event.
func (w *world) anything(choose func(n int) int) {
	w.now = w.now.Add(time.Duration(choose(50)) * time.Millisecond)
	switch n := choose(64); {
	case n < 16:
		w.acquire(string(rune('a' + choose(4))))
	case n < 26:
		if c := oneOf(w.callsThat(assigned), choose); c != nil {
			w.release(c)
		}
	case n < 36:
		if p := oneOf(w.procsThat(func(p *proc) bool { return !p.ready && !p.exited }), choose); p != nil {
			w.ready(p)
		}
	case n < 48:
		w.somethingEnds(choose)
	case n < 57:
		w.timePasses(choose)
	default:
		w.operatorActs(choose)
	}
}

func (w *world) somethingEnds(choose func(n int) int) {
	living := oneOf(w.procsThat(func(p *proc) bool { return !p.exited }), choose)
	switch n := choose(9); {
	case n == 8:
		w.placesChange(living, choose)
	case n == 0:
		for _, state := range []callState{waiting, assigned} {
			if c := oneOf(w.callsThat(state), choose); c != nil {
				w.leave(c)
			}
		}
	case n < 5:
		if p := oneOf(w.procsThat(func(p *proc) bool { return p.stopped && !p.exited }), choose); p != nil {
			w.exits(p)
		}
	case living == nil:
	case n == 5 && !living.ready:
		w.launchFails(living)
	case n == 6 && choose(2) == 0:
		if c := oneOf(w.callsThat(assigned), choose); c != nil {
			w.stuck(c)
		}
	case n == 6:
		w.unyielding(living)
	case n == 7 && choose(2) == 0:
		w.crashes(living)
	default:
		w.exits(living)
	}
}

// placesChange reports that a bound refuses a process, or that an instance must go because of one.
func (w *world) placesChange(living *proc, choose func(n int) int) {
	switch n := choose(3); {
	case n == 0:
		w.yield()
	case living == nil:
	case n == 1:
		w.evict(living)
	case !living.ready && living.id != w.machine.Replacing():
		w.refused(living)
	}
}

func (w *world) timePasses(choose func(n int) int) {
	switch wake := w.machine.Wake(); {
	case choose(3) > 0 && !wake.IsZero():
		w.tick(max(wake.Sub(w.now), 0))
	case choose(2) > 0:
		w.tick(time.Duration(choose(2000)) * time.Millisecond)
	default:
		w.sleep(time.Duration(choose(400)) * time.Second)
	}
}

func (w *world) operatorActs(choose func(n int) int) {
	switch choose(16) {
	case 0:
		w.pause()
	case 1, 2:
		w.resume()
	case 3:
		w.drain()
	case 4:
		w.disable("its file is gone")
	case 5, 6:
		w.disable("")
	case 7:
		w.clear()
	case 8:
		w.restart(choose(2) == 0)
	case 9, 10:
		_ = w.replace(string(rune('A' + choose(3)))) // fails while another replacement runs
	case 11:
		w.adopt(string(rune('A' + choose(3))))
	case 12, 13:
		isolation := w.cfg.Isolation
		if choose(4) == 0 {
			isolation = []lifecycle.Isolation{lifecycle.Shared, lifecycle.PerSession, lifecycle.PerCall}[choose(3)]
		}
		w.reconfigure(anyConfig(choose, isolation), choose(2) == 0)
	case 14:
		w.retire()
	case 15:
		if choose(40) == 0 {
			w.close()
		}
	}
}

func oneOf[T any](all []*T, choose func(n int) int) *T {
	if len(all) == 0 {
		return nil
	}
	return all[choose(len(all))]
}

// patience is the number of wake-ups after which the test assumes that the machine has forgotten a
// waiting call.
const patience = 1000

// endsWell lets everything settle, and checks that all calls are answered, the plugin serves calls
// again, and nothing is left.
func (w *world) endsWell() {
	w.disable("")
	w.resume()
	for range patience {
		w.settles()
		if w.fault != nil || len(w.callsThat(waiting)) == 0 {
			break
		}
		w.awaitWake("calls wait")
	}
	w.comesBack()
	w.close()
	w.settles()
	if n := len(w.machine.Instances()); n > 0 {
		w.failf("%d instances are left after the end", n)
	}
}

// comesBack checks that a quarantine ends and a call is served.
func (w *world) comesBack() {
	if w.closed {
		return
	}
	if w.cfg.ProbeAfter < 0 {
		w.clear()
	}
	for range patience {
		if state := w.machine.Report(w.now).State; state != tool.PluginQuarantined || w.fault != nil {
			break
		}
		w.awaitWake("the plugin is quarantined")
		w.settles()
	}
	w.sleep(time.Second) // a refused launch holds this long
	w.settles()
	c := w.acquire("a")
	for range patience {
		w.settles()
		if c.state != waiting || w.fault != nil {
			break
		}
		w.awaitWake("a call waits")
	}
	if c.state != released {
		w.failf("in the end a call is %s: %v", c.state, c.rejected)
	}
}

// settles starts, ends and releases everything that the machine waits for.
func (w *world) settles() {
	for again := true; again && w.fault == nil; {
		w.obey()
		under := w.callsThat(assigned)
		for _, c := range under {
			w.release(c)
		}
		again = len(under) > 0
	}
}

// awaitWake sleeps until the machine wants to wake for something that only the machine can change.
func (w *world) awaitWake(why string) {
	wake := w.machine.Wake()
	if wake.IsZero() {
		w.failf("%s, nothing is under way, and the machine sleeps for ever", why)
		return
	}
	w.tick(max(wake.Sub(w.now), 0))
}
