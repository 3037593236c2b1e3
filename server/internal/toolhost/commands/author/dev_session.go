package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// devSession is a toolhost for one plugin under development. Only the goroutine of the build loop
// uses its fields. All goroutines share the screen.
type devSession struct {
	temp    string // the folder of all its files
	options serve.Options
	wait    bool
	call    *tool.Call // the call after each build; nil means none
	screen  *devScreen

	client    *client.Client // nil until the first successful build
	served    chan error     // receives the error of serve.Run
	stop      context.CancelFunc
	followers sync.WaitGroup
}

// dev builds, runs and shows a plugin until ctx ends.
func dev(ctx context.Context, p cli.Process, flags devFlags, call *tool.Call, dir string) (err error) {
	temp, err := serve.MakeScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	project, err := flags.project(dir, filepath.Join(temp.Path, "build"))
	if err != nil {
		return err
	}
	s := &devSession{temp: temp.Path, wait: flags.wait, call: call, screen: &devScreen{w: p.Out(), out: p.Stdout, colors: p.Screen()}}
	if s.options, err = s.Options(flags, p.Getenv); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.screen.say("dev", "%s is built %s; Ctrl-C ends", dir, cmp.Or(quotedCommand(project.Command()), "by nothing"))
	begins := func() { s.screen.say("dev", "building") }
	project.Run(ctx, s.screen, begins, func(ctx context.Context, plugin string, err error) {
		if err == nil {
			err = s.swap(ctx, plugin)
		}
		if s.served != nil {
			select {
			case ended := <-s.served: // serve.Run ends only with an error
				s.served <- ended
				cancel(ended)
			default:
			}
		}
		if err != nil && ctx.Err() == nil {
			s.screen.say("failed", "%v", err)
			s.screen.say("dev", "waiting for a change%s", s.remains(ctx))
		}
	})
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// remains returns which plugin is still in service after a failed build.
func (s *devSession) remains(ctx context.Context) string {
	if s.client == nil {
		return ""
	}
	plugins, err := s.client.Admin().Plugins(ctx)
	if err != nil {
		return ""
	}
	var words string
	for _, p := range plugins {
		if !p.State.Off() {
			words += fmt.Sprintf("; %s stays in service, %s", strings.TrimSpace(p.Name+" "+p.Version), cli.ShortDigest(p.Digest))
		}
	}
	return words
}

func quotedCommand(command string) string {
	if command == "" {
		return ""
	}
	return "by `" + command + "`"
}

// serveOptions returns the options of the toolhost: those of `toolhost serve`, with only this
// plugin, and with temporary state.
func (s *devSession) Options(flags devFlags, getenv func(string) string) (serve.Options, error) {
	plugins, socket := filepath.Join(s.temp, "plugins"), filepath.Join(s.temp, "run", "socket")
	for _, dir := range []string{plugins, filepath.Dir(socket)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return serve.Options{}, fmt.Errorf("making a folder for the plugin: %w", err)
		}
	}
	// The screen shows the warnings of the server as events, so the log needs only errors.
	serving := serve.Flags{
		Config: flags.config, Workspace: flags.workspace, Plugins: []string{plugins}, StateDir: filepath.Join(s.temp, "state"),
		Listen: cmp.Or(flags.listen, "unix://"+socket), Level: "error", LockFile: filepath.Join(s.temp, "toolhost.lock"),
	}
	options, err := serving.Options(getenv)
	if err != nil {
		return options, err
	}
	options.Locked, options.Audit.File = false, filepath.Join(s.temp, "audit.jsonl")
	if options.Workspace.Backend == config.LocalBackend && options.Workspace.Mode != config.SharedWorkspace { // a running toolhost owns these workspaces
		folder, err := serve.Absolute("--workspace", ".")
		if err != nil {
			return options, err
		}
		options.Workspace = config.Workspace{Backend: config.LocalBackend, Mode: config.SharedWorkspace, Folder: folder}
	}
	options.Reload.Watch = false // the build loop reloads
	options.Retention, options.Brief, options.TrustsAll = devRetention, true, true
	options.Observe = func(h hostserver.Host) hostserver.Host { return shownHost{h, s.screen} }
	if s.wait {
		holdDeadlines(&options.Config)
	}
	return options, nil
}

const (
	// devRetention is the time that the copy of a replaced plugin stays. Calls during development
	// are short, and a copy can have tens of megabytes.
	devRetention = time.Minute
	// heldDeadline is the timeout of a call that a debugger can stop. It is longer than a working
	// day.
	heldDeadline = 24 * time.Hour
)

// holdDeadlines removes the timeouts of calls, and keeps processes that a debugger is attached to.
func holdDeadlines(c *config.Config) {
	c.Calls.DefaultTimeout, c.Calls.MaxTimeout = heldDeadline, heldDeadline
	hold := func(s config.PluginSettings) config.PluginSettings {
		s.IdleTimeout, s.RecycleAfterAge = 0, 0
		return s
	}
	c.Defaults = hold(c.Defaults)
	c.ByPlugin = maps.Clone(c.ByPlugin)
	for name, s := range c.ByPlugin {
		c.ByPlugin[name] = hold(s)
	}
}

// swap puts a build into service, and shows the result.
func (s *devSession) swap(ctx context.Context, plugin string) error {
	link := filepath.Join(s.options.Folders[0], filepath.Base(plugin))
	if target, err := os.Readlink(link); err != nil || target != plugin {
		_ = os.Remove(link)
		if err := os.Symlink(plugin, link); err != nil {
			return fmt.Errorf("showing the plugin to toolhost: %w", err)
		}
	}
	first := s.client == nil
	if first {
		if err := s.start(ctx); err != nil {
			return err
		}
	}
	done, err := s.client.Admin().ReloadPlugins(ctx)
	if err != nil {
		return err
	}
	for _, f := range done.Failures {
		err = errors.Join(err, fmt.Errorf("%s: %s", f.Plugin, cli.ShortenDigests(f.Reason)))
	}
	if err == nil {
		err = s.introduce(ctx, first || len(done.Added) > 0)
	}
	if err != nil || s.call == nil {
		return err
	}
	// The host shows the call and its outcome.
	_, _ = s.client.Follow(ctx, *s.call, func(tool.Event) {})
	return nil
}

// start starts the toolhost and the goroutines that show events and logs.
func (s *devSession) start(ctx context.Context) error {
	if s.wait {
		if err := s.freeTools(ctx); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	ready := &readyWriter{ready: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- serve.Run(ctx, s.options, ready, s.screen) }() // ends with ctx; waited for in close
	select {
	case err := <-served:
		stop()
		return cmp.Or(err, ctx.Err())
	case <-ready.ready:
	}
	s.served, s.stop = served, stop
	addr, err := address.Parse(s.options.Listen)
	if err == nil {
		s.client, err = client.Dial(addr.String(), client.IgnoreEnvironment())
	}
	if err != nil {
		return err
	}
	for _, follow := range []func(context.Context, *client.Client){s.followEvents, s.followLogs} {
		s.followers.Go(func() { follow(ctx, s.client) }) // ends with ctx
	}
	return nil
}

// freeTools removes the timeouts of the present tools. Tools that later builds add keep theirs.
func (s *devSession) freeTools(ctx context.Context) error {
	found, err := serve.Examine(ctx, s.options, s.options.Folders[0], true)
	if err != nil {
		return err
	}
	if found.Problem != "" {
		return errors.New(found.Problem)
	}
	tools := maps.Clone(s.options.Tools)
	if tools == nil {
		tools = map[string]config.ToolSettings{}
	}
	for _, t := range found.Tools {
		settings := tools[t.DeclaredName()]
		settings.Timeout = new(heldDeadline)
		tools[t.DeclaredName()] = settings
	}
	s.options.Tools = tools
	return nil
}

// close stops the toolhost and waits for the goroutines.
func (s *devSession) close() error {
	if s.served == nil {
		return nil
	}
	s.stop()
	err := <-s.served
	if s.client != nil {
		err = errors.Join(err, s.client.Close())
	}
	s.followers.Wait()
	return err
}

// readyWriter closes ready when the server prints that it is ready.
type readyWriter struct {
	once  sync.Once
	ready chan struct{}
}

// Write implements io.Writer. It never fails.
func (w *readyWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.ready) })
	return len(p), nil
}
