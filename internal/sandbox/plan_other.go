//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"os"

	"github.com/toolhost/toolhost/tool"
)

// Plan is the sandbox of one process: here there are no walls.
type Plan struct {
	shown tool.Sandbox
	path  string
}

const notHere = "toolhost puts up walls on Linux, on amd64 and arm64, alone"

// New makes a plan without walls. The error is a *RefusedError if they are required.
func New(cfg Config, s Situation) (*Plan, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &Plan{path: s.Program, shown: tool.Sandbox{
		Mode: string(cfg.Mode), Network: cfg.Network, Workspace: cfg.WorkspaceAccess, Read: cfg.Read, Write: cfg.Write,
	}}
	for _, name := range []string{Files, Landlock, Network, PID, IPC, Privileges, Syscalls} {
		wall := tool.Wall{Name: name, Note: notHere}
		if cfg.Mode == ModeRequired {
			return nil, &RefusedError{wall}
		}
		p.shown.Walls = append(p.shown.Walls, wall)
	}
	return p, nil
}

// Close does nothing.
func (p *Plan) Close() {}

// Sandbox returns what the process was granted, and that there are no walls.
func (p *Plan) Sandbox() tool.Sandbox { return p.shown }

// Start starts the process without walls.
func (p *Plan) Start(_ context.Context, argv []string, attr *os.ProcAttr, started func(pid int)) (*os.Process, error) {
	process, err := os.StartProcess(p.path, argv, attr)
	if err == nil {
		started(process.Pid)
	}
	return process, err
}
