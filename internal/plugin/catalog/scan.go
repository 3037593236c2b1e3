package catalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
)

// entry is a file or folder that may be a plugin.
type entry struct {
	source  string // its absolute path
	folder  bool   // it holds a plugin.yaml
	stamp   string // changes with the file; of a folder, see list
	problem string // why it cannot be a plugin; empty if it may
}

// scan lists the entries of a folder by name: executables, folders with a plugin.yaml, and files
// that look like programs but are not executable, with that as their problem. It returns other
// folders and files as passed, and ignores hidden files and backups of editors.
func scan(ctx context.Context, folder string) (found []entry, passed []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range entries {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		name := file.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		source, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return nil, nil, err
		}
		if e, ok := look(source, file.Type()&fs.ModeSymlink != 0); ok {
			found = append(found, e)
		} else {
			passed = append(passed, source)
		}
	}
	return found, passed, nil
}

// look returns the entry of a path; false if it has nothing to do with plugins.
func look(source string, isLink bool) (entry, bool) {
	e := entry{source: source}
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink:
		e.problem = "the link leads nowhere"
	case errors.Is(err, fs.ErrNotExist):
		return e, false // removed since it was listed
	case err != nil:
		e.problem = err.Error()
	case info.IsDir():
		return lookFolder(e)
	case !info.Mode().IsRegular():
		return e, false
	case info.Mode().Perm()&0o111 != 0:
		e.stamp = stampOf(info)
	case isProgram(source):
		e.problem = "the file is not executable; run: chmod +x " + source
	default:
		return e, false
	}
	return e, true
}

func lookFolder(e entry) (entry, bool) {
	info, err := os.Stat(filepath.Join(e.source, manifest.FileName))
	if err == nil && info.Mode().IsRegular() {
		e.folder = true
		return e, true
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.problem = err.Error()
		return e, true
	}
	if _, err := os.Stat(filepath.Join(e.source, "plugin.yml")); err == nil {
		e.problem = "its manifest has to be named " + manifest.FileName + ", not plugin.yml"
		return e, true
	}
	return e, false
}

// isProgram reports whether a file begins like an ELF or Mach-O executable or a script.
func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	h := string(head[:n])
	return h == "\x7fELF" || h == "\xcf\xfa\xed\xfe" || strings.HasPrefix(h, "#!")
}
