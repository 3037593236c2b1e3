package lifecycle_test

import (
	"math/rand/v2"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// BenchmarkCall measures the cost of a call under the lock of its supervisor. It includes the
// arrival and the end of the call, and the driver's call of Wake after each.
func BenchmarkCall(b *testing.B) {
	m := lifecycle.New("p", "A", lifecycle.Config{}, rand.New(rand.NewPCG(1, 1)), nil)
	m.Acquire(epoch, 1, "")
	m.Ready(epoch, "p-1")
	b.ReportAllocs()
	for ref := lifecycle.CallRef(2); b.Loop(); ref++ {
		if len(m.Acquire(epoch, ref, "")) != 1 {
			b.Fatal("it was not assigned")
		}
		m.Wake()
		m.Release(epoch, ref)
		m.Wake()
	}
}

// BenchmarkColdStart measures a thousand calls that wait for one launch.
func BenchmarkColdStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := lifecycle.New("p", "A", lifecycle.Config{}, rand.New(rand.NewPCG(1, 1)), nil)
		for ref := range lifecycle.CallRef(1000) {
			m.Acquire(epoch, ref, "")
		}
		m.Ready(epoch, "p-1")
	}
}
