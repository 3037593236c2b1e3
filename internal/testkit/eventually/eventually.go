// Package eventually lets a test wait for a condition that no channel and no message announces,
// such as the end of another process. Tests that can wait for an event do not need it.
package eventually

import (
	"testing"
	"time"
)

const (
	// Patience is how long a condition may take. It is far above what a busy machine needs, because
	// it only bounds tests that fail.
	Patience = 3 * time.Minute
	interval = 5 * time.Millisecond
)

// Holds returns when the condition holds. It fails the test after Patience. What names the
// condition in the failure's message. Only the test's goroutine may call it.
func Holds(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Shows(t, what, func() (bool, any) { return condition(), nil })
}

// Shows is like Holds. The failure's message also has the last state that the condition returned,
// unless it is nil.
func Shows(t testing.TB, what string, condition func() (bool, any)) {
	t.Helper()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	deadline := time.Now().Add(Patience)
	for {
		holds, state := condition()
		if holds {
			return
		}
		if time.Now().After(deadline) {
			if state != nil {
				t.Fatalf("waited %v in vain: %s: %v", Patience, what, state)
			}
			t.Fatalf("waited %v in vain: %s", Patience, what)
		}
		<-tick.C
	}
}
