package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/contentlink"
	"github.com/toolhost/toolhost/server/internal/toolhost/sparse"
	"github.com/toolhost/toolhost/tool"
)

// store keeps copies of plugins by their digests, with the description of each digest. toolhost
// runs the copy, so that no process can change a plugin between the check and its use.
//
// A digest has a folder, STORE/HEX. It holds about.json, the folder files with a copy under the
// name that the plugin has in its source, and the folder cache with data that can be created again.
// The store moves everything but the cache into place as a whole. After a power failure, the store
// detects an incomplete copy by its size, and makes it again. Copies of plugin folders share equal
// files in the folder STATE/shared. All methods are safe for concurrent use.
type store struct {
	dir    string
	shared *contentlink.Folder

	// placing is held while a finished copy moves to its place. Two sources with the same content have
	// one digest, and a load reads them at the same time: without the mutex, the second one would take
	// away the copy that the first one relies on.
	placing sync.Mutex
}

// about is the record of a digest. Until the digest is asked, only Files and Bytes are set.
type about struct {
	Files   int      `json:"files"` // number of files in its copy
	Bytes   int64    `json:"bytes"` // size of its copy
	InPlace bool     `json:"in_place,omitempty"`
	Leave   []string `json:"leave,omitempty"` // links that lead out of it, to files that are not pinned

	Unanswered  string            `json:"unanswered,omitempty"` // why it did not describe itself when it was asked last
	Description *tool.Description `json:"description,omitempty"`
	// OwnFilters says that Description has the tools to which filters apply. Records of earlier
	// versions do not have them.
	OwnFilters  bool           `json:"own_filters,omitempty"`
	SchemaCheck string         `json:"schema_check,omitempty"` // the version of the rules that Refused is the result of
	Refused     refusedSchemas `json:"refused,omitempty"`
}

func storeDir(stateDir string) string { return filepath.Join(stateDir, "store") }

func openStore(stateDir string) (*store, error) {
	s := &store{dir: storeDir(stateDir), shared: contentlink.At(filepath.Join(stateDir, "shared"), 0o700)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the store of plugins: %w", err)
	}
	return s, nil
}

func (s *store) home(digest string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))
}

// path returns the path of a digest's copy, under the name of its source.
func (s *store) path(digest, source string) string {
	return filepath.Join(s.home(digest), "files", filepath.Base(source))
}

// cache returns the path of a digest's cache folder.
func (s *store) cache(digest string) string { return filepath.Join(s.home(digest), "cache") }

// about returns the record of a digest; false if there is no valid record.
func (s *store) about(digest string) (about, bool) {
	var a about
	data, err := os.ReadFile(filepath.Join(s.home(digest), "about.json"))
	return a, err == nil && json.Unmarshal(data, &a) == nil && a.Files > 0
}

// remember writes the record of a digest.
func (s *store) remember(digest string, a about) error {
	data, err := json.Marshal(a)
	if err == nil {
		err = os.MkdirAll(s.home(digest), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteUnsynced(filepath.Join(s.home(digest), "about.json"), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing what a plugin is: %w", err)
	}
	return nil
}

// holds reports whether the complete copy of a digest exists.
func (s *store) holds(digest, source string, a about) bool {
	files, total := 0, int64(0)
	err := filepath.WalkDir(s.path(digest, source), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if passedOver(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return err == nil && files == a.Files && total == a.Bytes
}

// errChanging says that a plugin changed while the catalog read it.
var errChanging = errors.New("it changed while it was read; it is read again by `toolhost reload`")

// takeFile copies and hashes an executable, and returns its digest.
func (s *store) takeFile(ctx context.Context, found entry) (string, error) {
	in, err := os.Open(found.source)
	if err != nil {
		return "", err
	}
	defer in.Close()
	temp, err := os.MkdirTemp(s.dir, tempPattern)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	copied := filepath.Join(temp, "file")
	hash := sha256.New()
	size, err := copyFile(ctx, copied, in, 0o500, hash)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(found.source)
	if err != nil {
		return "", err
	}
	if stampOf(info) != found.stamp {
		return "", errChanging
	}
	digest := "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return digest, s.keep(digest, found.source, copied, about{Files: 1, Bytes: size})
}

// keep moves a copy to its place. An existing record of the digest stays.
func (s *store) keep(digest, source, copied string, a about) error {
	s.placing.Lock()
	defer s.placing.Unlock()
	known, ok := s.about(digest)
	if ok && known.Files == a.Files && known.Bytes == a.Bytes && known.InPlace == a.InPlace {
		if a.InPlace || s.holds(digest, source, a) {
			return nil
		}
	} else if err := s.remember(digest, a); err != nil {
		return err
	}
	if a.InPlace {
		return nil
	}
	path := s.path(digest, source)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := rmtree.Remove(path); err != nil {
		return err
	}
	if err := os.Rename(copied, path); err != nil {
		return err
	}
	// The folder becomes read-only, so that no file can appear beside the hashed ones. That happens
	// after the move, because a read-only folder cannot be moved.
	return os.Chmod(path, 0o500)
}

// tempPattern is the name of incomplete files in the store. No digest has such a name.
const tempPattern = "new-*"

// copyFile writes a new file, adds its content to the hash, and returns its size.
func copyFile(ctx context.Context, path string, in io.Reader, mode fs.FileMode, hash io.Writer) (int64, error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err := sparse.Copy(out, io.TeeReader(&contextReader{ctx, in}, hash))
	if err == nil {
		err = out.Chmod(mode)
	}
	// The file is closed before it runs, because a file that is open for writing cannot be
	// executed.
	return size, errors.Join(err, out.Close())
}

// contextReader ends a long copy with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// sweep removes all digests for which keep is false, incomplete files of earlier processes, and
// shared files that no copy uses.
func (s *store) sweep(keep func(digest string) bool) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !keep("sha256:" + entry.Name()) {
			errs = append(errs, rmtree.Remove(filepath.Join(s.dir, entry.Name())))
		}
	}
	return errors.Join(append(errs, s.shared.Sweep())...)
}
