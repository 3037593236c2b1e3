package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
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
	window int64              // context window of the model, in tokens; set by openModel
	// instructions are the contents of the files with instructions, by agent; set by load.
	instructions map[string]string
	// schemas are the contents of the files with response schemas, by agent; set by load.
	schemas map[string][]byte
	// memory are the texts of the operator's memory files, by path; set by load.
	memory map[string]string
	// steering are all files with texts for the model; set by load.
	steering []trust.File
	// modelForAll means that the model of --model continues the run, which began with another one.
	modelForAll bool
	// reachedAt is the address of the model's API, without a password. Empty means the provider's
	// own address. openModel sets it.
	reachedAt string
	opened    string // the full name of the model that openModel opened
}

// texts returns the files with texts for a model.
func (s *setup) texts() texts { return texts{s} }

// models returns the models of the configuration, and the one that the command chooses.
func (s *setup) models() modelChoice { return modelChoice{s} }

// place returns where the runs are kept.
func (s *setup) place() journalPlace { return journalPlace{s} }

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
	if err := s.texts().readInstructions(writable); err != nil {
		return err
	}
	if err := s.texts().readSchemas(writable); err != nil {
		return err
	}
	if err := s.texts().readMemory(writable); err != nil || !s.usesToolhost {
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

// modelChoice is the models of a configuration, and which of them a command works with: a flag, the
// run that it continues, or the configuration decides.
type modelChoice struct{ setup *setup }

// openModel returns the model, and its prices if they are known. An unavailable model is a usage
// error, which names the flag or variable that helps.
func (c modelChoice) openModel() (model.Model, model.Prices, error) {
	choice, err := c.setup.config.Choose(c.defaultModel())
	if err != nil {
		return nil, nil, cli.Usage("--model: %w", err)
	}
	if c.setup.baseURL != "" {
		choice.BaseURL = c.setup.baseURL
	}
	m, err := c.open(&choice)
	if err != nil {
		return nil, nil, cli.Usage("%w", err)
	}
	c.setup.window, c.setup.reachedAt, c.setup.opened = choice.Window, redacted(choice.BaseURL), m.Name()
	var prices model.Prices
	if choice.Price != nil {
		prices = model.Prices{m.Name(): *choice.Price}
	}
	return m, prices, nil
}

// open opens a model of the configuration.
func (c modelChoice) open(choice *agentconfig.Choice) (model.Model, error) {
	return provider.Open(provider.Choice{
		Model: choice.Name, BaseURL: choice.BaseURL, Thinking: choice.Thinking, TextTools: choice.TextTools, Getenv: c.keysFrom(choice.APIKeyEnv),
	})
}

// openModels opens the models that agents and callers can name. A model that cannot be used, such
// as one without a key, is an error only for the runs that name it.
func (c modelChoice) openModels() map[string]agent.OfferedModel {
	models := make(map[string]agent.OfferedModel)
	for _, name := range c.setup.config.NamedModels() {
		choice, err := c.setup.config.Choose(name)
		var m agent.OfferedModel
		if err == nil {
			m = agent.OfferedModel{BaseURL: redacted(choice.BaseURL), Window: choice.Window, Price: choice.Price}
			m.Model, err = c.open(&choice)
		}
		if err != nil {
			m.Model, m.Problem = nil, err
		}
		models[name] = m
	}
	return models
}

// defaultModel returns the model of runs that name none. A file whose default agent has a model
// needs no other one.
func (c modelChoice) defaultModel() string {
	return cmp.Or(c.setup.model, c.setup.config.Model, c.setup.config.Agents[c.setup.config.Agent].Model)
}

// modelName returns the name of the default model in the configuration. Empty means that it has
// none.
func (c modelChoice) modelName() string {
	name := c.defaultModel()
	if _, known := c.setup.config.Models[name]; !known || c.setup.baseURL != "" {
		return ""
	}
	return name
}

// chosenModel returns the model that --model names, as the agent that works on the run knows it.
// Empty means that the agent of the run decides.
func (c modelChoice) chosenModel(server serverChoice) string {
	if c.setup.model == "" || server != (serverChoice{}) {
		return c.setup.model
	}
	return cmp.Or(c.modelName(), c.setup.opened)
}

// openModelOf is openModel for the run s.runID. A run that exists keeps its model, whatever the
// configuration of the current folder says. Only --model changes it.
func (c modelChoice) openModelOf(ctx context.Context, store runstore.Store) (model.Model, model.Prices, error) {
	run, err := store.Get(ctx, c.setup.runID)
	begun, reachedAt := agent.ModelOf(&run)
	c.setup.modelForAll = err == nil && (c.setup.model != "" || c.setup.baseURL != "")
	if err != nil || c.setup.model != "" || begun == "" {
		return c.openModel() // the run is new, or reading its journal reports the error later
	}
	c.setup.model = c.setup.config.Called(begun)
	m, prices, err := c.openModel()
	c.setup.model = ""
	if err == nil && m.Name() != begun {
		err = fmt.Errorf("%q is %s here", begun, m.Name())
	}
	if err != nil {
		return nil, nil, cli.Usage("run %s was begun with the model %s, which this agentd cannot open: %w; "+
			"use --config with the agentd.yaml that the run was begun with, or let another model go on with --model MODEL", c.setup.runID, begun, err)
	}
	if reachedAt != "" && c.setup.reachedAt != reachedAt && c.setup.baseURL == "" {
		// The user decides where agentd sends a conversation and a key. The journal may come from
		// another user.
		return nil, nil, cli.Usage("run %s was begun with its model at %s, and here the model is at %s; name the address that is right with --base-url",
			c.setup.runID, reachedAt, cmp.Or(c.setup.reachedAt, "the provider's own address"))
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

// keysFrom returns an environment in which the named variable holds the key of every provider. If
// variable is empty, each provider has its usual variable.
func (c modelChoice) keysFrom(variable string) func(string) string {
	if variable == "" {
		return c.setup.process.Getenv
	}
	return func(name string) string {
		if slices.Contains(modelKeys, name) {
			name = variable
		}
		return c.setup.process.Getenv(name)
	}
}

// agentConfig returns the configuration of an agent, after the model is open. present says whether
// a person can probably answer.
func (s *setup) agentConfig(present bool) (agent.Config, error) {
	agents, err := s.texts().namedAgents()
	if err != nil {
		return agent.Config{}, err
	}
	return agent.Config{
		Principal:          ownPrincipal(),
		ActFor:             actFor,
		SystemPrompt:       s.config.SystemPrompt,
		BaseURL:            s.reachedAt,
		Memory:             s.texts().memoryFiles(s.config.Memory),
		ToolStatistics:     agent.ToolStatistics(s.config.ToolStatistics),
		MaxMemory:          int64(s.config.MemoryMaxBytes),
		Limits:             s.config.Limits.Agent(),
		People:             s.config.Approvals.People(present),
		SystemTools:        s.config.OfferedSystemTools(),
		SystemToolPlugins:  s.config.SystemToolPlugins(),
		Agents:             agents,
		DefaultAgent:       s.config.Agent,
		ModelName:          s.models().modelName(),
		Models:             s.models().openModels(),
		ModelForAll:        s.modelForAll,
		ModelForLost:       s.model != "" || s.baseURL != "",
		MaxRuns:            s.config.MaxRuns,
		AttachmentMemory:   int64(s.config.AttachmentMemory),
		Quotas:             s.config.Quotas.Agent(),
		Retention:          s.config.Runs.Agent(),
		EffectsAllowed:     s.config.EffectsAllowed(),
		ModelIdle:          s.config.ModelIdle,
		ExplicitCompletion: s.config.ExplicitCompletion,
		SubRuns:            s.config.SubRunLevels(),
		Window:             s.config.Compaction.Window(s.window),
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

// journalPlace is where the runs are kept, a file or a database, and what lies beside a file: the
// lock of a server and the records of calls.
type journalPlace struct{ setup *setup }

// database returns the URL of the database that keeps the runs, or "" if a file does.
func (j journalPlace) database() (string, error) {
	at := cmp.Or(j.setup.journal, j.setup.config.Journal)
	if err := agentconfig.CheckJournal(at); err != nil {
		return "", cli.Usage("--journal: %w", err)
	}
	if !strings.Contains(at, "://") {
		return "", nil
	}
	return at, nil
}

// journalPath returns the file that keeps the runs. It is a usage error if a database does.
func (j journalPlace) journalPath() (string, error) {
	database, err := j.database()
	if err != nil {
		return "", err
	}
	if database != "" {
		return "", cli.Usage("the runs are in the database %s, and this command needs a journal in a file: "+
			"use an `agentd serve` of the database with --addr or --target, and PostgreSQL's own tools for backups", postgres.Name(database))
	}
	switch {
	case j.setup.journal != "":
		path, err := filepath.Abs(j.setup.journal)
		if err != nil {
			return "", fmt.Errorf("--journal: %w", err)
		}
		return path, nil
	case j.setup.config.Journal != "":
		return j.setup.config.Journal, nil
	case j.setup.config.State != "":
		return filepath.Join(j.setup.config.State, journalName), nil
	}
	return filepath.Join(trust.Dir(j.setup.process.Getenv), journalName), nil
}

// journalName is the name of the journal in the state folder.
const journalName = "runs.db"

// closeAll closes the closers in reverse order, and joins their errors to err.
func closeAll(err error, closers ...func() error) error {
	for i := len(closers) - 1; i >= 0; i-- {
		err = errors.Join(err, closers[i]())
	}
	return err
}

// stateFolder returns the folder of agentd's state, apart from a journal that is elsewhere.
func (s *setup) stateFolder() string { return cmp.Or(s.config.State, trust.Dir(s.process.Getenv)) }
