package main

import (
	"cmp"

	"github.com/toolhost/toolhost/internal/catalog"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/limits"
	"github.com/toolhost/toolhost/internal/manifest"
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
			asked.MemoryBytes = max(asked.MemoryBytes, int64(t.MemoryLimitBytes))
		}
	}
	c := limits.Config{
		MemoryBytes: uint64(less(int64(allowed.Memory), asked.MemoryBytes)),
		CPUs:        less(allowed.CPUs, asked.CPUs),
		Processes:   less(allowed.Processes, asked.Processes),
		OpenFiles:   less(allowed.OpenFiles, asked.OpenFiles),
		FileBytes:   uint64(less(int64(allowed.FileSize), asked.FileSizeBytes)),
	}
	if allowed.Enforcement == "required" {
		c.Enforcement = limits.Required
	}
	return c
}

// less returns the lesser of two limits, of which 0 is none.
func less[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b != none && b < a {
		return b
	}
	return a
}
