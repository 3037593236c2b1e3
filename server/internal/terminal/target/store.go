package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/internal/store/ownership"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// maxFileBytes bounds the file. A user has at most hundreds of targets.
const maxFileBytes = 1 << 20

// targets is the format of the file.
type targets struct {
	Current string            `json:"current,omitempty"` // "": Local
	Targets map[string]Target `json:"targets"`
}

// names returns the names of the targets in order.
func (t *targets) names() []string { return slices.Sorted(maps.Keys(t.Targets)) }

// store is the file with a user's targets of one program. Several processes may use it: a change
// holds a kernel lock while it reads the file and replaces it.
type store struct {
	program string
	getenv  func(string) string
}

// path returns the path of the file.
func (s store) path() (string, error) {
	folder := trust.ConfigDir(s.getenv)
	if folder == "" {
		return "", errors.New("there is no folder for targets; set HOME or XDG_CONFIG_HOME to an absolute path")
	}
	return filepath.Join(folder, s.program+"-targets.json"), nil
}

// read returns the targets, and none if there is no file. It refuses a file that another user or a
// tool may have written.
func (s store) read() (*targets, error) {
	t := &targets{Targets: map[string]Target{}}
	path, err := s.path()
	if err != nil {
		return t, nil // without a folder there is no file
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the targets: %w", err)
	}
	defer file.Close()
	if err := private(path, file); err != nil {
		return nil, &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the targets: %w", err)
	}
	if err := s.trusted(path, data); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(t); err != nil || len(data) > maxFileBytes {
		return nil, fmt.Errorf("the file of targets %s cannot be read: %w; repair or remove it", path, errors.Join(err))
	}
	if t.Targets == nil {
		t.Targets = map[string]Target{}
	}
	return t, nil
}

// trusted returns an error if a tool can have written the content, and the user has not agreed to
// it.
func (s store) trusted(path string, data []byte) error {
	err := configfile.CheckTrust(s.getenv, trust.File{Path: path, Data: data, Named: true}, nil)
	if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
		untrusted.Help = "read it, and if you want what it says run: toolhost trust " + trust.Quote(path)
	}
	return err
}

// private returns an error if a user other than this one and root can write the file, replace it,
// or read it.
func private(path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("reading the targets: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; remove it", path)
	}
	if err := owned(path, info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s has mode %04o, and only you may read and write it; check its content and run: chmod 600 %s", path, mode, trust.Quote(path))
	}
	folder := filepath.Dir(path)
	info, err = os.Stat(folder)
	if err != nil {
		return fmt.Errorf("reading the targets: %w", err)
	}
	if err := owned(folder, info); err != nil {
		return err
	}
	if ownership.Shared(info) {
		return fmt.Errorf("the folder %s has mode %04o, so that others could replace your targets; check the targets and run: chmod go-w %s", folder, info.Mode().Perm(), trust.Quote(folder))
	}
	return nil
}

func owned(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Getuid() || stat.Uid == 0 {
		return nil
	}
	return fmt.Errorf("%s belongs to another user (uid %d); remove it", path, stat.Uid)
}

// change reads the targets, lets f change them, and replaces the file.
func (s store) change(f func(*targets) error) error {
	path, err := s.path()
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("creating the folder of the targets: %w", err)
	}
	lock, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("writing the targets: %w", err)
	}
	defer lock.Close() // releases the lock
	if err := filelock.Lock(lock); err != nil {
		return fmt.Errorf("locking the folder of the targets: %w", err)
	}
	t, err := s.read()
	if err != nil {
		return err
	}
	if err := f(t); err != nil {
		return err
	}
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the targets: %w", err)
	}
	if s.trusted(path, data) == nil {
		return nil
	}
	// The folder is one that tools may write. The user has agreed to what the file had before, and
	// this change is a command of the user.
	return trust.NewUserStore(s.getenv).TrustFile(path, data)
}
