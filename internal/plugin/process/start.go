package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/process/pidns"
	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// start starts the process, with its socket in dir, and the goroutines that read its output.
func (p *Process) start(ctx context.Context, protocol []string, dir string) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	stdout, stdoutW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdoutW.Close()
	stderr, stderrW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdout.Close())
	}
	defer stderrW.Close()
	p.oomKills = oomKills()
	child, err := p.startChild(ctx, os.ProcAttr{
		Dir:   p.dir(),
		Env:   environ(protocol, p.cfg.Env, p.tmp(), p.mark),
		Files: []*os.File{null, stdoutW, stderrW},
	}, dir)
	if err != nil {
		return errors.Join(p.startError(err), stdout.Close(), stderr.Close())
	}
	p.out.with("instance", p.cfg.Instance, "pid", child.id.PID)
	p.child, p.pipes = child, []*os.File{stdout, stderr}
	p.pumps.Go(func() { p.pumpStdout(stdout) }) // both end with the pipe, or at the deadline that release sets
	p.pumps.Go(func() { p.pumpStderr(stderr) })
	preferAsVictim(child.id.PID)
	err = p.holder.Started(child.id.PID)
	p.watchLimits()
	p.boost.begin(child.id.PID)
	p.watchers.Go(p.endBoostLater) // ends with the launch
	p.cfg.Report(tool.InstanceHandshaking)
	close(p.spawned)
	if reason := p.Withdrawn(); reason != "" { // toolhost withdrew the process before it existed
		p.kill(reason)
	}
	if p.cfg.Reaper != nil {
		p.cfg.Reaper.Add(ctx, child.id)
	}
	return err
}

// startError explains why the system did not execute the program, where the system's own message
// misleads.
func (p *Process) startError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		hint = "; it is no program for this machine, nor a script, whose first line begins with #! and names its interpreter"
	case errors.Is(err, syscall.ENOENT):
		if _, missing := os.Stat(p.cfg.Path); missing == nil {
			hint = "; the file is there, and what it says that it is run by is not"
		}
	}
	return fmt.Errorf("starting it: %w%s", err, hint)
}

// startChild starts the process in a PID namespace and a sandbox, as far as they are requested and
// possible.
func (p *Process) startChild(ctx context.Context, attr os.ProcAttr, dir string) (*child, error) {
	s := spec{
		path: p.cfg.Path, argv: append([]string{p.cfg.Path}, p.cfg.Args...), attr: attr,
		holder: p.holder, boost: &p.boost, mark: proc.MarkName + "=" + p.mark,
		grouped: p.cfg.PIDNamespace == NamespaceInstead, gate: p.gate,
	}
	if p.survey {
		s.survey = p.mark
	}
	s.namespace = !s.grouped && p.cfg.PIDNamespace != NamespaceOff
	without := map[string]string{}
	alone := false // no other namespace is made with the PID namespace
	for try := 0; ; {
		p.unsandboxed = !s.namespace && p.noNamespace == ""
		s.beside = 0
		if s.namespace && !alone {
			s.beside = p.beside(without)
		}
		child, err := p.startBehind(ctx, s, dir, without)
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
		case noNamespace && p.cfg.PIDNamespace != NamespaceRequired:
			p.noNamespace, s.namespace = namespace.Error(), false
		case noLayer && without[layer.Layer] == "":
			without[layer.Layer] = layer.Err.Error()
		default:
			return child, err
		}
	}
}

// beside returns the namespaces, besides the PID namespace, that the process's sandbox needs. They
// are made together with the PID namespace, so that the process need not make them one after the
// other while a caller waits.
func (p *Process) beside(without map[string]string) (flags uintptr) {
	if !p.cfg.sandboxed() {
		return 0
	}
	for _, layer := range p.cfg.Sandbox.Separate(without) {
		switch layer {
		case sandbox.Network:
			flags |= pidns.Network
		case sandbox.IPC:
			flags |= pidns.IPC
		}
	}
	return flags
}

// startBehind starts the process as s says, in the sandbox that the config describes. Its socket
// will be in dir.
func (p *Process) startBehind(ctx context.Context, s spec, dir string, without map[string]string) (*child, error) {
	if !p.cfg.sandboxed() {
		p.sandbox = tool.Sandbox{Mode: string(sandbox.ModeOff)}
		return startChild(ctx, s)
	}
	stage := filepath.Join(p.folder, "root")
	if err := os.Mkdir(stage, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("making its root: %w", err)
	}
	cfg := p.cfg.Sandbox
	cfg.Hidden = append(slices.Clone(cfg.Hidden), p.cfg.RunDir)
	var plan *sandbox.Plan
	s.attr.Dir = ""
	s.plan = func() (_ *sandbox.Plan, err error) {
		plan, err = p.watchedPlan(cfg, sandbox.Situation{
			Program: p.cfg.Path, Folder: p.cfg.Dir, Dir: p.dir(), Own: []string{p.tmp(), dir}, Stage: stage,
			PIDNamespace: s.namespace, NoPIDNamespace: cmp.Or(p.noNamespace, "none is needed"), Beside: s.beside != 0,
			Waits: s.gate != nil, Without: maps.Clone(without),
		})
		return plan, err
	}
	child, err := startChild(ctx, s)
	if plan != nil {
		p.sandbox = plan.Sandbox()
		p.tellUnwatched()
		plan.Close()
	}
	if err == nil {
		cfg.Machine.Note(p.sandbox)
	}
	return child, err
}

// endBoostLater ends the boost of a launch after boostFor.
func (p *Process) endBoostLater() {
	timer := time.NewTimer(boostFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.launched:
	case <-p.child.exited:
	}
	p.boost.end()
}

// watchLimits watches the limits that the kernel does not enforce. It ends before the process is
// released.
func (p *Process) watchLimits() {
	ctx, cancel := context.WithCancel(context.Background())
	roots := []int{p.child.id.PID}
	if p.child.namespace != nil {
		roots = append(roots, p.child.namespace.PID())
	}
	p.watchers.Go(func() { p.holder.Watch(ctx, roots, p.kill) })
	p.watchers.Go(func() { // ends with the process
		<-p.child.exited
		cancel()
	})
}

func (p *Process) pumpStdout(pipe *os.File) {
	first, ended := true, false
	to := p.newLines(func(line string) {
		if !first {
			p.out.stdoutLine(line)
			return
		}
		first = false
		p.firstLine <- firstLine{line, !ended} // it has room for this line
	})
	to.redact = func(line string, cut bool) string {
		if first {
			return line // redaction must not change a handshake
		}
		return p.cfg.Redact(line, cut)
	}
	pump(pipe, to)
	ended = true
	to.Flush()
	close(p.firstLine)
}

func (p *Process) pumpStderr(pipe *os.File) {
	to := p.newLines(p.out.stderrLine)
	pump(pipe, to)
	to.Flush()
}

// pump reads the pipe to its end as fast as it can, so that the writer never blocks.
func pump(pipe *os.File, to *lines) {
	const size = 8 << 10 // the longest kept line; each instance has two of these buffers
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{pipe}, make([]byte, size))
	_ = pipe.Close()
}

// firstLine is the first line that a process printed.
type firstLine struct {
	text  string
	whole bool // it ended with a line end, not with the output
}

// awaitHandshake returns the process's first line if go-plugin may see it.
func (p *Process) awaitHandshake(ctx context.Context, dir string) (string, error) {
	select {
	case line, ok := <-p.firstLine:
		if !ok || !line.whole {
			p.unfinished = line.text
			return "", errNoHandshake
		}
		socket, err := checkHandshake(line.text, dir, slices.Sorted(maps.Keys(pluginwire.HostPlugins(p.cfg.Conn))))
		p.socket = socket
		return strings.TrimSpace(line.text), err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
