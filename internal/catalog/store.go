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

	"github.com/toolhost/toolhost/tool"
)

// store keeps copies of executables under their digests, and what each digest said of itself. What was hashed is what
// runs: nobody can change a file between the check and its use. All methods are safe for concurrent use.
type store struct {
	dir string // of the copies: store/<hex digest>/<file name>

	mu    sync.Mutex // guards index and dirty; never held across I/O
	index index
	dirty bool

	saving sync.Mutex // orders writers of the index file, so that the newest state is written last
}

// index is the state on disk, in catalog.json.
type index struct {
	// Files says which digest a file had when it was last read, so that an unchanged file need not be read again.
	Files map[string]indexedFile `json:"files"`
	// Descriptions holds what plugins said, by digest.
	Descriptions map[string]tool.Description `json:"descriptions"`
}

type indexedFile struct {
	Stat   fileStat `json:"stat"`
	Digest string   `json:"digest"`
}

func openStore(stateDir string) (*store, error) {
	s := &store{dir: filepath.Join(stateDir, "store")}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the state folder: %w", err)
	}
	data, err := os.ReadFile(s.indexPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what is known of plugins: %w", err)
	}
	// A cache: what cannot be read is found out again.
	if json.Unmarshal(data, &s.index) != nil || s.index.Files == nil || s.index.Descriptions == nil {
		s.index = index{Files: map[string]indexedFile{}, Descriptions: map[string]tool.Description{}}
	}
	return s, nil
}

func (s *store) indexPath() string { return filepath.Join(filepath.Dir(s.dir), "catalog.json") }

// add returns the digest of a file and the path of its copy. The file is read only if it changed since it was last.
func (s *store) add(ctx context.Context, file candidate) (digest, path string, err error) {
	stat := statOf(file.info)
	s.mu.Lock()
	known, ok := s.index.Files[file.path]
	s.mu.Unlock()
	if ok && known.Stat == stat {
		path := s.copyPath(known.Digest, file.path)
		if _, err := os.Stat(path); err == nil {
			return known.Digest, path, nil
		}
	}
	digest, err = s.copy(ctx, file)
	if err != nil {
		return "", "", fmt.Errorf("reading %s: %w", file.path, err)
	}
	s.mu.Lock()
	s.index.Files[file.path] = indexedFile{Stat: stat, Digest: digest}
	s.dirty = true
	s.mu.Unlock()
	return digest, s.copyPath(digest, file.path), nil
}

func (s *store) copyPath(digest, source string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"), filepath.Base(source))
}

// copy hashes the file while it copies it, then moves the copy under its digest.
func (s *store) copy(ctx context.Context, file candidate) (digest string, err error) {
	in, err := os.Open(file.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.CreateTemp(s.dir, "new-*")
	if err != nil {
		return "", err
	}
	defer func() {
		out.Close()
		os.Remove(out.Name())
	}()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, hash), &contextReader{ctx, in}); err != nil {
		return "", err
	}
	if err := out.Chmod(0o500); err != nil {
		return "", err
	}
	// Closed before it is run: a file that is open for writing cannot be executed.
	if err := out.Close(); err != nil {
		return "", err
	}
	digest = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	path := s.copyPath(digest, file.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return digest, os.Rename(out.Name(), path)
}

// description returns what the digest said of itself.
func (s *store) description(digest string) (tool.Description, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.index.Descriptions[digest]
	return d, ok
}

// remember keeps what a digest said of itself.
func (s *store) remember(digest string, d tool.Description) error {
	s.mu.Lock()
	s.index.Descriptions[digest] = d
	s.dirty = true
	s.mu.Unlock()
	return s.save()
}

// save writes the index if it changed.
func (s *store) save() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = false
	data, err := json.Marshal(s.index)
	s.mu.Unlock()
	if err != nil || !dirty {
		return err
	}
	temp := s.indexPath() + ".new"
	err = os.WriteFile(temp, data, 0o600)
	if err == nil {
		err = os.Rename(temp, s.indexPath())
	}
	if err != nil {
		return fmt.Errorf("writing what is known of plugins: %w", err)
	}
	return nil
}

// contextReader ends a long copy with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
