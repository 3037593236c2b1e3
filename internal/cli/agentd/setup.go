package agentd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/internal/agent/runstore/sqlite"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/provider"
	"github.com/toolhost/toolhost/internal/trust"
)

// setup holds the options of commands that work on runs. Flags go before the configuration file,
// and the file before the defaults.
type setup struct {
	process  cli.Process
	file     string // empty means the search path
	model    string
	baseURL  string
	toolhost string
	journal  string

	// the id of the lost ledger that a private toolhost may replace by a new one; empty means none
	acceptedLoss   string
	startsToolhost bool // the command starts a private toolhost if no toolhost answers
	// runID is the run of the command. If there is no such run, the command starts it. Empty means
	// no run in particular.
	runID string

	config agentconfig.Config // set by load
	window int64              // context window of the model, in tokens; set by openModel
	// reachedAt is the address of the model's API, without a password. Empty means the provider's
	// own address. openModel sets it.
	reachedAt string
}

func (s *setup) addFlags(flags *pflag.FlagSet) {
	s.addJournalFlags(flags)
	flags.StringVar(&s.model, "model", "",
		"`MODEL` to ask: a name of models in agentd.yaml, anthropic:NAME, openai:NAME or scripted:FILE (default: the key in the environment chooses)")
	flags.StringVar(&s.baseURL, "base-url", "", "`URL` of the model's API (default: the provider's own)")
	flags.StringVar(&s.toolhost, "toolhost", "",
		"`ADDRESS` of the toolhost: unix:///PATH or 127.0.0.1:PORT (default: "+address.Variable(toolhostProgram)+", else this user's socket)")
}

// addResumeFlags adds the flags that only a run that exists can need.
func (s *setup) addResumeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.acceptedLoss, "accept-lost-ledger", "",
		"go on although the ledger of the run's calls with this `ID` is lost: the outcomes of calls that it had are unknown")
}

// addJournalFlags adds the flags that select the journal.
func (s *setup) addJournalFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	flags.StringVar(&s.journal, "journal", "", "`FILE` that keeps the runs (default: XDG_STATE_HOME/toolhost/runs.db)")
}

// load reads the configuration. An error in it is a usage error.
func (s *setup) load() error {
	var named []string
	if s.file != "" {
		named = []string{s.file}
	}
	file, err := configFile(s.process.Getenv, named)
	if err != nil {
		return err
	}
	if !file.Named { // before the file is parsed
		if err := trustConfig(s.process.Getenv, file, nil); err != nil {
			return err
		}
	}
	if s.config, err = loadConfig(file); err != nil {
		return err
	}
	writable, err := s.writableFolders()
	if err != nil {
		return err
	}
	return trustConfig(s.process.Getenv, file, writable)
}

// writableFolders returns the folders that the plugins of a private toolhost may write: the current
// folder, unless the operator names a toolhost.
func (s *setup) writableFolders() ([]string, error) {
	if !s.startsToolhost || s.toolhost != "" || s.config.Toolhost != "" || s.process.Getenv(address.Variable(toolhostProgram)) != "" {
		return nil, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the current folder: %w", err)
	}
	return []string{cwd}, nil
}

// openModel returns the model, and its prices if they are known. An unavailable model is a usage
// error, which names the flag or variable that helps.
func (s *setup) openModel() (model.Model, model.Prices, error) {
	choice, err := s.config.Choose(s.model)
	if err != nil {
		return nil, nil, cli.Usage("--model: %w", err)
	}
	if s.baseURL != "" {
		choice.BaseURL = s.baseURL
	}
	m, err := provider.Open(provider.Choice{Model: choice.Name, BaseURL: choice.BaseURL, Thinking: choice.Thinking, Getenv: s.keysFrom(choice.APIKeyEnv)})
	if err != nil {
		return nil, nil, cli.Usage("%w", err)
	}
	s.window, s.reachedAt = choice.Window, redacted(choice.BaseURL)
	var prices model.Prices
	if choice.Price != nil {
		prices = model.Prices{m.Name(): *choice.Price}
	}
	return m, prices, nil
}

// openModelOf is openModel for the run s.runID. A run that exists keeps its model, whatever the
// configuration of the current folder says. Only --model changes it.
func (s *setup) openModelOf(ctx context.Context, store runstore.Store) (model.Model, model.Prices, error) {
	run, err := store.Get(ctx, s.runID)
	begun, reachedAt := agent.ModelOf(&run)
	if err != nil || s.model != "" || begun == "" {
		return s.openModel() // the run is new, or reading its journal reports the error later
	}
	s.model = s.config.Called(begun)
	m, prices, err := s.openModel()
	s.model = ""
	if err == nil && m.Name() != begun {
		err = fmt.Errorf("%q is %s here", begun, m.Name())
	}
	if err != nil {
		return nil, nil, cli.Usage("run %s was begun with the model %s, which cannot be had here: %w; "+
			"use --config with the agentd.yaml that the run was begun with, or let another model go on with --model MODEL", s.runID, begun, err)
	}
	if reachedAt != "" && s.reachedAt != reachedAt && s.baseURL == "" {
		// The user decides where agentd sends a conversation and a key. The journal may come from
		// another user.
		return nil, nil, cli.Usage("run %s was begun with its model at %s, and here the model is at %s; name the address that is right with --base-url",
			s.runID, reachedAt, cmp.Or(s.reachedAt, "the provider's own address"))
	}
	return m, prices, nil
}

// redacted returns a URL without its password.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return u.Redacted()
}

// keysFrom returns an environment in which a variable holds the key of every provider. Empty means
// that each provider has its usual variable.
func (s *setup) keysFrom(variable string) func(string) string {
	if variable == "" {
		return s.process.Getenv
	}
	return func(name string) string {
		if name == "ANTHROPIC_API_KEY" || name == "OPENAI_API_KEY" {
			name = variable
		}
		return s.process.Getenv(name)
	}
}

// agentConfig returns the configuration of an agent, after the model is open. present says whether
// a person can probably answer.
func (s *setup) agentConfig(present bool) agent.Config {
	return agent.Config{
		SystemPrompt:       s.config.SystemPrompt,
		BaseURL:            s.reachedAt,
		Limits:             s.config.Limits.Agent(),
		People:             s.config.Approvals.People(present),
		SystemTools:        s.config.OfferedSystemTools(),
		SystemToolPlugins:  s.config.SystemToolPlugins(),
		Kinds:              s.config.ToolChoices(),
		MaxRuns:            s.config.MaxRuns,
		EffectsAllowed:     s.config.EffectsAllowed(),
		ModelIdle:          s.config.ModelIdle,
		ExplicitCompletion: s.config.ExplicitCompletion,
		SubRuns:            s.config.SubRunLevels(),
		Window:             s.config.Compaction.Window(s.window),
	}
}

// command returns a command about a run as the user must type it, with the flags that locate the
// run and set how agentd works on it.
func (s *setup) command(name, runID, addr string) string {
	words := []string{program, name, runID}
	for _, flag := range [][2]string{
		{"config", s.file}, {"model", s.model}, {"base-url", s.baseURL}, {"toolhost", s.toolhost}, {"journal", s.journal}, {"addr", addr},
	} {
		if flag[1] != "" {
			words = append(words, "--"+flag[0], quoted(flag[1]))
		}
	}
	return strings.Join(words, " ")
}

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	harmless := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:=@,+%", r)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !harmless(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

func (s *setup) journalPath() (string, error) {
	switch {
	case s.journal != "":
		path, err := filepath.Abs(s.journal)
		if err != nil {
			return "", fmt.Errorf("--journal: %w", err)
		}
		return path, nil
	case s.config.Journal != "":
		return s.config.Journal, nil
	case s.config.State != "":
		return filepath.Join(s.config.State, journalName), nil
	}
	return filepath.Join(stateDir(s.process.Getenv), journalName), nil
}

// journalName is the name of the journal in the state folder.
const journalName = "runs.db"

func (s *setup) openJournal(ctx context.Context) (*sqlite.Store, error) {
	path, err := s.journalPath()
	if err != nil {
		return nil, err
	}
	if err := trust.Secure(filepath.Dir(path)); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another file with --journal", err)
	}
	return store, nil
}

// stateDir returns the state folder by the XDG base directory specification. A user without a home
// folder gets a folder that does not outlive a restart of the machine.
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
	options := &slog.HandlerOptions{Level: level}
	if s.config.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(cli.NewJSONWriter(s.process.Stderr), options))
	}
	return slog.New(slog.NewTextHandler(s.process.Stderr, options))
}

// closeAll closes in reverse order, and joins the errors to err.
func closeAll(err error, closers ...func() error) error {
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	return err
}
