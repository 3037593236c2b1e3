package chaos_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// tally counts calls and accidents. report uses the counts to fail a test in which nothing
// happened. It is safe for concurrent use.
type tally struct {
	calm atomic.Int64 // number of calls of calm plugins

	mu       *sync.Mutex
	outcomes map[string]int // calls of wild plugins by kind of outcome
	faults   map[string]int // accidents by name

	latest     time.Duration // the largest delay after a deadline
	latestCall string
	slowest    time.Duration // duration of the slowest call of a calm plugin
}

func newTally() tally {
	return tally{mu: &sync.Mutex{}, outcomes: map[string]int{}, faults: map[string]int{}}
}

// wild counts the outcome of a call of a wild plugin.
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

func (y *tally) fault(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.faults[name]++
}

// took records the duration of a call of a calm plugin.
func (y *tally) took(time time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.slowest = max(y.slowest, time)
}

// late records the largest delay after a deadline and its call.
func (y *tally) late(call tool.Call, by time.Duration) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if by > y.latest {
		y.latest, y.latestCall = by, fmt.Sprintf("%s with %s", call.Tool, call.Arguments)
	}
}

// complete reports whether a call of a calm plugin, a successful call of a wild plugin and an
// accident happened.
func (y *tally) complete() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.calm.Load() > 0 && y.outcomes["result"] > 0 && len(y.faults) > 0
}

// report logs the counts. It fails the test if a call ended too late.
func (y *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("calls of calm plugins: %d; outcomes of wild ones: %v; accidents: %v", y.calm.Load(), y.outcomes, y.faults)
	t.Logf("the latest outcome came %v after its deadline, of %s; calls of calm plugins took at most %v", y.latest, y.latestCall, y.slowest)
	if y.latest > slack+y.slowest {
		t.Errorf("the outcome of %s came %v after its deadline, want at most %v, and what the machine adds", y.latestCall, y.latest, slack)
	}
}
