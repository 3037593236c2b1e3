package commands

import (
	"fmt"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// configuration describes agentd.yaml. The file decides where agentd sends the keys of models
// (base_url and api_key_env), so agentd must not use a file that a plugin wrote.
func configuration() *configfile.Program[agentconfig.Config] {
	return &configfile.Program[agentconfig.Config]{
		Name: program, User: "agentd run", FileName: trust.AgentdFile, Page: "docs/agentd.md",
		Default: agentconfig.Default, Load: agentconfig.Parse, Complete: complete, YAML: (*agentconfig.Config).YAML, References: references,
		Summary: func(c *agentconfig.Config) string {
			return fmt.Sprintf("%s, %s", cli.Count(len(c.Models), "model"), cli.Count(len(c.Agents), "agent"))
		},
	}
}

// complete replaces empty settings by the defaults of this machine and user.
func complete(c *agentconfig.Config, getenv func(string) string) error {
	if c.Listen == "" {
		c.Listen = address.Default(program, getenv).String()
	}
	if c.State == "" {
		c.State = trust.Dir(getenv)
	}
	if c.Audit.File == "" {
		c.Audit.File = filepath.Join(c.State, auditName)
	}
	if c.Journal == "" {
		c.Journal = filepath.Join(c.State, journalName)
	}
	return nil
}
