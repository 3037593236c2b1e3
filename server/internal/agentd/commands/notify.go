package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

const (
	maxSecretFile = 64 << 10
	maxProgram    = 64 << 20 // of a target's command
)

// passedOn are the variables that the commands of targets get. The others hold the keys of models.
var passedOn = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"}

func newNotifyCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	cmd := &cobra.Command{
		Use:   "notify TARGET",
		Short: "Send a test message to a target of notify in agentd.yaml",
		Long: "Notify reads agentd.yaml and sends one message, about nothing, to a target of notify.targets. It needs no server, and\n" +
			"does not try again. The exit code is 3 if the target did not take the message.",
		Example: "  agentd notify ops",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			settings, err := s.notifySettings()
			if err != nil {
				return err
			}
			target, known := settings.Targets[args[0]]
			if !known {
				return cli.Usage("%q is not a name of notify.targets; there are: %s", args[0], strings.Join(slices.Sorted(maps.Keys(settings.Targets)), ", "))
			}
			if err := notify.Test(cmd.Context(), target); err != nil {
				return fmt.Errorf("the target %s did not take the message: %w", args[0], err)
			}
			fmt.Fprintf(p.Out(), "the target %s took the message\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&s.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	return cmd
}

// notifySettings returns the routes and targets of the configuration, with their secrets.
func (s *setup) notifySettings() (notify.Settings, error) {
	c := &s.config.Notify
	settings := notify.Settings{Targets: make(map[string]notify.Target, len(c.Targets))}
	if s.config.Console.Listen != "" {
		settings.Pages = s.config.Console.URL
	}
	for _, name := range slices.Sorted(maps.Keys(c.Targets)) {
		t := c.Targets[name]
		target, err := s.notifyTarget("notify.targets."+name, &t)
		if err != nil {
			return settings, err
		}
		settings.Targets[name] = target
	}
	for _, r := range c.Routes {
		on := make([]notify.Kind, len(r.On))
		for i, kind := range r.On {
			on[i] = notify.Kind(kind)
		}
		settings.Routes = append(settings.Routes, notify.Route{On: on, Tenants: r.Tenants, Agents: r.Agents, Rules: r.Rules, To: r.To, Arguments: r.Arguments, Remind: r.Remind})
	}
	return settings, nil
}

func (s *setup) notifyTarget(key string, t *agentconfig.NotifyTarget) (notify.Target, error) {
	if t.Kind == "command" {
		return s.notifyProgram(key+".command", t.Command)
	}
	h := notify.HTTP{URL: t.URL, Private: t.AllowPrivate}
	if t.SecretURL.Given() {
		var err error
		if h.URL, err = s.secret(key+".secret_url", t.SecretURL); err != nil {
			return nil, err
		}
		if err := t.CheckURL(h.URL); err != nil {
			return nil, cli.Usage("%s.secret_url: %w", key, err)
		}
	}
	switch t.Kind {
	case "slack":
		return notify.Slack(h), nil
	case "ntfy":
		token := ""
		if t.Token.Given() {
			var err error
			if token, err = s.secret(key+".token", t.Token); err != nil {
				return nil, err
			}
		}
		return notify.Ntfy(h, token), nil
	}
	var keys [][]byte
	for i, place := range t.Keys {
		name := fmt.Sprintf("%s.keys[%d]", key, i)
		text, err := s.secret(name, place)
		if err != nil {
			return nil, err
		}
		signs, err := notify.ParseKey(text)
		if err != nil {
			return nil, cli.Usage("%s: %w", name, err)
		}
		keys = append(keys, signs)
	}
	return notify.Webhook(h, keys), nil
}

// notifyProgram returns a target that starts a program, which no plugin may have written.
func (s *setup) notifyProgram(key string, argv []string) (notify.Target, error) {
	data, err := readUpTo(argv[0], maxProgram)
	if err != nil {
		return nil, cli.Usage("%s: %w", key, err)
	}
	if err := s.texts.checkSteering(key, trust.File{Path: argv[0], Data: data, Named: true}); err != nil {
		return nil, err
	}
	var environment []string
	for _, name := range passedOn {
		if value := s.process.Getenv(name); value != "" {
			environment = append(environment, name+"="+value)
		}
	}
	return notify.Command(argv, environment), nil
}

// secret reads a secret from its place, and keeps it out of the log. A file of one is part of the
// configuration: whoever writes it decides where messages go.
func (s *setup) secret(key string, place agentconfig.Secret) (string, error) {
	value, at := s.process.Getenv(place.Env), "the variable "+place.Env
	if place.File != "" {
		data, err := readUpTo(place.File, maxSecretFile)
		if err != nil {
			return "", cli.Usage("%s: %w", key, err)
		}
		if err := s.texts.checkSteering(key, trust.File{Path: place.File, Data: data, Named: true}); err != nil {
			return "", err
		}
		value, at = strings.TrimRight(string(data), "\r\n"), place.File
	}
	if value == "" {
		return "", cli.Usage("%s: %s is empty; it has to hold the secret", key, at)
	}
	s.redactor.Learn(key, value)
	return value, nil
}
