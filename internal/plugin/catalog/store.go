package catalog

import (
	"bytes"
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

	"github.com/toolhost/toolhost/internal/plugin/rmtree"
	"github.com/toolhost/toolhost/tool"
)

// store keeps copies of plugins under their digests, and what each digest said of itself. What was hashed is what runs:
// nobody changes a plugin between the check and its use.
//
// A digest has a folder, STORE/HEX, with about.json in it and, below files, a copy under the name that the plugin has
// where it was found; below cache is what can be made again. Everything else is moved into place whole. What a power failure left behind half is noticed by its
// size, and made anew. All methods are safe for concurrent use.
type store struct {
	dir    string
	shared *shared
}

// about is what is known of a digest. All but Files and Bytes is missing until it has been asked what it is.
type about struct {
	Files   int      `json:"files"` // in its copy
	Bytes   int64    `json:"bytes"` // in its copy
	InPlace bool     `json:"in_place,omitempty"`
	Leave   []string `json:"leave,omitempty"` // links that lead out of it: what is behind them is not pinned

	Unanswered  string            `json:"unanswered,omitempty"` // why it did not say what it is when it was asked last
	Description *tool.Description `json:"description,omitempty"`
	SchemaCheck string            `json:"schema_check,omitempty"` // by which rules Refused was found
	Refused     refusedSchemas    `json:"refused,omitempty"`
}

func openStore(stateDir string) (*store, error) {
	s := &store{dir: filepath.Join(stateDir, "store")}
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		s.shared, err = openShared(stateDir)
	}
	if err != nil {
		return nil, fmt.Errorf("making the store of plugins: %w", err)
	}
	return s, nil
}

func (s *store) home(digest string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))
}

// path returns where the copy of a digest is, under the name of its source.
func (s *store) path(digest, source string) string {
	return filepath.Join(s.home(digest), "files", filepath.Base(source))
}

// cache returns where what can be made again is kept of a digest.
func (s *store) cache(digest string) string { return filepath.Join(s.home(digest), "cache") }

// about returns what is known of a digest; false if nothing is, or if what is there cannot be read.
func (s *store) about(digest string) (about, bool) {
	var a about
	data, err := os.ReadFile(filepath.Join(s.home(digest), "about.json"))
	return a, err == nil && json.Unmarshal(data, &a) == nil && a.Files > 0
}

// remember writes down what is known of a digest.
func (s *store) remember(digest string, a about) error {
	data, err := json.Marshal(a)
	if err == nil {
		err = os.MkdirAll(s.home(digest), 0o700)
	}
	if err == nil {
		err = replaceFile(filepath.Join(s.home(digest), "about.json"), data, false)
	}
	if err != nil {
		return fmt.Errorf("writing what a plugin is: %w", err)
	}
	return nil
}

// holds reports whether the copy of a digest is there and whole.
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

// errChanging says that a plugin is being written while it is read.
var errChanging = errors.New("it changed while it was read; it is read again by `toolhost reload`")

// takeFile copies an executable while it is hashed, and returns its digest.
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

// keep moves a copy to its place. What is known of the digest from earlier stays known.
func (s *store) keep(digest, source, copied string, a about) error {
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
	// Nothing is to be written beside what was hashed. Only now: a folder that is read-only cannot be moved.
	return os.Chmod(path, 0o500)
}

// tempPattern names what is being made in the store. No digest has such a name.
const tempPattern = "new-*"

// copyFile writes a new file and what goes into it to the hash, and returns its size.
func copyFile(ctx context.Context, path string, in io.Reader, mode fs.FileMode, hash io.Writer) (int64, error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(io.MultiWriter(&sparseWriter{out}, hash), &contextReader{ctx, in})
	if err == nil {
		err = out.Truncate(size) // where it ends with zeros
	}
	if err == nil {
		err = out.Chmod(mode)
	}
	// Closed before it is run: a file that is open for writing cannot be executed.
	return size, errors.Join(err, out.Close())
}

// sparseWriter writes a new file without the blocks that are all zeros: they read as zeros, and take no place on the disk. So a
// copy is not larger than a sparse original.
type sparseWriter struct{ file *os.File }

func (w *sparseWriter) Write(p []byte) (int, error) {
	const block = 4 << 10
	for at := 0; at < len(p); {
		end := min(at+block, len(p))
		zeros := isZero(p[at:end])
		for end < len(p) && isZero(p[end:min(end+block, len(p))]) == zeros { // as many as possible at once
			end = min(end+block, len(p))
		}
		var err error
		if zeros {
			_, err = w.file.Seek(int64(end-at), io.SeekCurrent)
		} else {
			_, err = w.file.Write(p[at:end])
		}
		if err != nil {
			return at, err
		}
		at = end
	}
	return len(p), nil
}

func isZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }

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

// sweep removes all digests but those to keep, what an earlier life left unfinished, and shared files that are in no copy.
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
	return errors.Join(append(errs, s.shared.sweep())...)
}
