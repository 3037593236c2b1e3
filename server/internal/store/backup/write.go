package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

// partialSuffix follows the name of an archive in the name of the folder with its incomplete files.
const partialSuffix = ".partial"

// Writer writes one archive. Use Create to make one, and call Close in the end. Only one goroutine
// may use it.
//
// The archive appears under its name when it is complete and on the disk. Until then its files are
// in a folder beside it, which the writer locks. If the process is killed, the next writer of the
// same archive finds the folder without a lock and removes it.
type Writer struct {
	path    string // of the archive
	partial string // the folder of the incomplete files
	lock    *os.File

	manifest Manifest
	file     *os.File
	sum      hash.Hash // of the archive
	zip      *gzip.Writer
	tar      *tar.Writer
}

// Create begins an archive. If path is a folder, the archive gets a name with the time in that
// folder. Create refuses to replace a file. m.Files is filled in by the writer.
func Create(path string, m Manifest) (*Writer, error) {
	m.Format, m.Version, m.User, m.Files = formatName, formatVersion, os.Getuid(), nil
	m.Time = m.Time.UTC()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, m.Program+"-"+m.Time.Format("20060102T150405Z")+".tar.gz")
	}
	w := &Writer{path: path, partial: path + partialSuffix, manifest: m, sum: sha256.New()}
	if err := w.create(); err != nil {
		return nil, fmt.Errorf("making the backup %s: %w", path, errors.Join(err, w.Close()))
	}
	return w, nil
}

func (w *Writer) create() error {
	if err := absent(w.path); err != nil {
		return err
	}
	if err := os.Mkdir(w.partial, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		w.partial = ""
		return err
	}
	lock, err := lockFolder(w.partial)
	if err != nil {
		w.partial = "" // it belongs to another process
		return err
	}
	w.lock = lock
	if err := empty(w.partial); err != nil {
		return err
	}
	if w.file, err = os.OpenFile(filepath.Join(w.partial, "archive"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	// Most of an archive is compressed data already or text that any level makes small.
	w.zip, err = gzip.NewWriterLevel(io.MultiWriter(w.file, w.sum), gzip.BestSpeed)
	w.tar = tar.NewWriter(w.zip)
	return err
}

func absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return errors.New("the file exists; choose another name, or remove it")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lockFolder locks a folder. The system releases the lock when the process ends.
func lockFolder(path string) (*os.File, error) {
	folder, err := filelock.TakeFolder(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another process uses %s", path)
	}
	return folder, err
}

// empty removes the content of a folder.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Path returns the path that the archive will have.
func (w *Writer) Path() string { return w.path }

// Scratch returns the path of a file that does not exist, for a copy that is added next. The writer
// removes the file after Add.
func (w *Writer) Scratch() string { return filepath.Join(w.partial, "copy") }

// AddLedger records the identity of a ledger in the manifest.
func (w *Writer) AddLedger(l Ledger) { w.manifest.Ledgers = append(w.manifest.Ledgers, l) }

// AddCopy adds the file at Scratch and removes it.
func (w *Writer) AddCopy(ctx context.Context, name string) error {
	if err := w.Add(ctx, name, w.Scratch()); err != nil {
		return err
	}
	return os.Remove(w.Scratch())
}

// AddFolder adds the files of a folder whose names begin with prefix. The folder may be missing,
// and its owner may remove some of the files meanwhile.
func (w *Writer) AddFolder(ctx context.Context, name, folder, prefix string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		if err := w.Add(ctx, name+"/"+entry.Name(), filepath.Join(folder, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Add adds a file under a name. Add ignores what is appended to the file meanwhile. It returns an
// error that wraps fs.ErrNotExist, and adds nothing, if there is no such file. It refuses anything
// but a regular file.
func (w *Writer) Add(ctx context.Context, name, path string) error {
	if err := checkName(name); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return w.member(name, info.Size(), info.ModTime(), &contextReader{ctx, io.LimitReader(file, info.Size())})
}

// AddText adds a small file with a given content.
func (w *Writer) AddText(name string, text []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	return w.member(name, int64(len(text)), w.manifest.Time, bytes.NewReader(text))
}

// member adds a member and its entry in the manifest.
func (w *Writer) member(name string, size int64, modified time.Time, content io.Reader) error {
	sum := sha256.New()
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: modified}); err != nil {
		return err
	}
	if _, err := io.Copy(io.MultiWriter(w.tar, sum), content); err != nil {
		return fmt.Errorf("adding %s: %w", name, err)
	}
	if err := w.tar.Flush(); err != nil { // an error means that the file became shorter
		return fmt.Errorf("adding %s: %w", name, err)
	}
	w.manifest.Files = append(w.manifest.Files, File{Path: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

// Finish completes the archive and returns its manifest and its digest (sha256:HEX). The archive is
// on the disk when Finish returns.
func (w *Writer) Finish() (*Manifest, string, error) {
	if err := w.finish(); err != nil {
		return nil, "", fmt.Errorf("making the backup %s: %w", w.path, err)
	}
	return &w.manifest, "sha256:" + hex.EncodeToString(w.sum.Sum(nil)), nil
}

func (w *Writer) finish() error {
	text, err := json.MarshalIndent(&w.manifest, "", " ")
	if err != nil {
		return err
	}
	if len(text) > maxManifest {
		return fmt.Errorf("it has %d files, and their manifest would take %d bytes, of which a restore reads at most %d", len(w.manifest.Files), len(text), maxManifest)
	}
	if err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: manifestName, Size: int64(len(text)), Mode: 0o600, ModTime: w.manifest.Time}); err != nil {
		return err
	}
	if _, err := w.tar.Write(text); err != nil {
		return err
	}
	if err := errors.Join(w.tar.Close(), w.zip.Close(), w.file.Sync()); err != nil {
		return err
	}
	// A link refuses to replace a file that another process has made meanwhile.
	if err := os.Link(w.file.Name(), w.path); errors.Is(err, fs.ErrExist) {
		return errors.New("the file exists; choose another name, or remove it")
	} else if err != nil { // a file system without hard links
		if err := errors.Join(absent(w.path), os.Rename(w.file.Name(), w.path)); err != nil {
			return err
		}
	}
	return atomicfile.SyncFolder(filepath.Dir(w.path))
}

// Close removes the incomplete files. It must be called also after Finish.
func (w *Writer) Close() error {
	var errs []error
	if w.file != nil {
		errs = append(errs, w.file.Close())
	}
	if w.lock != nil {
		errs = append(errs, os.RemoveAll(w.partial), w.lock.Close())
	}
	return errors.Join(errs...)
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
