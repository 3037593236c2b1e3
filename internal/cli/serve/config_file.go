package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/internal/plugin/sandbox"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// TrustStore returns the trust records of the user.
func TrustStore(getenv func(string) string) *trust.Store { return trust.NewStore(trust.Dir(getenv)) }

// distrust adds the exit code to the error of a file that is not trusted.
func distrust(err error) error {
	if _, ok := errors.AsType[*trust.Untrusted](err); ok {
		return &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
	}
	return err
}

// configFile reads the file that the arguments name, or the file that it finds on the search path.
// The zero File means that there is none. configFile does not check whether the file is trusted;
// see trustConfig.
func configFile(getenv func(string) string, args []string) (trust.File, error) {
	if len(args) > 0 {
		if args[0] == "" {
			return trust.File{}, cli.Usage("the name of the configuration file is empty")
		}
		file, err := trust.Read(args[0], true)
		if err != nil {
			return file, cli.Usage("%w", err)
		}
		return file, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return trust.File{}, fmt.Errorf("looking for the configuration: %w", err)
	}
	file, err := TrustStore(getenv).Find(config.FileName, getenv, cwd)
	return file, distrust(err)
}

// loadConfig decodes a file, or returns the defaults if there is none. An invalid file is a usage
// error.
func loadConfig(file trust.File) (config.Config, error) {
	if file.Path == "" {
		return config.Default(), nil
	}
	c, err := config.LoadText(file.Path, file.Data)
	if found, ok := errors.AsType[config.Errors](err); ok {
		err = fmt.Errorf("%s has %s:\n%w", file.Path, cli.Count(len(found), "error"), found)
	}
	if err != nil {
		return c, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return c, nil
}

// trustConfig refuses a file that a plugin could have written and that the operator has not
// trusted. writable are the folders that plugins may write under this configuration. The trust
// store records the folders of earlier configurations.
func trustConfig(getenv func(string) string, file trust.File, writable []string) error {
	if file.Path == "" {
		return nil
	}
	file.Writable = writable
	return distrust(TrustStore(getenv).Check(file))
}

// noteDistrust prints that `toolhost serve` would refuse the file that the command uses.
func noteDistrust(w io.Writer, err error) error {
	if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
		fmt.Fprintf(w, "%s: note: `toolhost serve` refuses this file: %s\n", cli.Toolhost, cli.OneLine(untrusted.Error()))
		return nil
	}
	return err
}

// writableFolders returns the folders that at least one plugin may write. The paths of the
// configuration are absolute.
func writableFolders(c *config.Config) []string {
	var folders []string
	add := func(s config.Sandbox) {
		if s.Mode == string(sandbox.ModeOff) || tool.Access(s.Workspace) == tool.AccessWrite {
			folders = append(folders, c.Workspace)
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
	store := TrustStore(getenv)
	return func(path string, data []byte) error {
		return distrust(store.Check(trust.File{Path: path, Data: data, Named: named, Writable: writable}))
	}
}

// WriteLock writes a lock file and trusts it, because the operator has just allowed its content. It
// records the trust first: a running toolhost can read the file as soon as the file is there.
func WriteLock(getenv func(string) string, path string, lock manifest.Lock) error {
	if err := TrustStore(getenv).TrustFile(path, []byte(lock.String())); err != nil {
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
	return TrustStore(o.getenv)
}
