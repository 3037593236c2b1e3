package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/provider"
	"github.com/toolhost/toolhost/internal/runstore/sqlite"
)

// setup is what both commands are told about the parts that they put together.
type setup struct {
	process  cli.Process
	model    string
	baseURL  string
	toolhost string
	journal  string
}

func (s *setup) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.model, "model", "",
		"`MODEL` to ask: anthropic:NAME, openai:NAME or scripted:FILE (default: the key in the environment chooses)")
	flags.StringVar(&s.baseURL, "base-url", "", "`URL` of the model's API (default: the provider's own)")
	flags.StringVar(&s.toolhost, "toolhost", "",
		"`ADDRESS` of the toolhost: unix:///PATH or 127.0.0.1:PORT (default: "+address.Variable(toolhostProgram)+", else this user's socket)")
	flags.StringVar(&s.journal, "journal", "", "`FILE` that keeps the runs (default: XDG_STATE_HOME/toolhost/runs.db)")
}

// openModel returns the model. A model that cannot be had is wrong usage: the error says which flag or variable helps.
func (s *setup) openModel() (model.Model, error) {
	m, err := provider.Open(provider.Choice{Model: s.model, BaseURL: s.baseURL, Getenv: s.process.Getenv})
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	return m, nil
}

func (s *setup) journalPath() (string, error) {
	if s.journal == "" {
		return filepath.Join(stateDir(s.process.Getenv), "runs.db"), nil
	}
	path, err := filepath.Abs(s.journal)
	if err != nil {
		return "", fmt.Errorf("--journal: %w", err)
	}
	return path, nil
}

func (s *setup) openJournal(ctx context.Context) (*sqlite.Store, error) {
	path, err := s.journalPath()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another file with --journal", err)
	}
	return store, nil
}

// stateDir follows the XDG base directory specification. A user without a home gets a folder that does not outlive the
// machine's next start.
func stateDir(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, toolhostProgram)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", toolhostProgram)
	}
	return filepath.Join(os.TempDir(), toolhostProgram+"-"+strconv.Itoa(os.Getuid()), "state")
}

func (s *setup) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(s.process.Stderr, &slog.HandlerOptions{Level: level}))
}

// closeAll closes what was opened, the last first, and joins what went wrong to err.
func closeAll(err error, closers ...func() error) error {
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	return err
}
