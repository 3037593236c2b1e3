package clientfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// backups are the backups of one file for one entry, in the state folder of the user. There is at
// most one. Its name has the digest of what connect made of the file: if the file still is that,
// the backup is what it was before. A backup for a file that did not exist is empty and has another
// ending. Only the user can read backups, because the files of clients have secrets.
type backups struct {
	state  string // the state folder
	prefix string // of the names
}

const (
	backupEnding = ".backup"
	noneEnding   = ".none" // the file did not exist
)

// digest returns enough of a digest to tell the contents of one file apart.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

func backupsOf(state, client, name, path string) backups {
	return backups{state, client + "-" + name + "-" + digest([]byte(path)) + "-"}
}

func (b backups) folder() string { return filepath.Join(b.state, "mcp-clients") }

func (b backups) path(made []byte, ending string) string {
	return filepath.Join(b.folder(), b.prefix+digest(made)+ending)
}

// of returns the backup of a file that is byte for byte what connect made of it. ok is false if it
// is not, or there is none.
func (b backups) of(f *file) (data []byte, existed, ok bool) {
	if _, err := os.Lstat(b.path(f.data, noneEnding)); err == nil {
		return nil, false, true
	}
	saved, err := readFile(b.path(f.data, backupEnding), "")
	if err != nil || !saved.exists {
		return nil, false, false
	}
	return saved.data, true, true
}

// save stores what the file has before made is written. A file that is what connect made of it
// keeps the backup of what it was before that. existed is false if the file did not exist, and the
// backup is empty.
func (b backups) save(f *file, made []byte) (path string, existed bool, err error) {
	data, existed, ok := b.of(f)
	if !ok {
		data, existed = f.data, f.exists
	}
	if err := trust.Secure(b.state); err != nil {
		return "", false, err
	}
	path = b.path(made, backupEnding)
	if !existed {
		path = b.path(made, noneEnding)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", false, err
	}
	return path, existed, atomicfile.Write(path, data, 0o600)
}

// clear removes all backups but one.
func (b backups) clear(except string) error {
	folder := b.folder()
	all, err := os.ReadDir(folder)
	for _, entry := range all {
		path := filepath.Join(folder, entry.Name())
		if path == except || !strings.HasPrefix(entry.Name(), b.prefix) {
			continue
		}
		if removed := os.Remove(path); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}
