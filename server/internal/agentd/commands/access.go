package commands

import (
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// accessOf returns what the commands `token` and `auth` need of an agentd.
func accessOf(p cli.Process) access.Server {
	s := &setup{process: p}
	return access.Server{
		Program: program,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&s.file, "config", "", "configuration `FILE` of the agentd (default: as for `agentd serve`)")
		},
		Settings: func() (access.Settings, error) {
			c, _, err := configuration().Use(p.Getenv, s.file)
			if err != nil {
				return access.Settings{}, err
			}
			if err := complete(&c, p.Getenv); err != nil {
				return access.Settings{}, err
			}
			at, err := address.Parse(c.Listen)
			return access.Settings{State: c.State, Audit: c.Audit.File, Auth: c.Auth, Admits: authconfig.AdmitsOf(at, c.Insecure, c.Listeners)}, err
		},
		Rights: agentserver.Rights,
	}
}
