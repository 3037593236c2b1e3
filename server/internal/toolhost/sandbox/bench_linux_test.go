//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// BenchmarkPlan plans the sandbox of one process.
func BenchmarkPlan(b *testing.B) {
	w := newWorld(b)
	for b.Loop() {
		plan, err := sandbox.New(w.cfg, w.situation)
		if err != nil {
			b.Fatal(err)
		}
		plan.Close()
	}
}

// BenchmarkStart starts an empty program and waits for its end: with all layers, without one of
// them, and without any, in turn. It reports the median and the minimum of each, in microseconds.
func BenchmarkStart(b *testing.B) {
	names := []string{"any", "nothing", "network", "ipc", "files", "landlock", "syscalls"}
	plans := make([]*sandbox.Plan, len(names))
	for i, name := range names[1:] {
		w := newWorld(b)
		w.situation.Program = "/bin/true"
		w.situation.Without[name] = "the benchmark does without"
		plan, err := sandbox.New(w.cfg, w.situation)
		if err != nil {
			b.Fatal(err)
		}
		defer plan.Close()
		plans[i+1] = plan
	}
	took := make([][]time.Duration, len(names))
	for b.Loop() {
		for i, plan := range plans {
			began := time.Now()
			if plan == nil {
				if err := exec.Command("/bin/true").Run(); err != nil {
					b.Fatal(err)
				}
			} else if _, err := run(b, plan, []string{"true"}); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i, name := range names {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds()), "without-"+name+"-us")
		b.ReportMetric(float64(took[i][0].Microseconds()), "without-"+name+"-least-us")
	}
	b.ReportMetric(0, "ns/op")
}
