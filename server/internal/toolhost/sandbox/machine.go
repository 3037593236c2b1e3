package sandbox

import (
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// Machine records which layers the processes of one toolhost have had. If a layer is missing later,
// the reason may be hostile: a process may have used up a resource that the layer needs, so that
// the next process would start without the layer. The zero value has no records. All methods are
// safe for concurrent use, and do nothing on nil.
type Machine struct {
	mu  sync.Mutex
	had map[string]bool
}

// Note records the layers of a started process.
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

// Missing returns the layers that no process has had, although at least one started process should
// have had them.
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
