package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/manifest"
	"github.com/toolhost/toolhost/tool"
)

func newLockCommand(p cli.Process) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	var file string
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Write a lock file that allows the plugins in service and no others",
		Long: "Lock writes a lock file that pins each plugin in service to the digest that it has now. `toolhost serve --locked`\n" +
			"runs these plugins at these digests and nothing else. Without --file it is toolhost.lock in the current folder.",
		Example: "  toolhost lock\n  toolhost serve --plugins plugins --locked",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := absolute("--file", file)
			if err != nil {
				return err
			}
			return conn.with(func(c *client.Client) error {
				plugins, err := c.Plugins(cmd.Context())
				if err != nil {
					return err
				}
				return writeLock(p, path, plugins, format.JSON())
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "toolhost.lock", "the `FILE` to write")
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// lockView is what `lock -o json` prints.
type lockView struct {
	File    string            `json:"file"`
	Plugins map[string]string `json:"plugins"` // digests by name
}

func writeLock(p cli.Process, path string, plugins []tool.PluginInfo, asJSON bool) error {
	lock := manifest.Lock{}
	view := lockView{File: path, Plugins: map[string]string{}}
	for _, plugin := range plugins {
		if plugin.State == tool.PluginDisabled || plugin.Digest == "" {
			continue // it is not in service
		}
		lock[plugin.Name] = manifest.Pin{Version: plugin.Version, Digest: plugin.Digest}
		view.Plugins[plugin.Name] = plugin.Digest
	}
	if err := manifest.WriteLock(path, lock); err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, view)
	}
	_, err := fmt.Fprintf(p.Stdout, "%s allows %s: run toolhost serve with --locked, and with --lock-file if it is not in that folder\n",
		filepath.Base(path), count(len(lock), "plugin"))
	return err
}
