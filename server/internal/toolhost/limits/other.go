//go:build unix && !linux

package limits

import (
	"context"
	"errors"
)

const (
	canWatch   = false
	supervisor = "supervisor"
)

func findMounts() ([]mount, error)                                 { return nil, nil }
func delegate(home string, _ map[string]string) (string, []string) { return home, nil }
func enable(string, []string, map[string]string) []string          { return nil }
func removeTree(string) error                                      { return nil }
func killGroup(string) error                                       { return nil }
func counter(string, string, string) (uint64, error)               { return 0, errors.ErrUnsupported }
func (h *Holder) setGroup(group, string) error                     { return nil }
func (h *Holder) setRlimits(int)                                   {}
func (h *Holder) Start(start func(cgroup int) error) (bool, error) { return false, start(-1) }
func rlimitFor(string) (mechanism, note string) {
	return None, "only Linux lets limits be set on another process"
}

type usage struct {
	memory uint64
	tasks  int
}

func (h *Holder) watch(context.Context, []int, func(string), func(usage, bool) string, bool, <-chan struct{}) {
}

// MachineMemory returns 0: the size is unknown.
func MachineMemory() uint64 { return 0 }
