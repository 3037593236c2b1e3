package agentd

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/rpc/agentclient"
	"github.com/toolhost/toolhost/tool"
)

// workbench is an agent in this process with all that it needs, or a client of an `agentd serve`.
type workbench struct {
	runs
	log     *slog.Logger
	remote  bool // the agent is an agentd serve
	closers []func() error
	about   func(context.Context) []string // returns a description for people
}

// openWork returns a workbench: a client of the `agentd serve` that served names, or else an agent
// whose runs belong to this process. present says whether a person can answer. The caller closes
// the workbench.
func (s *setup) openWork(ctx context.Context, served string, present bool) (*workbench, error) {
	if served == "" {
		return s.openWorkbench(ctx, present)
	}
	for flag, value := range map[string]string{"model": s.model, "base-url": s.baseURL, "toolhost": s.toolhost, "journal": s.journal} {
		if value != "" {
			return nil, cli.Usage("--%s is for runs of this process; with --addr, the agentd serve there has its own", flag)
		}
	}
	if served == defaultAddress {
		served = s.config.Listen
		if s.process.Getenv(address.Variable(program)) != "" {
			served = ""
		}
	}
	at, err := address.Find(served, program, s.process.Getenv)
	if err != nil {
		return nil, cli.Usage("--addr: %w", err)
	}
	a := agentclient.New(at)
	return &workbench{runs: remoteRuns{a}, log: s.logger(slog.LevelWarn), remote: true, about: func(context.Context) []string { return []string{"agentd at " + at.String()} }, closers: []func() error{a.Close}}, nil
}

// defaultAddress is the value of --addr for the agentd serve at the default address.
const defaultAddress = "default"

// openWorkbench returns an agent whose runs belong to this process. present says whether a person
// can answer. The caller closes the workbench.
func (s *setup) openWorkbench(ctx context.Context, present bool) (_ *workbench, err error) {
	w := &workbench{log: s.logger(slog.LevelWarn)}
	defer func() {
		if err != nil {
			err = closeAll(err, w.closers...)
		}
	}()
	store, err := s.openJournal(ctx)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, store.Close)
	m, prices, err := s.openModelOf(ctx, store)
	if err != nil {
		return nil, err
	}
	host, err := s.connect(ctx, true, w.log)
	if err != nil {
		return nil, err
	}
	if host.records != nil {
		w.closers = append(w.closers, func() error { return host.records.close(context.WithoutCancel(ctx), store) })
	}
	w.closers = append(w.closers, host.Close)
	config := s.agentConfig(present)
	config.Search, config.LedgerID, config.ReadArtifact = host.Client, host.LedgerID, host.ReadArtifact
	config.Store, config.Model, config.Prices, config.Tools, config.Log = store, m, prices, remoteTools{host.Client}, w.log
	a, err := agent.New(config)
	if err != nil {
		return nil, err
	}
	w.runs = localRuns{a}
	w.about = func(ctx context.Context) []string { return about(ctx, m.Name(), host) }
	w.closers = append(w.closers, func() error { a.Close(); return nil })
	return w, nil
}

// Close stops the agent. Runs that have not ended continue when a user resumes them.
func (w *workbench) Close() error { return closeAll(nil, w.closers...) }

// about describes a workbench: the model, the number of tools, and the workspace.
func about(ctx context.Context, model string, host *toolhost) []string {
	lines := []string{"model " + model}
	if tools, err := host.ListTools(ctx, tool.Query{}); err == nil {
		lines[0] += fmt.Sprintf(", %d tools", len(tools))
	}
	workspace := "tools and workspace of the toolhost at " + host.Addr()
	if host.private != nil {
		folder, err := os.Getwd()
		if err != nil {
			return lines
		}
		workspace = "workspace " + folder
	}
	return append(lines, workspace)
}
