package process_test

import (
	"runtime"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// toolhost's memory for an idle instance must not grow unnoticed: 200 of them take little.
func TestInstanceCostsToolhostLittle(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.ModeOff, sandbox.ModeOn} {
		t.Run("sandbox "+string(mode), func(t *testing.T) { testCost(t, mode) })
	}
}

func testCost(t *testing.T, mode sandbox.Mode) {
	const instances, most = 10, 512 << 10
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	cfg, _ := setup(t)
	cfg.Logger, cfg.Sandbox.Mode = nil, mode
	launch(t, cfg) // makes everything that is made once
	before := used()
	var all []*process.Process
	for range instances {
		all = append(all, launch(t, cfg))
	}
	for _, p := range all {
		do(t, p, arguments{"do": "echo", "text": "hello"})
	}
	each := (max(used(), before) - before) / instances
	t.Logf("an instance costs toolhost %d KiB", each>>10)
	if each > most {
		t.Errorf("an instance costs toolhost %d KiB, at most %d are expected", each>>10, most>>10)
	}
}
