package tokenstore

import (
	"bytes"
	"context"
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
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

const (
	// fileSuffix and lockSuffix follow the name of the program, because toolhost and agentd can have
	// the same state folder.
	fileSuffix  = "-tokens.json"
	lockSuffix  = "-tokens.lock"
	fileVersion = 1
	// maxFileBytes bounds the file. A record has about 400 bytes, so it is enough for maxRecords.
	maxFileBytes = 16 << 20
	// maxRecords bounds what a server keeps in memory. The oldest token that is not valid makes room.
	maxRecords = 10_000
	// keepInvalid is how long the record of an expired or revoked token stays. Until then, the log
	// says that it expired or was revoked, and not that it is unknown.
	keepInvalid = 90 * 24 * time.Hour
)

// content is the format of the file.
type content struct {
	Version int      `json:"version"`
	Tokens  []Record `json:"tokens"`
}

// open opens the file and reads it. It returns nil without an error if there is no file. The caller
// must close the file.
func open(path string) (*os.File, *content, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &content{Version: fileVersion}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := read(file)
	if err != nil {
		_ = file.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, c, nil
}

func read(file *os.File) (*content, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFileBytes)
	}
	var c content
	if json.Unmarshal(data, &c) == nil && c.Version > fileVersion {
		return nil, fmt.Errorf("a newer program wrote the file (version %d)", c.Version)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	c = content{}
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	if c.Version != fileVersion {
		return nil, fmt.Errorf("the file is damaged: it has version %d", c.Version)
	}
	return &c, nil
}

// private returns an error for a file that another user than root could have written or can read. A
// hash is useless for a reader, but other users need not know names and tenants.
func private(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 && os.Geteuid() != 0:
		return fmt.Errorf("it belongs to another user (uid %d)", stat.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return errors.New("other users can read or change it; run: chmod 600, and revoke its tokens if you do not know since when")
	}
	return nil
}

// change calls f to change the content and replaces the file. It holds a kernel lock meanwhile, so
// that concurrent changes of several processes are all kept.
func (s *Store) change(ctx context.Context, f func(*content) error) error {
	if s.shared != nil {
		return s.shared.Change(ctx, func(records []Record) ([]Record, error) {
			c := &content{Tokens: records}
			err := f(c)
			return c.Tokens, err
		})
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	lock, err := filelock.Create(filepath.Join(s.folder, s.prefix+lockSuffix))
	if err != nil {
		return err
	}
	defer lock.Close() // closing releases the lock
	if err := filelock.Wait(ctx, lock); err != nil {
		return fmt.Errorf("locking the tokens: %w", err)
	}
	file, c, err := open(s.Path())
	if err != nil {
		return err
	}
	if file != nil {
		_ = file.Close()
	}
	if err := f(c); err != nil {
		return err
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if len(data) > maxFileBytes {
		return fmt.Errorf("the file would have more than %d bytes", maxFileBytes)
	}
	err = atomicfile.Fill(s.Path(), 0o600, func(file *os.File) error {
		_, err := file.Write(data)
		return errors.Join(err, giveTo(s.folder, file))
	})
	return errors.Join(err, giveTo(s.folder, lock))
}

// giveTo gives a file to the owner of the folder if root runs the program, so that the server can
// read what root wrote.
func giveTo(folder string, file *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
		return file.Chown(int(stat.Uid), int(stat.Gid))
	}
	return nil
}
