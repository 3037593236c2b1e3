package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/process/pidns"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// confinement starts a process in the PID namespace and the sandbox that its Config requests. A
// namespace or a layer of the sandbox may be impossible on this machine, and only an attempt shows
// that. So confinement attempts all of them, and then starts the process again without what failed,
// unless the Config requires it.
type confinement struct {
	cfg    *Config
	folder string        // the process's own
	names  *watchedNames // the names that the sandbox protects

	// The last attempt.
	noNamespace string            // why there is no PID namespace
	needless    bool              // a PID namespace was not requested or not needed
	without     map[string]string // the layers that could not be made, with the reasons
	sandbox     tool.Sandbox
}

// start starts the process that s describes, with its socket in dir. It decides on the namespaces
// and the sandbox of s.
func (c *confinement) start(ctx context.Context, s spec, dir string) (*child, error) {
	s.grouped = c.cfg.PIDNamespace == NamespaceInstead
	s.namespace = !s.grouped && c.cfg.PIDNamespace != NamespaceOff
	c.without = map[string]string{}
	alone := false // no other namespace is made with the PID namespace
	for try := 0; ; {
		c.needless = !s.namespace && c.noNamespace == ""
		s.beside = 0
		if s.namespace && !alone {
			s.beside = c.beside()
		}
		child, err := c.startBehind(ctx, s, dir)
		_, notBeside := errors.AsType[*besideError](err)
		namespace, noNamespace := errors.AsType[*namespaceError](err)
		layer, noLayer := errors.AsType[*sandbox.LayerError](err)
		_, changed := errors.AsType[*sandbox.ChangedError](err)
		switch {
		case changed && try < mostPlans:
			try++
		case errors.Is(err, errNotGrouped):
			s.grouped, s.namespace = false, true
		case notBeside:
			alone = true
		case noNamespace && c.cfg.PIDNamespace != NamespaceRequired:
			c.noNamespace, s.namespace = namespace.Error(), false
		case noLayer && c.without[layer.Layer] == "":
			c.without[layer.Layer] = layer.Err.Error()
		default:
			return child, err
		}
	}
}

// beside returns the namespaces, besides the PID namespace, that the process's sandbox needs. They
// are made together with the PID namespace, so that the process need not make them one after the
// other while a caller waits.
func (c *confinement) beside() (flags uintptr) {
	if !c.cfg.sandboxed() {
		return 0
	}
	for _, layer := range c.cfg.Sandbox.Separate(c.without) {
		switch layer {
		case sandbox.Network:
			flags |= pidns.Network
		case sandbox.IPC:
			flags |= pidns.IPC
		}
	}
	return flags
}

// startBehind starts a process in the sandbox of the Config, or without one if the Config has none.
// dir is the folder of the plugin's socket.
func (c *confinement) startBehind(ctx context.Context, s spec, dir string) (*child, error) {
	if !c.cfg.sandboxed() {
		c.sandbox = tool.Sandbox{Mode: string(sandbox.ModeOff)}
		return startChild(ctx, s)
	}
	stage := filepath.Join(c.folder, "root")
	if err := os.Mkdir(stage, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("making its root: %w", err)
	}
	cfg := c.cfg.Sandbox
	cfg.Hidden = append(slices.Clone(cfg.Hidden), c.cfg.RunDir)
	var plan *sandbox.Plan
	workDir := s.attr.Dir
	s.attr.Dir = "" // the sandbox enters the folder
	s.plan = func() (_ *sandbox.Plan, err error) {
		plan, err = c.names.plan(cfg, sandbox.Situation{
			Program: c.cfg.Path, Folder: c.cfg.Dir, Dir: workDir, Own: []string{tmpIn(c.folder), dir}, Stage: stage,
			PIDNamespace: s.namespace, NoPIDNamespace: cmp.Or(c.noNamespace, "none is needed"), Beside: s.beside != 0,
			Without: maps.Clone(c.without),
		})
		return plan, err
	}
	child, err := startChild(ctx, s)
	if plan != nil {
		c.sandbox = plan.Sandbox()
		c.names.note(c.sandbox.Layers)
		plan.Close()
	}
	if err == nil {
		cfg.Machine.Note(c.sandbox)
	}
	return child, err
}

// namespaceLimit describes the PID namespace as a limit of the process.
func (c *confinement) namespaceLimit(made bool) tool.EffectiveLimit {
	limit := tool.EffectiveLimit{
		Name: "pid_namespace", Value: string(c.cfg.PIDNamespace), Mechanism: "namespace", Note: c.noNamespace,
	}
	if !made {
		limit.Mechanism = limits.None
	}
	return limit
}

// Namespaces reports whether this machine can make PID namespaces, by making one. It takes a
// millisecond.
func Namespaces() bool {
	made := make(chan bool)
	pidns.Go(func() (reusable bool) {
		namespace, err := pidns.New([]string{}, 0)
		if err != nil {
			made <- false
			return true
		}
		path, err := os.Executable()
		if err == nil {
			err = namespace.Enter(path)
		}
		namespace.Close()
		made <- err == nil
		return false
	})
	return <-made
}
