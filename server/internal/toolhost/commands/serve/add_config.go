package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// Addition is a key that a command adds to toolhost.yaml.
type Addition struct {
	Path  []string // the keys that lead to it
	Value string   // the text of its value, on one line
}

// String returns the addition as a line that a person can write into the file.
func (a Addition) String() string {
	text := a.Value
	for i := len(a.Path) - 1; i > 0; i-- {
		text = fmt.Sprintf("{%s: %s}", a.Path[i], text)
	}
	return a.Path[0] + ": " + text
}

// ConfigChange is a change of toolhost.yaml that can be undone.
type ConfigChange struct {
	Path          string // of the file
	before, after []byte // before is nil if there was no file
	getenv        func(string) string
	trusted       bool // a trust record has the content
}

// AddConfig adds keys to the configuration file that `toolhost serve` would use, or to a new one in
// the operator's folder of configuration if there is none. named is the file of --config, or empty.
//
// It changes only a file that the operator trusts, and nothing but the keys: comments and all other
// settings stay. The record of a trusted file gets the new content, because the operator has just
// asked for it.
func AddConfig(getenv func(string) string, named string, additions []Addition) (*ConfigChange, error) {
	file, err := configuration().Read(getenv, named)
	if err != nil {
		return nil, err
	}
	c := &ConfigChange{Path: file.Path, before: file.Data, after: file.Data, getenv: getenv}
	if file.Path == "" {
		folder := trust.ConfigDir(getenv)
		if folder == "" {
			return nil, errors.New("there is no folder for toolhost.yaml; set HOME or XDG_CONFIG_HOME")
		}
		c.Path, c.before = filepath.Join(folder, config.FileName), nil
	}
	// paths of the file are relative to its folder, also those that it does not name
	old, err := configuration().Decode(trust.File{Path: c.Path, Data: c.before})
	if err != nil {
		return nil, err
	}
	resolved := old
	if err := resolve(&resolved, getenv); err != nil {
		return nil, err
	}
	if err := configfile.CheckTrust(getenv, file, writableFolders(&resolved)); err != nil {
		return nil, err
	}
	for _, a := range additions {
		if c.after, err = yamldoc.Insert(c.Path, c.after, a.Path, a.Value); err != nil {
			return nil, fmt.Errorf("adding %s to the configuration: %w", strings.Join(a.Path, "."), err)
		}
	}
	if err := c.check(&old, additions); err != nil {
		return nil, err
	}
	return c, c.write()
}

// check reports an addition that changes more than its own keys, or that the file cannot have.
func (c *ConfigChange) check(old *config.Config, additions []Addition) error {
	now, err := configuration().Decode(trust.File{Path: c.Path, Data: c.after})
	if err != nil {
		return fmt.Errorf("adding to the configuration: %w", err)
	}
	for _, change := range config.Diff(old, &now) {
		expected := func(a Addition) bool {
			path := strings.Join(a.Path, ".")
			return change.Key == path || strings.HasPrefix(change.Key, path+".") || strings.HasPrefix(path, change.Key+".")
		}
		if !slices.ContainsFunc(additions, expected) {
			return fmt.Errorf("adding to the configuration: %s would change, too; write into %s yourself: %v", change.Key, c.Path, additions)
		}
	}
	return nil
}

func (c *ConfigChange) write() error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if c.before != nil {
		_, known, err := trust.NewUserStore(c.getenv).File(c.Path)
		if err != nil {
			return err
		}
		c.trusted = known
	}
	return c.replace(c.before, c.after)
}

// Undo restores the file, unless another program has changed it since.
func (c *ConfigChange) Undo() error {
	if c.before == nil {
		data, err := os.ReadFile(c.Path)
		if err != nil || !bytes.Equal(data, c.after) {
			return err
		}
		return os.Remove(c.Path)
	}
	return c.replace(c.after, c.before)
}

// replace writes the file in one step if it still has the content from. A trust record is changed
// first, because a running toolhost can read the file as soon as it is there.
func (c *ConfigChange) replace(from, to []byte) error {
	path, err := filepath.EvalSymlinks(c.Path)
	if errors.Is(err, fs.ErrNotExist) && from == nil {
		path, err = c.Path, nil
	}
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if now, err := os.ReadFile(path); err == nil && !bytes.Equal(now, from) {
		return fmt.Errorf("writing the configuration: %s has changed meanwhile", c.Path)
	}
	if c.trusted {
		if err := trust.NewUserStore(c.getenv).TrustFile(c.Path, to); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(path, to, mode); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	return nil
}
