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

// trustStore returns the trust records of the user.
func TrustStore(getenv func(string) string) *trust.Store { return trust.NewStore(trust.Dir(getenv)) }

// distrust gives the error that a file is not trusted its exit code.
func distrust(err error) error {
	if _, ok := errors.AsType[*trust.Untrusted](err); ok {
		return &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
	}
	return err
}

// configFile reads the file that the arguments name, else the one that is found. The zero File means that there is none. The
// file is not checked: see trustConfig.
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

// loadConfig decodes a file, or returns the defaults if there is none. That something is wrong is wrong usage.
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

// trustConfig refuses a file that plugins may have written and that the operator did not trust. writable is what plugins may
// write under this configuration; what they could write under earlier ones is recorded.
func trustConfig(getenv func(string) string, file trust.File, writable []string) error {
	if file.Path == "" {
		return nil
	}
	file.Writable = writable
	return distrust(TrustStore(getenv).Check(file))
}

// noteDistrust says that a file is shown or tested although `toolhost serve` would refuse it.
func noteDistrust(w io.Writer, err error) error {
	if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
		fmt.Fprintf(w, "%s: note: `toolhost serve` refuses this file: %s\n", cli.Toolhost, cli.OneLine(untrusted.Error()))
		return nil
	}
	return err
}

// writableFolders returns the folders that some plugin may write. The paths of the configuration are absolute.
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

// lockTrust returns what decides whether the content of a lock file may be used. The operator named the file by a flag, or
// by a configuration that is trusted; else it was found in the current folder.
func lockTrust(getenv func(string) string, named bool, writable []string) func(path string, data []byte) error {
	store := TrustStore(getenv)
	return func(path string, data []byte) error {
		return distrust(store.Check(trust.File{Path: path, Data: data, Named: named, Writable: writable}))
	}
}

// writeLock writes a lock file, and trusts it: it holds what the operator has just allowed. The trust comes first, because a
// toolhost may look at the file as soon as it is there.
func WriteLock(getenv func(string) string, path string, lock manifest.Lock) error {
	if err := TrustStore(getenv).TrustFile(path, []byte(lock.String())); err != nil {
		return err
	}
	return manifest.WriteLock(path, lock)
}

// readLock reads a lock file to change it. What a tool wrote into it must not be trusted together with the change.
func ReadLock(getenv func(string) string, path string) (manifest.Lock, error) {
	return manifest.ReadLock(path, func(path string, data []byte) error {
		cwd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("finding the current folder: %w", err)
		}
		return lockTrust(getenv, true, []string{cwd})(path, data)
	})
}

// pluginTrust returns the records that bound what plugins declare; nil where all of them are trusted.
func (o *Options) pluginTrust() *trust.Store {
	if o.TrustsAll {
		return nil
	}
	return TrustStore(o.getenv)
}
