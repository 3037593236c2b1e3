package serve

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// Access returns what the commands `token` and `auth` need of a toolhost.
func Access(p cli.Process) access.Server {
	var flags Flags
	return access.Server{
		Program: cli.Toolhost,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&flags.Config, "config", "", "configuration `FILE` of the toolhost (default: as for `toolhost serve`)")
			f.StringVar(&flags.StateDir, "state", "", "state folder `DIR` of the toolhost (default: as for `toolhost serve`)")
		},
		Settings: func() (access.Settings, error) {
			c, err := flags.read(p.Getenv)
			if err != nil {
				return access.Settings{}, err
			}
			at, err := address.Parse(c.Listen)
			settings := access.Settings{
				State: c.State, Audit: c.Audit.File, Auth: c.Auth,
				Admits: authconfig.AdmitsOf(at, c.Insecure, slices.Concat(c.Listeners, c.MCP.Listeners)),
			}
			if c.Records != "" {
				settings.Shared = func(ctx context.Context) (tokenstore.Shared, func() error, error) {
					store, err := openGrants(ctx, c.Records, nil)
					if err != nil {
						return nil, nil, err
					}
					return store.Tokens(), store.Close, nil
				}
			}
			return settings, err
		},
		Rights: hostserver.Rights,
	}
}
