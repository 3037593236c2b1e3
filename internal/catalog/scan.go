package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// candidate is a file that may be a plugin.
type candidate struct {
	path    string
	info    fs.FileInfo
	problem string // why it cannot be one; empty if it may
}

// scan lists the files of a folder that may be plugins, by name: executables, and files that look like programs but
// are not executable, with that as their problem. Hidden files, editors' backups, folders and data are passed over.
func scan(folder string) ([]candidate, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []candidate
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && entry.Type()&fs.ModeSymlink != 0:
			found = append(found, candidate{path: path, problem: "the link leads nowhere"})
		case errors.Is(err, fs.ErrNotExist):
			continue // removed since it was listed
		case err != nil:
			found = append(found, candidate{path: path, problem: err.Error()})
		case !info.Mode().IsRegular():
			continue
		case info.Mode().Perm()&0o111 != 0:
			found = append(found, candidate{path: path, info: info})
		case isProgram(path):
			found = append(found, candidate{path: path, problem: "the file is not executable; run: chmod +x " + path})
		}
	}
	return found, nil
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
