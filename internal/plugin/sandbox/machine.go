package sandbox

import (
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// Machine remembers which layers processes of one toolhost have had. What was there once is not missing for a harmless reason
// later: somebody may have used up what it is made of, so that the next process starts with a layer less. The zero value
// remembers none. Its methods may be called from any goroutine, and on nil.
type Machine struct {
	mu  sync.Mutex
	had map[string]bool
}

// Note remembers the layers of a process that was started.
func (m *Machine) Note(s tool.Sandbox) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.had == nil {
		m.had = map[string]bool{}
	}
	for _, layer := range s.Layers {
		m.had[layer.Name] = m.had[layer.Name] || layer.Effective
	}
}

// has reports whether a process has had a layer.
func (m *Machine) has(name string) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.had[name]
}

// Missing returns the layers that no process has had, although one was started that was to have them.
func (m *Machine) Missing() []string {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []string
	for _, name := range []string{Files, Landlock, Network, PID, IPC, Privileges, Syscalls} {
		if had, noted := m.had[name]; noted && !had {
			missing = append(missing, name)
		}
	}
	return missing
}
