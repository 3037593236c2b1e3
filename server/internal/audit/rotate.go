package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// rotate moves the file away and continues in a new one. If that fails, the log continues in the
// old one, and tries again after the next line. The caller has the turn, and holds the lock of the
// file.
func (l *Log) rotate() {
	former := formerName(l.path, l.end.seq, time.Now())
	if err := os.Rename(l.path, former); err != nil && !errors.Is(err, fs.ErrNotExist) { // an earlier attempt may have moved it
		return
	}
	if err := l.open(); err != nil {
		return
	}
	if l.config.KeepFiles <= 0 {
		return
	}
	files, err := formerFiles(l.path)
	if err != nil {
		return
	}
	for _, old := range files[:max(0, len(files)-l.config.KeepFiles)] {
		_ = os.Remove(old) // the next rotation tries again
	}
}

// formerName returns the name of a file that the log has left: audit-20260102T030405Z-7.jsonl, with
// the number of its last line.
func formerName(path string, last uint64, now time.Time) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%s-%020d%s", strings.TrimSuffix(path, ext), now.UTC().Format("20060102T150405Z"), last, ext)
}

// formerFiles returns the files that a log has left, the oldest first.
func formerFiles(path string) ([]string, error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ext) + "-"
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && strings.HasPrefix(name, stem) && strings.HasSuffix(name, ext) && len(name) == len(stem)+len("20060102T150405Z-")+20+len(ext) {
			files = append(files, filepath.Join(filepath.Dir(path), name))
		}
	}
	number := func(name string) string { return strings.TrimSuffix(name, ext)[len(strings.TrimSuffix(name, ext))-20:] }
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return files, nil
}

// Files returns the files of a log that exist, the oldest first: those that the log has left, and
// the file at path itself.
func Files(path string) ([]string, error) {
	files, err := formerFiles(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("finding the files of the audit log %s: %w", path, err)
	}
	if _, err := os.Stat(path); err == nil {
		files = append(files, path)
	}
	return files, nil
}

// formerEnd returns the end of the chain in the newest file that the log has left. It is the end of
// the log if a writer ended before it had begun the new file, or is about to begin it.
func (l *Log) formerEnd() (position, error) {
	files, err := formerFiles(l.path)
	if err != nil || len(files) == 0 {
		return position{}, err
	}
	file, err := os.Open(files[len(files)-1])
	if err != nil {
		return position{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return position{}, err
	}
	end, _, err := lastPosition(file, info.Size())
	return end, err
}

// maxMoves bounds how often a writer follows a log that others rotate at this moment. The line goes
// to the file that is open then.
const maxMoves = 100

// moved reports whether the log goes on in a new file: another writer has begun it or is about to,
// or the open file was removed. Lines in a file without a name would be lost with the process. If
// another program has moved the file away, the log goes on in it until Reopen.
func (l *Log) moved() bool {
	here, err := l.file.Stat()
	if err != nil {
		return false
	}
	if stat, ok := here.Sys().(*syscall.Stat_t); ok && stat.Nlink == 0 {
		return true
	}
	there, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l.isFormer(here)
	}
	return err == nil && there.Mode().IsRegular() && !os.SameFile(here, there)
}

// isFormer reports whether a file is one that the log has left. Between the end of a file and the
// beginning of the next one, the name of the log leads to no file.
func (l *Log) isFormer(file fs.FileInfo) bool {
	former, err := formerFiles(l.path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(former, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && os.SameFile(info, file)
	})
}
