package serve

import (
	"cmp"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

// instanceLimits returns what one instance of a plugin may use: the less of what the operator allows and of what the
// plugin asks for. 0 means no limit on either side.
func instanceLimits(allowed config.Limits, p *catalog.Plugin) limits.Config {
	var asked manifest.Limits
	if p.Manifest != nil {
		asked = p.Manifest.Limits
	}
	if asked.MemoryBytes == 0 {
		for _, t := range p.Info.Tools { // of an instance, the largest of its tools counts
			asked.MemoryBytes = max(asked.MemoryBytes, yamldoc.Size(t.MemoryLimitBytes))
		}
	}
	memory := int64(allowed.Memory)
	if memory == yamldoc.Auto {
		memory = generousMemory(limits.MachineMemory())
	}
	c := limits.Config{
		MemoryBytes: uint64(less(memory, int64(asked.MemoryBytes))),
		CPUs:        less(allowed.CPUs, asked.CPUs),
		Processes:   less(allowed.Processes, asked.Processes),
		OpenFiles:   less(allowed.OpenFiles, asked.OpenFiles),
		FileBytes:   uint64(less(int64(allowed.FileSize), int64(asked.FileSizeBytes))),
	}
	if allowed.Enforcement == "required" {
		c.Enforcement = limits.Required
	}
	return c
}

// generousMemory returns the limit for an instance where the operator says nothing: no plugin alone can take all memory. 0, for
// none, if the machine's memory is not known.
func generousMemory(machine uint64) int64 {
	const least, share, round = 512 << 20, 2, 1 << 20
	if machine == 0 {
		return 0
	}
	return int64(max(least, machine/share/round*round))
}

// less returns the lesser of two limits, of which 0 is none.
func less[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
