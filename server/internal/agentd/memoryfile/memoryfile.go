// Package memoryfile reads memory files: texts such as AGENTS.md that a run has in its
// instructions. It owns their bounds and what is read of a folder that tools can write.
//
// It does not know what a model reads of them, or which runs have which files.
package memoryfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const (
	// DefaultMaxBytes is the default size of the largest memory file, in bytes. Every request to a
	// model has the text.
	DefaultMaxBytes = 64 << 10
	// MaxTotal is the size of all memory files of a run together, in bytes. Every call of a tool
	// carries them to toolhost.
	MaxTotal = 256 << 10
	// MaxFiles is how many memory files the configuration has, and how many an agent adds.
	MaxFiles = 8
	// maxName bounds the path of a file in a workspace.
	maxName = 256
)

// ErrMissing means that a workspace has no such file, which is usual.
var ErrMissing = errors.New("there is no such file")

// CheckName returns an error if a name is not that of a file in a workspace: a relative path that
// stays inside.
func CheckName(name string) error {
	if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, hidden) || strings.ContainsAny(name, "\n\t") || !filepath.IsLocal(name) || filepath.Clean(name) == "." {
		return fmt.Errorf("%.80q is not the path of a file inside a workspace, such as AGENTS.md", name)
	}
	return nil
}

// ReadOperator returns the content of a file of the operator, which has at most most bytes. The
// caller checks whether a tool could have written it. An error names what is wrong with the file.
func ReadOperator(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := read(file, most)
	if err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	if at := bytes.IndexFunc(data, hidden); at >= 0 {
		r, _ := utf8.DecodeRune(data[at:])
		return nil, fmt.Errorf("%s has the character %U in line %d, which people do not see; remove it", path, r, 1+bytes.Count(data[:at], []byte("\n")))
	}
	return data, nil
}

// ReadWorkspace returns the text of a file in a workspace, which has at most most bytes. Tools can
// change the workspace at the same time, so a path that leaves it, and everything but a regular
// file, is an error. Characters that people do not see are replaced. ErrMissing means that there is
// no such file. No error names a path outside of the workspace.
func ReadWorkspace(folder, name string, most int64) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", errors.New("the workspace cannot be opened")
	}
	defer root.Close()
	// Without O_NONBLOCK, a pipe without a writer would block for as long as a tool wants.
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrMissing
	case errors.Is(err, fs.ErrPermission):
		return "", errors.New("is closed to agentd")
	case err != nil:
		return "", errors.New("cannot be opened inside the workspace")
	}
	defer file.Close()
	data, err := read(file, most)
	if err != nil {
		return "", err
	}
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return unicode.ReplacementChar
		}
		return r
	}, string(data)), nil
}

// read returns the text of a regular file, with line feeds at the ends of its lines.
func read(file *os.File, most int64) ([]byte, error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, errors.New("cannot be read")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, errors.New("cannot be read")
	case int64(len(data)) > most:
		return nil, fmt.Errorf("is larger than %d bytes", most)
	case !utf8.Valid(data):
		return nil, errors.New("is not UTF-8 text")
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), nil
}

// hidden reports whether a character can change what people see of a text, or that they see it at
// all: control characters, characters that begin a line, and formatting such as the direction of
// text. The joiners of scripts and emoji are allowed.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r)
}
