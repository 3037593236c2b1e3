package chaos_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// tally counts what happened, so that one can see that it was chaos.
type tally struct {
	calm atomic.Int64 // calls of calm plugins

	mu       *sync.Mutex
	outcomes map[string]int // of calls of wild plugins, by kind of failure
	faults   map[string]int // by name

	latest     time.Duration // the worst delay
	latestCall string
	slowest    time.Duration // of the calls of calm plugins
}

func newTally() tally {
	return tally{mu: &sync.Mutex{}, outcomes: map[string]int{}, faults: map[string]int{}}
}

// wild counts how a call of a wild plugin ended.
func (y *tally) wild(outcome tool.Outcome) {
	how := "result"
	if outcome.Err != nil {
		how = string(outcome.Err.Kind)
	} else if outcome.Result.IsError {
		how = "tool error"
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.outcomes[how]++
}

// fault counts an accident.
func (y *tally) fault(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.faults[name]++
}

// took counts a call of a calm plugin that took so long.
func (y *tally) took(time time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.slowest = max(y.slowest, time)
}

// late keeps the worst delay behind a deadline, and whose it was.
func (y *tally) late(call tool.Call, by time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if by > y.latest {
		y.latest, y.latestCall = by, fmt.Sprintf("%s with %s", call.Tool, call.Arguments)
	}
}

// report fails the test if something of the chaos did not happen at all, or a call ended too late.
func (y *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("calls of calm plugins: %d; outcomes of wild ones: %v; accidents: %v", y.calm.Load(), y.outcomes, y.faults)
	t.Logf("the latest outcome came %v after its deadline, of %s; calls of calm plugins took at most %v", y.latest, y.latestCall, y.slowest)
	if y.latest > slack+y.slowest {
		t.Errorf("the outcome of %s came %v after its deadline, want at most %v, and what the machine adds", y.latestCall, y.latest, slack)
	}
	if y.calm.Load() == 0 || y.outcomes["result"] == 0 || len(y.faults) == 0 {
		t.Error("something of the chaos did not happen at all")
	}
}
