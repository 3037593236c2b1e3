package pace

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPause(t *testing.T) {
	p := Pause{Times: 20, Longest: 100 * time.Millisecond}
	for queued, want := range map[time.Duration]time.Duration{
		0: 0, shortQueue: 0, 2 * time.Millisecond: 40 * time.Millisecond, 3 * time.Second: p.Longest,
	} {
		if got := p.after(queued); got != want {
			t.Errorf("after %v in the queue, a reader pauses %v, want %v", queued, got, want)
		}
	}
}

// Two tenants call at the same time for a while after a call of the second one.
func TestSeveralTenantsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tenants Tenants
		several := func() bool { return time.Now().UnixNano() < tenants.until.Load() }
		for range 3 {
			tenants.Called("red")
		}
		if several() {
			t.Error("one tenant is several")
		}
		tenants.Called("blue")
		if !several() {
			t.Error("a call of a second tenant does not count")
		}
		time.Sleep(together)
		tenants.Called("blue")
		if several() {
			t.Error("a tenant that has stopped to call still counts")
		}
	})
}

// The tenant with the most data gives way, and not a tenant with less than an equal share. What a
// tenant carried long ago does not count.
func TestShareOfTenants(t *testing.T) {
	var tenants Tenants
	now := time.Now()
	for range 9 {
		if !tenants.count("red", now) {
			t.Error("a tenant that carries everything has less than an equal share")
		}
	}
	if tenants.count("blue", now) {
		t.Error("a tenant with a tenth of the data has an equal share")
	}
	if !tenants.count("red", now) {
		t.Error("a tenant with nine tenths of the data has less than an equal share")
	}
	if !tenants.count("blue", now.Add(period)) {
		t.Error("in a new period, what the tenants carried before counts")
	}
}

func BenchmarkCalled(b *testing.B) {
	var tenants Tenants
	for b.Loop() {
		tenants.Called("default")
	}
}
