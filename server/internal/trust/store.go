package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/internal/store/ownership"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

const (
	storeName = "trust.json"
	// lockName is the name of the file that is locked during a change. It is empty until the first
	// change has ended, and has the word written then, so that the loss of the records is noticed.
	lockName = "trust.lock"
	written  = "written\n"
	// storeVersion is the version of the file's format. It increases with every field that is
	// added, because an older program refuses a field that it does not know.
	storeVersion = 1
	// maxStoreBytes bounds the file. A user trusts at most thousands of files and plugins.
	maxStoreBytes = 64 << 20
)

// Store holds the trust records of one user. Several processes may use the same folder: each change
// holds a kernel lock while it reads the file, changes it and replaces it, and readers see the file
// before or after a change. All methods are safe for concurrent use. All methods return an error if
// the file is damaged, has another version, or could be changed by another user: a guess could
// trust what the user never agreed to.
type Store struct {
	dir string
	now func() time.Time
}

// NewStore returns the store in a folder, which need not exist.
func NewStore(dir string) *Store { return &Store{dir: dir, now: time.Now} }

// NewUserStore returns the store of the user whose environment getenv looks up; see Dir.
func NewUserStore(getenv func(string) string) *Store { return NewStore(Dir(getenv)) }

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// records is the format of the file.
type records struct {
	Version  int                   `json:"version"`
	Files    map[string]FileRecord `json:"files,omitempty"`    // by path
	Writable []string              `json:"writable,omitempty"` // folders that plugins could write, by path
	// WritableIDs are the identities of folders that plugins could write, the oldest first.
	WritableIDs []identity `json:"writable_ids,omitempty"`

	Folders map[string]*Folder `json:"folders,omitempty"` // of plugins, by path
	Order   uint64             `json:"order,omitempty"`   // the number of the last name that was given
}

func (s *Store) path() string { return filepath.Join(s.dir, storeName) }

// read returns the records; empty ones if there is no file.
func (s *Store) read() (*records, error) {
	r := &records{Version: storeVersion}
	if err := checkHomeless(s.dir); err != nil {
		return nil, fmt.Errorf("reading the trust records: %w", err)
	}
	file, err := os.OpenFile(s.path(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return r, s.checkLost()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the trust records: %w", err)
	}
	defer file.Close()
	if err := owned(file, s.dir); err != nil {
		return nil, fmt.Errorf("reading the trust records: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxStoreBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the trust records: %w", err)
	}
	if err := r.decode(data); err != nil {
		if newer := checkVersion(data); newer != nil {
			return nil, fmt.Errorf("the trust records in %s %w", s.path(), newer)
		}
		return nil, fmt.Errorf("the trust records in %s are damaged: %w; "+
			"move the file away and trust again what is wanted: toolhost trust", s.path(), err)
	}
	return r, nil
}

// checkLost returns an error if there were records once. A program that goes on without them would
// trust, as if it used them for the first time, files and plugins that tools may have written.
func (s *Store) checkLost() error {
	lock := filepath.Join(s.dir, lockName)
	if info, err := os.Lstat(lock); err != nil || info.Size() == 0 {
		return nil
	}
	return fmt.Errorf("the trust records %s are lost: the file does not exist, and %s shows that it did; restore it from a backup; "+
		"or look at the configuration files and the plugin folders, which are trusted then as they are, and remove %s", s.path(), lock, lock)
}

// checkVersion returns an error if a newer program wrote the records. It reads only the version,
// because a newer program may have written fields that this one does not know.
func checkVersion(data []byte) error {
	var written struct {
		Version int `json:"version"`
	}
	if len(data) > maxStoreBytes || json.Unmarshal(data, &written) != nil || written.Version <= storeVersion {
		return nil // decode has said what is wrong
	}
	return fmt.Errorf("were written by a newer toolhost: they have version %d, and this one knows versions up to %d; "+
		"use the newer toolhost, or set XDG_STATE_HOME to another folder", written.Version, storeVersion)
}

func (r *records) decode(data []byte) error {
	if len(data) > maxStoreBytes {
		return fmt.Errorf("the file has more than %d bytes", maxStoreBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	r.Version = 0
	if err := decoder.Decode(r); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the records")
	}
	if r.Version != storeVersion {
		return fmt.Errorf("they have version %d, and this program knows version %d", r.Version, storeVersion)
	}
	for path, folder := range r.Folders {
		if folder == nil || folder.Plugins == nil {
			return fmt.Errorf("the folder %q has no records", path)
		}
		for name, plugin := range folder.Plugins {
			if plugin == nil {
				return fmt.Errorf("the plugin %q in %q has no record", name, path)
			}
		}
	}
	return nil
}

// owned returns an error for a file or folder that another user than root could change.
func owned(file *os.File, dir string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", file.Name())
	}
	folder, err := os.Stat(dir)
	if err != nil {
		return err
	}
	for path, info := range map[string]fs.FileInfo{file.Name(): info, dir: folder} {
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
			return fmt.Errorf("%s belongs to another user (uid %d); set XDG_STATE_HOME to a folder of your own", path, stat.Uid)
		case ownership.Shared(info):
			return fmt.Errorf("%s can be changed by other users; run: chmod go-w %s", path, path)
		}
	}
	return nil
}

// change calls f to change the records, and writes them unless f returns false or an error.
func (s *Store) change(f func(r *records) (bool, error)) error {
	if err := Secure(s.dir); err != nil {
		return fmt.Errorf("writing the trust records: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("writing the trust records: %w", err)
	}
	lock, err := filelock.Create(filepath.Join(s.dir, lockName))
	if err != nil {
		return fmt.Errorf("writing the trust records: %w", err)
	}
	defer lock.Close() // closing releases the lock
	if err := filelock.Lock(lock); err != nil {
		return fmt.Errorf("locking the trust records: %w", err)
	}
	r, err := s.read()
	if err != nil {
		return err
	}
	changed, err := f(r)
	if err != nil || !changed {
		return err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil && len(data) > maxStoreBytes {
		err = fmt.Errorf("%s would have more than %d bytes, and no program would read it", s.path(), maxStoreBytes)
	}
	if err == nil {
		err = atomicfile.Write(s.path(), data, 0o600)
	}
	if err == nil {
		_, err = lock.WriteAt([]byte(written), 0)
	}
	if err != nil {
		return fmt.Errorf("writing the trust records: %w", err)
	}
	return nil
}
