package artifact

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	prefix   = "artifact-" // of handles, which are file names too
	unready  = ".writing-" // of files that are being written
	lockName = ".lock"
	// maxHeader bounds the header. Names and media types are cut so that they fit.
	maxHeader = 8 << 10
	// maxWord bounds a name and a media type in bytes, by what file systems and registries allow.
	maxWord = 255
	// fileVersion is the version of the format. It increases when an older build would misread a
	// file.
	fileVersion = 1
)

// errNewer says why the store ignores a file that a newer build wrote. The file's content is not
// damaged, so the store does not remove the file.
var errNewer = errors.New("a newer toolhost wrote it")

// entry is the header of an artifact.
type entry struct {
	Version int    `json:"version"` // 0 in files of earlier builds
	Handle  string `json:"handle"`
	Owner
	MediaType string    `json:"media_type"`
	Name      string    `json:"name,omitempty"`
	Size      int64     `json:"size"`
	Made      time.Time `json:"made"`

	begin int64 // the offset of the content in the file
}

// write creates the file of e with the content of r. If it fails, it leaves no file.
func write(root *os.Root, e *entry, r io.Reader) (err error) {
	e.Version = fileVersion
	header, err := json.Marshal(e)
	if err != nil {
		return err
	}
	header = append(header, '\n')
	e.begin = int64(len(header))
	name := unready + strings.TrimPrefix(e.Handle, prefix)
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(name))
		}
	}()
	_, err = file.Write(header)
	var written int64
	if err == nil {
		written, err = io.Copy(file, r)
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	if written != e.Size {
		return fmt.Errorf("it has %d bytes and not the %d that were announced", written, e.Size)
	}
	return root.Rename(name, e.Handle)
}

// inspect reads the header of a file. It returns an error if the file is not a complete artifact.
func inspect(root *os.Root, name string) (*entry, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(file, maxHeader), maxHeader).ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("reading its first line: %w", err)
	}
	e := &entry{begin: int64(len(line))}
	var written struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(line, &written) == nil && written.Version > fileVersion {
		return nil, errNewer
	}
	if err := json.Unmarshal(line, e); err != nil {
		return nil, fmt.Errorf("reading its first line: %w", err)
	}
	switch {
	case e.Handle != name:
		return nil, fmt.Errorf("it says that it is %q", e.Handle)
	case e.Size < 0 || info.Size()-e.begin != e.Size:
		return nil, fmt.Errorf("it holds %d bytes of %d", info.Size()-e.begin, e.Size)
	}
	return e, nil
}

// load fills the index from the folder, and removes files that are incomplete or damaged. It leaves
// files alone that are not the store's or that a newer build wrote.
func (s *Store) load() error {
	files, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	var found []*entry
	for _, d := range files {
		name := d.Name()
		switch {
		case strings.HasPrefix(name, prefix):
			e, reason := inspect(s.root, name)
			if reason == nil {
				found = append(found, e)
				continue
			}
			if errors.Is(reason, errNewer) {
				s.cfg.Logger.Warn("passing over an artifact of a newer toolhost", "artifact", name)
				continue
			}
			s.cfg.Logger.Warn("removing an artifact that is damaged", "artifact", name, "reason", reason)
		case !strings.HasPrefix(name, unready):
			continue
		}
		if err := s.root.RemoveAll(name); err != nil {
			return err
		}
	}
	slices.SortFunc(found, func(a, b *entry) int {
		return cmp.Or(a.Made.Compare(b.Made), strings.Compare(a.Handle, b.Handle))
	})
	for _, e := range found {
		s.addLocked(e)
		s.bytes += e.Size
		s.owners.add(e.Owner.Principal, e.Size, 1)
	}
	s.remove(s.evictLocked(time.Now()))
	return nil
}
