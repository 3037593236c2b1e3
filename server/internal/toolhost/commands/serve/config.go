package serve

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// configuration describes toolhost.yaml.
func configuration() *configfile.Program[config.Config] {
	return &configfile.Program[config.Config]{
		Name: cli.Toolhost, User: "toolhost serve", FileName: config.FileName, Page: "docs/configuration.md",
		Default: config.Default, Load: config.Parse, Complete: resolve, YAML: (*config.Config).YAML, References: references,
		Summary: func(c *config.Config) string {
			return fmt.Sprintf("%s, settings of %s", cli.Count(len(c.Folders), "plugin folder"), cli.Count(len(c.ByPlugin), "plugin"))
		},
		ShowNote: "Of each plugin, it prints the keys that differ from the defaults.",
	}
}

// NewConfigCommand returns the command `config`, with more subcommands.
func NewConfigCommand(p cli.Process, more ...*cobra.Command) *cobra.Command {
	cmd := configuration().Command(p)
	cmd.AddCommand(more...)
	return cmd
}

// resolve replaces empty settings by the defaults of this machine and user.
func resolve(c *config.Config, getenv func(string) string) error {
	if c.Listen == "" {
		c.Listen = address.Default(cli.Toolhost, getenv).String()
	}
	if c.State == "" {
		c.State = trust.Dir(getenv)
	}
	paths := []*string{&c.State, &c.LockFile}
	if c.Workspace.Backend == config.LocalBackend {
		paths = append(paths, &c.Workspace.Folder)
	}
	for _, path := range paths {
		// an empty path becomes the current folder, the default of the workspace
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("looking for the current folder: %w", err)
		}
		*path = abs
	}
	if c.Audit.File == "" {
		c.Audit.File = filepath.Join(c.State, AuditFile)
	}
	return nil
}
