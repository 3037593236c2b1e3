package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

func TestInstanceLimits(t *testing.T) {
	allowed := config.Limits{Memory: 100 << 20, CPUs: 2, Processes: 50, Enforcement: "required"}
	tools := tool.Description{Tools: []tool.Spec{{MemoryLimitBytes: 30 << 20}, {MemoryLimitBytes: 60 << 20}}}
	for name, tc := range map[string]struct {
		allowed config.Limits
		plugin  catalog.Plugin
		want    limits.Config
	}{
		"nobody says":           {config.Limits{}, catalog.Plugin{}, limits.Config{}},
		"the operator":          {allowed, catalog.Plugin{}, limits.Config{MemoryBytes: 100 << 20, CPUs: 2, Processes: 50, Enforcement: limits.Required}},
		"the machine":           {config.Limits{Memory: yamldoc.Auto}, catalog.Plugin{}, limits.Config{MemoryBytes: uint64(generousMemory(limits.MachineMemory()))}},
		"less than the machine": {config.Limits{Memory: yamldoc.Auto}, catalog.Plugin{Info: tools}, limits.Config{MemoryBytes: 60 << 20}},
		"the largest tool":      {config.Limits{}, catalog.Plugin{Info: tools}, limits.Config{MemoryBytes: 60 << 20}},
		"a tool wants less":     {allowed, catalog.Plugin{Info: tools}, limits.Config{MemoryBytes: 60 << 20, CPUs: 2, Processes: 50, Enforcement: limits.Required}},
		"the manifest's is it":  {allowed, catalog.Plugin{Info: tools, Manifest: &manifest.Manifest{Limits: manifest.Limits{MemoryBytes: 20 << 20, CPUs: 3, OpenFiles: 64, FileSizeBytes: 9}}}, limits.Config{MemoryBytes: 20 << 20, CPUs: 2, Processes: 50, OpenFiles: 64, FileBytes: 9, Enforcement: limits.Required}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Limits(tc.allowed, &tc.plugin)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGenerousMemory(t *testing.T) {
	for machine, want := range map[uint64]int64{0: 0, 256 << 20: 512 << 20, 8<<30 + 12345: 4 << 30, 3 << 30: 3 << 29} {
		if got := generousMemory(machine); got != want {
			t.Errorf("of %d bytes it is %d, want %d", machine, got, want)
		}
	}
	if limits.MachineMemory() == 0 {
		t.Error("the machine's memory is not known")
	}
}
