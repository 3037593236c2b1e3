//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"os"

	"github.com/toolhost/toolhost/tool"
)

// Plan is the sandbox of one process. It has no layers on this system.
type Plan struct {
	shown tool.Sandbox
	path  string
}

const notHere = "toolhost puts up layers on Linux, on amd64 and arm64, alone"

// New makes a plan without layers. The error is a *RefusedError if layers are required.
func New(cfg Config, s Situation) (*Plan, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &Plan{path: s.Program, shown: tool.Sandbox{
		Mode: string(cfg.Mode), Network: cfg.Network, Workspace: cfg.access(), WorkspaceBackend: cfg.backend(), Read: cfg.Read, Write: cfg.Write,
	}}
	if cfg.Mode == ModeAuto {
		p.shown.Mode = string(ModeOn)
	}
	for _, name := range []string{Files, Landlock, Network, PID, IPC, Privileges, Syscalls} {
		layer := tool.SandboxLayer{Name: name, Note: notHere}
		if cfg.Mode == ModeRequired {
			return nil, &RefusedError{Layer: layer}
		}
		p.shown.Layers = append(p.shown.Layers, layer)
	}
	if err := cfg.lacks(p.shown.Layers); err != nil {
		return nil, err
	}
	return p, nil
}

// Names returns nil: nothing is protected here.
func (p *Plan) Names() []string { return nil }

// SameNames returns true.
func (p *Plan) SameNames() bool { return true }

// Close does nothing.
func (p *Plan) Close() {}

// Sandbox returns the grants of the process, and that it has no layers.
func (p *Plan) Sandbox() tool.Sandbox { return p.shown }

// Entered is a process without a sandbox.
type Entered struct{ process *os.Process }

// Enter starts the process. Its program runs at once.
func (p *Plan) Enter(argv []string, attr *os.ProcAttr) (*Entered, error) {
	process, err := os.StartProcess(p.path, argv, attr)
	return &Entered{process}, err
}

// PID returns the process id.
func (e *Entered) PID() int { return e.process.Pid }

// Execute returns the process.
func (e *Entered) Execute(context.Context) (*os.Process, error) { return e.process, nil }

// Abandon kills the process and waits for its end.
func (e *Entered) Abandon() {
	_ = e.process.Kill()
	_, _ = e.process.Wait()
}

// ChangedError says that a file or folder changed while the process entered its sandbox. It does
// not occur on this system.
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return e.Err.Error() }
func (e *ChangedError) Unwrap() error { return e.Err }
