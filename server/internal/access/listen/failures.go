package listen

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// failureWindow is the time in which failures count.
	failureWindow = time.Minute
	// maxFailing bounds the table of failures. Attackers with more addresses make the table forget
	// some of them early, and cannot make it grow.
	maxFailing = 8192
)

// Failures counts failed attempts to authenticate by their origin, in windows of one minute. All
// methods are safe for concurrent use.
type Failures struct {
	most int

	mu     sync.Mutex
	until  time.Time // the end of the window
	counts map[string]int
}

func newFailures(most int) *Failures { return &Failures{most: most, counts: map[string]int{}} }

// Blocked returns how long an origin has to wait because of its failures, or 0.
func (f *Failures) Blocked(origin string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.windowLocked()
	if f.most == 0 || f.counts[origin] < f.most {
		return 0
	}
	return time.Until(f.until)
}

// Add counts a failure. It reports whether the origin is blocked from now on: only the last failure
// that is allowed returns true.
func (f *Failures) Add(origin string) (blocked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.windowLocked()
	if _, known := f.counts[origin]; !known && len(f.counts) >= maxFailing {
		for other := range f.counts {
			delete(f.counts, other)
			break
		}
	}
	f.counts[origin]++
	return f.counts[origin] == f.most
}

func (f *Failures) windowLocked() {
	if now := time.Now(); now.After(f.until) {
		f.until = now.Add(failureWindow)
		clear(f.counts)
	}
}

// OriginOf returns the origin of a peer's IP address: the address, or the network of an IPv6
// address, since one client has 2^64 addresses there.
func OriginOf(ip string) string {
	at, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if at = at.Unmap(); at.Is4() {
		return at.String()
	}
	network, _ := at.WithZone("").Prefix(64) // cannot fail for an IPv6 address
	return network.String()
}
