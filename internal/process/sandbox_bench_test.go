package process_test

import (
	"os"
	"testing"

	"github.com/toolhost/toolhost/internal/process"
	"github.com/toolhost/toolhost/internal/sandbox"
)

// BenchmarkLaunch launches a plugin and kills it, with and without walls.
func BenchmarkLaunch(b *testing.B) {
	for _, c := range []struct {
		name      string
		mode      sandbox.Mode
		namespace process.NamespaceMode
	}{
		{"bare", sandbox.ModeOff, process.NamespaceOff},
		{"pid namespace", sandbox.ModeOff, process.NamespaceAuto},
		{"sandbox", sandbox.ModeOn, process.NamespaceOff},
		{"sandbox and pid namespace", sandbox.ModeOn, process.NamespaceAuto},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := process.Config{
				Plugin: "sdk", Instance: "sdk-1", Path: executable(b), Args: []string{"sdk"}, RunDir: benchFolder(b),
				PIDNamespace: c.namespace, Sandbox: sandbox.Config{Mode: c.mode},
			}
			for b.Loop() {
				p, err := process.Launch(b.Context(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				p.Kill()
				<-p.Done()
				b.StartTimer()
			}
		})
	}
}

// benchFolder returns a folder with a short path, because that of a socket has to be.
func benchFolder(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})
	return dir
}
