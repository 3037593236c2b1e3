package process

import "golang.org/x/sys/unix"

// Alive reports whether the process runs now. It asks the kernel: after a kill, a process is dead
// before its connection breaks. It costs one system call and does not block.
func (p *Process) Alive() bool {
	p.child.mu.Lock()
	defer p.child.mu.Unlock()
	if p.child.reaped {
		return false
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.child.id.PID, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo == 0
}
