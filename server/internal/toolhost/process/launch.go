package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/limits"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

var (
	errStartTimeout = errors.New("it did not answer in time")
	errNoHandshake  = errors.New("it ended its standard output without go-plugin's handshake")
)

// Launch starts a plugin process and returns it after it has answered. The end of ctx aborts the
// launch. After the launch, the process does not depend on ctx. If Launch fails, nothing of the
// process is left when it returns. If the plugin failed, or did not answer before ctx's deadline,
// the error is a *tool.Error of kind unavailable with the process's exit. If ctx ended the launch,
// the error wraps ctx's cause.
func Launch(ctx context.Context, cfg Config) (*Process, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, err)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, context.Cause(ctx))
	}
	if deadline, ok := ctx.Deadline(); ok {
		cfg.StartTimeout = min(cfg.StartTimeout, time.Until(deadline))
	}
	launch, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, errStartTimeout)
	defer cancel()
	for try := 1; ; try++ {
		p, err := prepare(cfg)
		if err != nil {
			return nil, fmt.Errorf("launching plugin %q: %w", cfg.Plugin, err)
		}
		err = p.run(launch)
		if err == nil {
			return p, nil
		}
		<-p.done
		if p.Withdrawn() == "" || launch.Err() != nil || try == mostPlans {
			return nil, p.failure(ctx, launch, err)
		}
	}
}

// run launches the process, and starts the goroutine that owns it to its end. It returns why the
// launch failed.
func (p *Process) run(launch context.Context) error {
	piped := p.cfg.Pipes != nil
	if !piped {
		p.client = goplugin.NewClient(p.clientConfig(launch))
	}
	go p.own(launch.Done()) // ends with the process
	var l launched
	if piped {
		l.session, l.err = p.connectPipes(launch)
	} else if l.conn, l.err = p.connect(launch); l.conn != nil {
		l.session = l.conn
	}
	p.launched.set(l)
	return l.err
}

// prepare makes the process's folder, and everything else that needs no process.
func prepare(cfg Config) (*Process, error) {
	folder, err := os.MkdirTemp(cfg.RunDir, "p")
	if err != nil {
		return nil, fmt.Errorf("making a folder for it: %w", err)
	}
	p := &Process{
		cfg:      cfg,
		folder:   folder,
		mark:     rand.Text() + "/" + rand.Text(),
		link:     newLink(),
		spawned:  newFact[spawned](),
		launched: newFact[launched](),
		over:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	if cfg.Reaper != nil {
		p.mark = cfg.Reaper.Token() + "/" + rand.Text()
	}
	if err := os.Mkdir(tmpIn(folder), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder for it: %w", err), os.RemoveAll(folder))
	}
	if p.resources.holder, err = limits.Hold(cfg.Limits, cfg.Cgroups, cfg.Instance); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	p.link.carried = func() { cfg.Carried(cfg.Tenant) }
	p.streams = newStreams(cfg)
	p.names.watcher, p.names.end = cfg.Names, p.withdraw
	return p, nil
}

// start starts the process, with its socket in dir, and the goroutines that read its output.
func (p *Process) start(ctx context.Context, protocol []string, dir string) error {
	files, err := p.streams.open()
	if err != nil {
		return err
	}
	defer func() {
		for _, file := range files {
			_ = file.Close()
		}
	}()
	s := spec{
		path: p.cfg.Path, argv: append([]string{p.cfg.Path}, p.cfg.Args...),
		attr: os.ProcAttr{
			Dir:   cmp.Or(p.cfg.Dir, tmpIn(p.folder)),
			Env:   environ(protocol, p.cfg.Env, tmpIn(p.folder), p.mark),
			Files: files,
		},
		holder: p.resources.holder, mark: proc.MarkName + "=" + p.mark,
	}
	if p.survey {
		s.survey = p.mark
	}
	p.resources.oomKills = oomKills()
	confined := &confinement{cfg: &p.cfg, folder: p.folder, names: &p.names}
	child, err := confined.start(ctx, s, dir)
	if err != nil {
		return errors.Join(startError(err, p.cfg.Path), p.streams.abandon())
	}
	p.streams.out.with(append(p.cfg.names(), "pid", child.id.PID)...)
	p.streams.read()
	err = p.resources.begin(child, func(reason string) { p.end(child, reason) })
	p.cfg.Report(tool.InstanceHandshaking)
	p.spawned.set(spawned{child, confined})
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
func startError(err error, path string) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		hint = "; it is no program for this machine, nor a script, whose first line begins with #! and names its interpreter"
	case errors.Is(err, syscall.ENOENT):
		if _, missing := os.Stat(path); missing == nil {
			hint = "; the file is there, and what it says that it is run by is not"
		}
	}
	return fmt.Errorf("starting it: %w%s", err, hint)
}

// connect launches the process with go-plugin. Calls of go-plugin take no context. When ctx ends,
// the method own kills the process, and these calls then return.
func (p *Process) connect(ctx context.Context) (*pluginwire.Conn, error) {
	if _, err := p.client.Start(); err != nil {
		return nil, err
	}
	p.cfg.Report(tool.InstanceWarming)
	protocol, err := p.client.Client()
	if err != nil {
		return nil, err
	}
	dispensed, err := protocol.Dispense(pluginwire.PluginKey)
	if err != nil {
		return nil, err
	}
	conn, ok := dispensed.(*pluginwire.Conn)
	if !ok {
		return nil, fmt.Errorf("go-plugin dispensed a %T", dispensed)
	}
	if err := greet(ctx, p.channels.first(), conn); err != nil {
		if problem := p.link.problem(); problem != nil {
			err = problem // gRPC's message would only repeat it
		}
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// greet checks that the plugin answers on the channel, and opens the connection. The channel is nil
// if go-plugin made none.
func greet(ctx context.Context, channel *grpc.ClientConn, conn *pluginwire.Conn) error {
	if channel == nil {
		return errLinkLost
	}
	health := grpc_health_v1.NewHealthClient(channel)
	answer, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	if err != nil {
		return fmt.Errorf("asking for its health: %w", err)
	}
	if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("asking for its health: it is %v", answer.GetStatus())
	}
	return conn.Open(ctx)
}

// failure returns why a launch failed with err. Nothing of the process is left. ctx is the
// caller's.
func (p *Process) failure(ctx, launch context.Context, err error) error {
	switch {
	case ctx.Err() == nil && context.Cause(launch) == errStartTimeout:
		err = errStartTimeout
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.Join(errStartTimeout, context.Cause(ctx))
	case ctx.Err() != nil:
		return fmt.Errorf("launching plugin %q: %w", p.cfg.Plugin, context.Cause(ctx))
	}
	return p.explain(err)
}

// explain returns the launch's error: what happened, and what the process printed last. The process
// is gone.
func (p *Process) explain(err error) error {
	result := &tool.Error{Kind: tool.KindUnavailable, Plugin: p.cfg.Plugin, Instance: p.cfg.Instance, Err: err}
	text := fmt.Sprintf("launching plugin %q: ", p.cfg.Plugin)
	if p.child() == nil {
		if ended, ok := errors.AsType[*sandbox.EndedError](err); ok {
			result.Exit = &tool.Exit{Code: -1, Signal: unix.SignalName(ended.Signal)}
		}
		result.Message = text + err.Error()
		return result
	}
	exit := p.Exit()
	result.Exit = &exit
	_, refused := errors.AsType[*handshakeError](err)
	_, unusable := errors.AsType[*UnusableError](err)
	switch {
	case refused:
		text += fmt.Sprintf("it is not a toolhost plugin: %v", err)
	case errors.Is(err, errStartTimeout):
		text += fmt.Sprintf("it did not answer within %v", p.cfg.StartTimeout.Round(time.Millisecond))
		if line, ok := <-p.streams.first; ok {
			p.unfinished = line.text
		}
	case exit.Reason == "" && !unusable, exit.OutOfMemory:
		text += fmt.Sprintf("it ended before it could be used: %v", exit)
	default:
		text += err.Error()
	}
	if p.unfinished != "" {
		text += fmt.Sprintf("; it printed %s, expected go-plugin's handshake (%s)", quote(p.unfinished), handshakeForm)
	}
	if len(exit.LastStderr) > 0 {
		text += fmt.Sprintf("; its last words on standard error: %s", quote(lastWords(exit)))
	}
	result.Message = p.cfg.Redact(text, false, false)
	return result
}

// lastWords returns the most informative of a process's last lines: the reason of its end, or else
// the last lines.
func lastWords(exit tool.Exit) string {
	const few = 5
	if crashoutput.Explained(exit.LastStderr) {
		return strings.Join(crashoutput.Shorten([]string{crashoutput.Reason(exit.LastStderr)}, maxQuote), "")
	}
	return strings.Join(crashoutput.Shorten(crashoutput.Excerpt(exit.LastStderr, few), maxQuote), "\n")
}
