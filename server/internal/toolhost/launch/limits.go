package launch

import (
	"cmp"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

// Limits returns the limits of one instance of a plugin: the smaller of the operator's
// limit and the plugin's request. 0 means no limit in both.
func Limits(allowed config.Limits, p *catalog.Plugin) limits.Config {
	var asked manifest.Limits
	if p.Manifest != nil {
		asked = p.Manifest.Limits
	}
	if asked.MemoryBytes == 0 {
		for _, t := range p.Info.Tools { // the largest request of its tools counts
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

// generousMemory returns the memory limit of an instance without a limit of the operator. With it,
// one plugin alone cannot take all memory. It returns 0, which means no limit, if the machine's
// memory is not known.
func generousMemory(machine uint64) int64 {
	const least, share, round = 512 << 20, 2, 1 << 20
	if machine == 0 {
		return 0
	}
	return int64(max(least, machine/share/round*round))
}

// less returns the smaller of two limits. 0 means no limit.
func less[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
