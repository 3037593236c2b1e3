package reaper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// state is everything that a reaper process has to know. Each message contains the complete state.
// So a restarted reaper process knows as much as the first, and the next message replaces a lost
// one.
type state struct {
	Token  string    `json:"token"`   // the first part of the marks
	RunDir *file     `json:"run_dir"` // nil: none
	Groups []proc.ID `json:"groups"`  // by their leaders
	// Sockets are the files that the toolhost listens on.
	Sockets []*file `json:"sockets,omitempty"`
	// Cgroups are the folders of the toolhost's control groups.
	Cgroups []string `json:"cgroups,omitempty"`
}

// file identifies a file or folder. Another one that gets its name later is not removed.
type file struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Modified is the time at which a socket was made, in nanoseconds since 1970. File systems
	// reuse inode numbers at once, so that the socket of the next toolhost often has the same
	// number. 0 for folders, whose time changes.
	Modified int64 `json:"modified"`
}

func look(path string) (*file, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
		return nil, fmt.Errorf("%q is not an absolute path of something to remove", path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("this operating system does not tell one file from another")
	}
	f := &file{Path: filepath.Clean(path), Device: uint64(sys.Dev), Inode: uint64(sys.Ino)}
	if info.Mode().Type() == os.ModeSocket {
		f.Modified = info.ModTime().UnixNano()
	}
	return f, nil
}

// remove removes f and, if it is a folder, its content.
func (f *file) remove() error {
	if f == nil {
		return nil
	}
	now, err := look(f.Path)
	if errors.Is(err, os.ErrNotExist) || err == nil && *now != *f {
		return nil
	}
	if err != nil {
		return err
	}
	return rmtree.Remove(f.Path)
}
