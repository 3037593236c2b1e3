package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/tool"
)

// workbench is the client of an agentd: of an `agentd serve`, or of an agent in this process, with
// everything that it needs.
type workbench struct {
	*client.AgentClient
	log    *slog.Logger
	remote bool // the agent is an agentd serve
	// resume continues a run of this process; nil if the agent is an agentd serve, which resumes its
	// runs itself.
	resume  func(ctx context.Context, runID string) error
	private *privateToolhost // the toolhost of this command; nil if another process started it
	prompts prompts          // of the toolhost; nil if the agent is an agentd serve
	closers []func() error
	about   func(context.Context) []string // returns a description for people
}

// serverChoice names the `agentd serve` that works on a run. The zero value means this process.
type serverChoice struct {
	addr, target string
	implied      bool // no flag names the server: the environment does, or it is the target in use
}

// chosen returns the server of the environment or the target in use. The target "local" stands for
// this user's journal in both.
func chosen(p cli.Process) (serverChoice, error) {
	addr, name, err := (&target.Choice{Program: program, Process: p}).Named()
	if err != nil || addr == "" && (name == "" || name == target.Local) {
		return serverChoice{}, err
	}
	return serverChoice{addr, name, true}, nil
}

// announce prints which server works on the run, if a person could believe that this process does.
func (c serverChoice) announce(w io.Writer, at target.Server) {
	at.Announce(w)
	if c.implied && at.Target == "" && !at.Address.IsRemote() { // Announce does not name this one
		fmt.Fprintf(w, "agentd: %s names the agentd serve at %s\n", address.Variable(program), cli.OneLine(at.Address.String()))
	}
}

// inUse returns the server of the environment or the target in use, if no flag names a server and
// none is for runs of this process.
func (c serverChoice) inUse(s *setup) (serverChoice, error) {
	if c != (serverChoice{}) || s.journal != "" || s.toolhost != "" || s.baseURL != "" {
		return c, nil
	}
	return chosen(s.process)
}

// flags returns the flags that name the server in a further command, each after a blank.
func (c serverChoice) flags() (words string) {
	if c.addr != "" {
		words += " --addr " + cli.ShellWord(c.addr)
	}
	if c.target != "" {
		words += " --target " + cli.ShellWord(c.target)
	}
	return words
}

// openWork returns a workbench. If served names an `agentd serve`, the workbench is a client of it.
// Otherwise it is an agent in this process. present says whether a person can answer. The caller
// closes the workbench.
func (s *setup) openWork(ctx context.Context, served serverChoice, present bool) (*workbench, error) {
	if served == (serverChoice{}) {
		return s.openWorkbench(ctx, present)
	}
	for flag, value := range map[string]string{"base-url": s.baseURL, "toolhost": s.toolhost, "journal": s.journal, "accept-lost-ledger": s.acceptedLoss} {
		if value != "" {
			return nil, cli.Usage("--%s is for runs of this process; with --addr or --target, the agentd serve there has its own", flag)
		}
	}
	choice := target.Choice{Program: program, Process: s.process, Addr: served.addr, Target: served.target, Configured: s.config.Listen}
	if served.addr == defaultAddress {
		choice.Addr = ""
	}
	at, err := choice.Find()
	if err != nil {
		return nil, err
	}
	a, err := client.DialAgent(at.Address.String(), at.DialOptions()...)
	if err != nil {
		return nil, err
	}
	served.announce(s.process.Err(), at)
	log, err := s.openCommandLog()
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &workbench{
		AgentClient: a, log: log.Logger(loglevel.Runs), remote: true, closers: []func() error{log.Close, a.Close},
		about: func(context.Context) []string { return []string{"agentd at " + at.Address.String()} },
	}, nil
}

// defaultAddress is the value of --addr for the agentd serve at the default address.
const defaultAddress = "default"

// openWorkbench returns an agent whose runs belong to this process. present says whether a person
// can answer. The caller closes the workbench.
func (s *setup) openWorkbench(ctx context.Context, present bool) (_ *workbench, err error) {
	log, err := s.openCommandLog()
	if err != nil {
		return nil, err
	}
	w := &workbench{log: log.Logger(loglevel.Runs), closers: []func() error{log.Close}}
	defer func() {
		if err != nil {
			err = closeAll(err, w.closers...)
		}
	}()
	store, err := s.place().openJournal(ctx)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, store.Close)
	if s.opened, err = s.models().openModelOf(ctx, store, s.runID); err != nil {
		return nil, err
	}
	host, err := s.connect(ctx, true, log.Logger(loglevel.Tools))
	if err != nil {
		return nil, err
	}
	w.private, w.prompts = host.private, host.Client
	if host.records != nil {
		w.closers = append(w.closers, func() error { return host.records.close(context.WithoutCancel(ctx), store) })
	}
	w.closers = append(w.closers, host.Close)
	config, err := s.agentConfig(present)
	if err != nil {
		return nil, err
	}
	config.ListChangedTools, config.ToolsKnown = host.tools.ListChangedTools, host.Client.WaitForTools
	config.Search, config.LedgerID, config.ReadArtifact = host.Client, host.Client.LedgerID, host.Client.ReadArtifact
	config.ApproveStanding = standingsOf(host.Client)
	config.ReviewCall = host.Client.ReviewCall
	config.Workspace, config.Statistics = host.workspace, host.Client.Admin().Stats
	config.Store, config.Tools, config.Log = store, host.tools, w.log
	s.config.Telemetry.Listen, s.config.Telemetry.Pprof = "", "" // several of these commands may run at a time
	exported, err := s.openTelemetry(ctx, &config, true, log)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, exported.Close)
	a, err := agent.New(config)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { a.Close(); return nil })
	local, err := agentserver.ServeLocal(a, w.log)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, local.Close)
	w.AgentClient, w.resume = local.AgentClient, a.ResumeRun
	w.about = func(ctx context.Context) []string { return about(ctx, s.opened.name, host) }
	return w, nil
}

// Close stops the client and the agent. Runs that have not ended continue when a user resumes them.
func (w *workbench) Close() error { return closeAll(nil, w.closers...) }

// about describes a workbench: the model, the number of tools, and the workspace.
func about(ctx context.Context, model string, host *toolhost) []string {
	lines := []string{"model " + model}
	if tools, err := host.Client.ListTools(ctx, tool.Query{}); err == nil {
		lines[0] += ", " + cli.Count(len(tools), "tool")
	}
	workspace := "tools and workspace of the toolhost at " + host.Client.Addr()
	if folder := host.Client.Folders().Workspace; folder != "" {
		workspace = fmt.Sprintf("workspace %s, of the toolhost at %s", cli.OneLine(folder), host.Client.Addr())
	}
	if host.private != nil {
		folder, err := os.Getwd()
		if err != nil {
			return lines
		}
		workspace = "workspace " + folder
	}
	return append(lines, workspace)
}
