package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// setup holds the options of commands that work on runs. A flag has precedence over the
// configuration file, and the file over the defaults.
type setup struct {
	process  cli.Process
	file     string // empty means the search path
	model    string
	baseURL  string
	toolhost string
	journal  string

	// the id of the lost ledger that a private toolhost may replace by a new one; empty means none
	acceptedLoss   string
	usesToolhost   bool // the command calls tools
	startsToolhost bool // the command starts a private toolhost if no toolhost answers
	// runID is the run of the command. If there is no such run, the command starts it. Empty means
	// no run in particular.
	runID string

	// redactor removes the secrets that agentd uses from its log. load sets it, unless a setup before
	// a reload has passed it on: a model of before the reload may still answer.
	redactor *secrets.Redactor

	config agentconfig.Config // set by load
	source trust.File         // the file of config; the zero value if there is none; set by load
	texts  texts              // set by load
	opened openedModel        // set by the command that works on runs itself
}

// models returns the models of the configuration, and the one that the command chooses.
func (s *setup) models() modelChoice {
	return modelChoice{config: &s.config, getenv: s.process.Getenv, flag: s.model, baseURL: s.baseURL}
}

// place returns where the runs are kept.
func (s *setup) place() journalPlace {
	return journalPlace{flag: s.journal, configured: s.config.Journal, state: s.stateFolder()}
}

func (s *setup) addFlags(flags *pflag.FlagSet) {
	s.addJournalFlags(flags)
	flags.StringVar(&s.model, "model", "",
		"`MODEL` to ask: a name of models in agentd.yaml, anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or scripted:FILE (default: the key in the environment chooses)")
	flags.StringVar(&s.baseURL, "base-url", "", "`URL` of the model's API (default: the provider's own)")
	flags.StringVar(&s.toolhost, "toolhost", "",
		"`ADDRESS` of the toolhost: unix:///PATH or HOST:PORT (default: "+address.Variable(toolhostProgram)+", else this user's socket)")
}

// addResumeFlags adds the flags that only a run that exists can need.
func (s *setup) addResumeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.acceptedLoss, "accept-lost-ledger", "",
		"go on although the ledger of the run's calls with this `ID` is lost: the outcomes of calls that it had are unknown")
}

// addJournalFlags adds the flags that select the journal.
func (s *setup) addJournalFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	flags.StringVar(&s.journal, "journal", "", "`FILE` that keeps the runs, or for serve and to read them a database: postgres://USER@HOST/DATABASE (default: XDG_STATE_HOME/toolhost/runs.db)")
}

// load reads the configuration. An error in it is a usage error.
func (s *setup) load(ctx context.Context) error {
	c, file, err := configuration().Use(s.process.Getenv, s.file)
	if err != nil {
		return err
	}
	configuration().Warn(cli.UntilDone(ctx, s.process.Stderr), configuration().Warnings(file))
	s.config, s.source = c, file
	s.learnSecrets()
	writable, err := s.writableFolders()
	if err != nil {
		return err
	}
	if err := configfile.CheckTrust(s.process.Getenv, file, writable); err != nil {
		return err
	}
	s.texts = texts{getenv: s.process.Getenv, writable: writable}
	if err := s.texts.read(&s.config); err != nil || !s.usesToolhost {
		return err
	}
	return s.askSharedToolhosts(ctx)
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

// agentConfig returns the configuration of an agent, with the model that is open. present says
// whether a person can probably answer.
func (s *setup) agentConfig(present bool) (agent.Config, error) {
	agents, err := s.texts.namedAgents(&s.config)
	if err != nil {
		return agent.Config{}, err
	}
	return agent.Config{
		Principal:          ownPrincipal(),
		ActFor:             actFor,
		SystemPrompt:       s.config.SystemPrompt,
		BaseURL:            s.opened.reachedAt,
		Memory:             s.texts.memoryFiles(s.config.Memory),
		ToolStatistics:     agent.ToolStatistics(s.config.ToolStatistics),
		MaxMemory:          int64(s.config.MemoryMaxBytes),
		Limits:             s.config.Limits.Agent(),
		People:             s.config.Approvals.People(present),
		SystemTools:        s.config.OfferedSystemTools(),
		SystemToolPlugins:  s.config.SystemToolPlugins(),
		Agents:             agents,
		DefaultAgent:       s.config.Agent,
		Model:              s.opened.Model,
		Prices:             s.opened.prices,
		ModelName:          s.models().modelName(),
		Models:             s.models().openModels(),
		ModelForAll:        s.opened.forAll,
		ModelForLost:       s.model != "" || s.baseURL != "",
		MaxRuns:            s.config.MaxRuns,
		AttachmentMemory:   int64(s.config.AttachmentMemory),
		Quotas:             s.config.Quotas.Agent(),
		Retention:          s.config.Runs.Agent(),
		EffectsAllowed:     s.config.EffectsAllowed(),
		ModelIdle:          s.config.ModelIdle,
		ExplicitCompletion: s.config.ExplicitCompletion,
		SubRuns:            s.config.SubRunLevels(),
		Window:             s.config.Compaction.Window(s.opened.window),
	}, nil
}

// command returns a command about a run as the user must type it, with the flags that locate the
// run and set how agentd works on it.
func (s *setup) command(name, runID string, at serverChoice) string {
	words := []string{program, name, runID}
	for _, flag := range [][2]string{
		{"config", s.file}, {"model", s.model}, {"base-url", s.baseURL}, {"toolhost", s.toolhost}, {"journal", s.journal}, {"addr", at.addr}, {"target", at.target},
	} {
		if flag[1] != "" {
			words = append(words, "--"+flag[0], cli.ShellWord(flag[1]))
		}
	}
	return strings.Join(words, " ")
}

// closeAll closes the closers in reverse order, and joins their errors to err.
func closeAll(err error, closers ...func() error) error {
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	return err
}

// stateFolder returns the folder of agentd's state, apart from a journal that is elsewhere.
func (s *setup) stateFolder() string { return cmp.Or(s.config.State, trust.Dir(s.process.Getenv)) }
