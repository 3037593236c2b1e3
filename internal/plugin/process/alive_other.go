//go:build unix && !linux

package process

// Alive reports whether the process is not known to have ended. It does not block.
func (p *Process) Alive() bool { return !p.child.hasExited() }
