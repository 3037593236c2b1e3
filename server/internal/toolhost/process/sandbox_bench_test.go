package process_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// BenchmarkLaunch launches an empty plugin of the SDK, with and without a sandbox in turn, so that
// other load of the machine affects both alike. It reports the medians.
func BenchmarkLaunch(b *testing.B) {
	kinds := []struct {
		name      string
		mode      sandbox.Mode
		namespace process.NamespaceMode
	}{
		{"bare", sandbox.ModeOff, process.NamespaceOff},
		{"pid-namespace", sandbox.ModeOff, process.NamespaceAuto},
		{"sandbox", sandbox.ModeOn, process.NamespaceOff},
		{"sandbox-and-pid-namespace", sandbox.ModeOn, process.NamespaceAuto},
	}
	dir, err := os.MkdirTemp("/tmp", "bench") // not b.TempDir, whose name is too long for a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	took := make([][]time.Duration, len(kinds))
	for b.Loop() {
		for i, kind := range kinds {
			began := time.Now()
			p, err := process.Launch(b.Context(), process.Config{
				Plugin: "sdk", Instance: "sdk-1", Path: executable(b), Args: []string{"sdk"}, RunDir: dir,
				PIDNamespace: kind.namespace, Sandbox: sandbox.Config{Mode: kind.mode},
			})
			if err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(began))
			p.Kill()
			<-p.Done()
		}
	}
	for i, kind := range kinds {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, kind.name+"-ms")
		b.ReportMetric(float64(took[i][0].Microseconds())/1000, kind.name+"-min-ms")
	}
	b.ReportMetric(0, "ns/op")
}
