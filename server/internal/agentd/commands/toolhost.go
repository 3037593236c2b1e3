package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

const toolhostProgram = "toolhost"

// answerWait bounds the check whether a toolhost answers. A running one answers in milliseconds.
const answerWait = 5 * time.Second

// toolhost is a client of a toolhost that answers, and the toolhost itself if this process started
// it.
type toolhost struct {
	Client  *client.Client
	tools   agentTools       // of Client, for an agent
	private *privateToolhost // nil if another process started the toolhost
	local   bool             // the toolhost is on this machine
	records *runRecords      // records of private, or nil; the user closes them after the toolhost
}

// Close closes the connection, and stops the toolhost if this process started it.
func (t *toolhost) Close() error {
	err := t.Client.Close()
	if t.private != nil {
		err = errors.Join(err, t.private.stop())
	}
	return err
}

// connect returns the toolhost that the command line, the environment or the default names. If none
// answers at the default address and private is set, connect starts one with the records of the run
// s.runID. A run that has such records gets a private toolhost again, also if another toolhost
// answers now. An error that wraps client.ErrNoServer says how to continue.
func (s *setup) connect(ctx context.Context, private bool, log *slog.Logger) (*toolhost, error) {
	given := s.namedToolhost()
	if text := cmp.Or(given, s.process.Getenv(address.Variable(toolhostProgram))); address.IsSeveral(text) {
		return s.connectAny(ctx, text, log)
	}
	addr, err := address.Find(given, toolhostProgram, s.process.Getenv)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	named := given != "" || s.process.Getenv(address.Variable(toolhostProgram)) != ""
	var answered error
	if named || !private || !s.place().hasRecords(s.runID) {
		c, err := dial(ctx, addr.String(), cli.DialOptions(addr)...)
		switch {
		case err == nil:
			return s.share(ctx, c, addr.IsUnix(), log)
		case !errors.Is(err, client.ErrNoServer):
			return nil, err
		case named || !private:
			return nil, fmt.Errorf("%w; start one with `toolhost serve`, or name another with --toolhost or %s",
				err, address.Variable(toolhostProgram))
		}
		if err := refuseForeign(ctx, addr); err != nil {
			return nil, err
		}
		answered = err
	}
	own, records, startErr := s.startOwn(ctx, log)
	if exit, ok := errors.AsType[*exec.ExitError](startErr); ok && exit.ExitCode() == cli.ExitUntrusted {
		return nil, &cli.ExitError{Code: cli.ExitUntrusted, Err: startErr}
	}
	switch {
	case startErr != nil && answered != nil:
		return nil, fmt.Errorf("%w; starting one failed: %w", answered, startErr)
	case startErr != nil:
		return nil, fmt.Errorf("starting the run's own toolhost failed: %w", startErr)
	}
	c, err := dial(ctx, own.addr, client.IgnoreEnvironment())
	if err != nil {
		return nil, errors.Join(err, own.stop(), records.claim.Close())
	}
	warnOfPlugins(ctx, c, log)
	warnWithoutTools(ctx, c, log, "toolhost install PATH")
	return &toolhost{Client: c, local: true, tools: newRemoteTools(c, log), private: own, records: records}, nil
}

// connectAny returns several toolhosts that share a ledger.
func (s *setup) connectAny(ctx context.Context, text string, log *slog.Logger) (*toolhost, error) {
	servers, err := address.ParseServers(text)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	c, err := dial(ctx, text)
	if errors.Is(err, client.ErrNoServer) {
		err = fmt.Errorf("%w; start one of them with `toolhost serve`", err)
	}
	if err != nil {
		return nil, err
	}
	for _, addr := range servers.Addresses { // one that does not answer now is checked with its first list of tools
		one, err := dial(ctx, addr.String())
		if errors.Is(err, client.ErrNoServer) {
			continue
		}
		if err == nil {
			err = errors.Join(s.checkShared(one.Addr(), one.Folders()), one.Close())
		}
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	local := !slices.ContainsFunc(servers.Addresses, func(a address.Address) bool { return !a.IsUnix() }) && len(servers.Addresses) > 0
	return s.share(ctx, c, local, log)
}

// share returns a toolhost that this process has not started.
func (s *setup) share(ctx context.Context, c *client.Client, local bool, log *slog.Logger) (*toolhost, error) {
	if err := s.checkShared(c.Addr(), c.Folders()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if self, err := os.Executable(); err == nil {
		warnOfReach(log, self, c.Addr(), c.Folders())
	}
	warnWithoutTools(ctx, c, log, "toolhost plugins --addr "+cli.ShellWord(c.Addr()))
	return &toolhost{Client: c, local: local, tools: newSharedTools(newRemoteTools(c, log), s.checkShared)}, nil
}

// warnOfPlugins logs the plugins of a private toolhost that offer no tools. The log of that
// toolhost is not shown as long as it works.
func warnOfPlugins(ctx context.Context, c *client.Client, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		log.Debug("the plugins of the private toolhost are not known", "error", err)
		return
	}
	usable := map[string]bool{} // an installed plugin may also have come with toolhost
	for _, p := range plugins {
		if !p.State.Off() {
			usable[p.Name] = true
		}
	}
	for _, p := range plugins {
		if p.State == tool.PluginUnusable && !usable[p.Name] {
			log.Warn("a plugin offers no tools to this run", "plugin", cli.OneLine(p.Name), "path", cli.OneLine(p.Path), "reason", cli.OneLine(p.Reason))
		}
	}
}

// warnWithoutTools logs a warning if the toolhost offers no tools. next is a command that helps.
func warnWithoutTools(ctx context.Context, c *client.Client, log *slog.Logger, next string) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	tools, err := c.ListTools(ctx, tool.Query{MaxTools: 1})
	if err == nil && len(tools) == 0 && c.WaitForTools(ctx) == nil { // it has just started
		tools, err = c.ListTools(ctx, tool.Query{MaxTools: 1})
	}
	if err == nil && len(tools) == 0 {
		log.Warn("the toolhost offers no tools, so the model can only write", "toolhost", c.Addr(), "try", next)
	}
}

// refuseForeign returns an error if another user's toolhost has the default address. That user may
// have taken the address from the toolhost that the user of this program means, so agentd must not
// start a private one in its place.
func refuseForeign(ctx context.Context, addr address.Address) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	conn, err := addr.Dial(ctx)
	if err == nil {
		return conn.Close() // a toolhost has just started; a private one beside it does no harm
	}
	if errors.Is(err, address.ErrForeign) {
		return fmt.Errorf("%w; remove what the other user put there, or name a toolhost with --toolhost or %s",
			err, address.Variable(toolhostProgram))
	}
	return nil
}

// startOwn starts a private toolhost with the records of the run s.runID.
func (s *setup) startOwn(ctx context.Context, log *slog.Logger) (*privateToolhost, *runRecords, error) {
	folder, err := s.place().recordsFolder()
	if err != nil {
		return nil, nil, err
	}
	records, err := claimRecords(ctx, folder, s.runID, log)
	if err != nil {
		return nil, nil, err
	}
	records.acceptedLoss = s.acceptedLoss
	journal, err := s.place().journalPath()
	if err != nil {
		return nil, nil, errors.Join(err, records.claim.Close())
	}
	own, err := startToolhost(ctx, log, records, append(append(s.config.Telemetry.Files(), authconfig.Files(s.config.Listeners)...), journal)...)
	if err != nil {
		return nil, nil, errors.Join(err, records.claim.Close())
	}
	return own, records, nil
}

// dial returns a client of a toolhost that answers.
func dial(ctx context.Context, addr string, options ...client.DialOption) (*client.Client, error) {
	c, err := client.Dial(addr, options...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	if _, err := c.ListTools(ctx, tool.Query{MaxTools: 1}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
