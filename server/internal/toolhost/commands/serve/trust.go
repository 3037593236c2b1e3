package serve

import (
	"fmt"
	"os"
	"slices"

	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// writableFolders returns the folders that at least one plugin may write. The configuration must
// have absolute paths.
func writableFolders(c *config.Config) []string {
	var folders []string
	add := func(s config.Sandbox) {
		if c.Workspace.Backend == config.LocalBackend && (s.Mode == string(sandbox.ModeOff) || tool.Access(s.Workspace) == tool.AccessWrite) {
			folders = append(folders, c.Workspace.Folder)
		}
		folders = append(folders, s.Write...)
	}
	add(c.Defaults.Sandbox)
	for _, plugin := range c.ByPlugin {
		add(plugin.Sandbox)
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// lockTrust returns a function that decides whether toolhost may use the content of a
// toolhost.lock. named says that a flag or a trusted configuration names the file. Otherwise
// toolhost found the file in the current folder. writable has the folders that tools may write.
func lockTrust(getenv func(string) string, named bool, writable []string) func(path string, data []byte) error {
	store := trust.NewUserStore(getenv)
	return func(path string, data []byte) error {
		return configfile.TrustError(store.Check(trust.File{Path: path, Data: data, Named: named, Writable: writable}))
	}
}

// WriteLock writes a lock file and trusts it, because the operator has just allowed its content. It
// records the trust first: a running toolhost can read the file as soon as the file is there.
func WriteLock(getenv func(string) string, path string, lock manifest.Lock) error {
	if err := trust.NewUserStore(getenv).TrustFile(path, []byte(lock.String())); err != nil {
		return err
	}
	return manifest.WriteLock(path, lock)
}

// ReadLock reads a lock file for a change. It refuses a file that is not trusted, because the
// change would trust what a tool wrote into it.
func ReadLock(getenv func(string) string, path string) (manifest.Lock, error) {
	return manifest.ReadLock(path, func(path string, data []byte) error {
		cwd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("finding the current folder: %w", err)
		}
		return lockTrust(getenv, true, []string{cwd})(path, data)
	})
}

// pluginTrust returns the trust records that limit the declarations of plugins. It returns nil if
// all plugins are trusted.
func (o *Options) pluginTrust() *trust.Store {
	if o.TrustsAll {
		return nil
	}
	return trust.NewUserStore(o.getenv)
}
