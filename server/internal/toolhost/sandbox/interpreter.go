package sandbox

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// binFolders are the folders of an installation that hold its programs.
var binFolders = []string{"bin", "sbin", "libexec", shims}

// shims is the folder of programs that look up which version of a program to run.
const shims = "shims"

// mostHops bounds the steps from a program to what runs it: a script, its interpreter, a wrapper in
// a shell, and so on.
const mostHops = 8

// Examiner finds what runs programs. It reads each file once, however many programs lead to it, so
// it belongs to one moment. It is not safe for concurrent use. The zero value is ready.
type Examiner struct {
	files map[string]examined
	homes map[string]string // of virtual environments, by the folder of their programs
}

// examined is what one file says about what runs it.
type examined struct {
	real string // without links; empty: there is no such file
	// Of a script: its interpreter, and the name that env looks up for it. Empty: none is found.
	interpreter, name string
}

// Interpreters returns what runs a program, outside of the system's folders: the installations of
// its interpreters, or an interpreter alone if its installation contains one of the folders in
// never. It does not follow the last link of a path. names are those that are looked up in PATH
// before the program runs: those that the first lines of scripts give to env.
func (e *Examiner) Interpreters(program string, never []string) (paths, names []string) {
	current := program
	for hop := 0; hop < mostHops && current != ""; hop++ {
		of := e.file(current)
		if of.name != "" {
			names = append(names, of.name)
		}
		current = of.interpreter
	}
	return e.installations(program, never), names
}

// file examines a file, or remembers what it said.
func (e *Examiner) file(path string) examined {
	if of, known := e.files[path]; known {
		return of
	}
	var of examined
	if real, err := filepath.EvalSymlinks(path); err == nil {
		of.real = real
		if of.interpreter, of.name = firstLine(real); of.name != "" {
			of.interpreter = searched(of.name)
		}
	}
	if e.files == nil {
		e.files = make(map[string]examined)
	}
	e.files[path] = of
	return of
}

// home returns the folder of the Python that a program of a virtual environment runs; "" if the
// program is in none.
func (e *Examiner) home(program string) string {
	folder := filepath.Dir(program)
	home, known := e.homes[folder]
	if !known {
		if e.homes == nil {
			e.homes = make(map[string]string)
		}
		home = virtualEnvironment(program)
		e.homes[folder] = home
	}
	return home
}

// installations returns the paths that must be readable, in addition to the program itself, so that
// the program can run. These are the installations of its interpreters outside of the system's
// folders. An installation is the folder above the one that contains the interpreter. It is the
// interpreter alone if that folder would show too much. No installation may contain one of the
// folders in never.
func (e *Examiner) installations(program string, never []string) []string {
	var found []string
	add := func(program string) {
		if !isProgram(program) {
			return // no user can execute it
		}
		if place := installation(program, never); !slices.Contains(found, place) {
			found = append(found, place)
		}
	}
	next := []string{program}
	for hop := 0; len(next) > 0 && hop < mostHops; hop++ {
		current := next[0]
		next = next[1:]
		if home := e.home(current); home != "" {
			next = append(next, filepath.Join(home, filepath.Base(current)))
		}
		of := e.file(current)
		if of.real == "" {
			continue
		}
		if current != program || of.real != program || filepath.Base(filepath.Dir(of.real)) == shims {
			add(of.real) // a shim runs what is beside it, wherever it is named
		}
		if of.interpreter != "" {
			next = append(next, of.interpreter)
			add(of.interpreter)
		}
	}
	return slices.DeleteFunc(found, func(path string) bool { return inSystem(path) })
}

// installation returns the folder above the one that holds a program, or the program.
func installation(program string, never []string) string {
	if !slices.Contains(binFolders, filepath.Base(filepath.Dir(program))) {
		return program
	}
	prefix := filepath.Dir(filepath.Dir(program))
	if prefix == "/" || isHome(prefix) || !isInstallation(prefix) {
		return program
	}
	for _, path := range never {
		if within(path, prefix) {
			return program
		}
	}
	return prefix
}

// isProgram reports whether a file can be executed. So a plugin cannot reveal other files by naming
// them as its interpreter.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// isInstallation reports whether a folder with programs also has libraries for them. The plugin's
// author chooses the interpreter, and must not thereby choose which other files can be read.
func isInstallation(dir string) bool {
	return slices.ContainsFunc([]string{"lib", "lib64", "libexec"}, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && info.Mode()&fs.ModeType != 0 // a folder, or a link to one
	})
}

// isHome reports whether a folder is a user's home, holds homes, or is a top-level folder that
// holds everything.
func isHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && (within(home, dir) || dir == filepath.Join(home, ".local")) || dir == "/root" || dir == "/home" || filepath.Dir(dir) == "/home" || filepath.Dir(dir) == "/Users"
}

// within reports whether a path is a folder or in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func inSystem(path string) bool {
	return slices.ContainsFunc(systemFolders[:], func(dir string) bool { return within(path, dir) })
}

// virtualEnvironment returns the folder of the Python that a program of a virtual environment runs;
// "" if the program is in none.
func virtualEnvironment(program string) string {
	file, err := os.Open(filepath.Join(filepath.Dir(program), "..", "pyvenv.cfg"))
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 64 << 10
	for lines := bufio.NewScanner(io.LimitReader(file, most)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), "=")
		if home := strings.TrimSpace(value); strings.TrimSpace(key) == "home" && filepath.IsAbs(home) {
			return filepath.Clean(home)
		}
	}
	return ""
}

// searched returns the program of a name in PATH; "" if there is none.
func searched(name string) string {
	if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
		return path
	}
	return ""
}

// firstLine returns the interpreter that the first line of a script names, or the name that env
// looks up in PATH. Both are empty if the file is no script.
func firstLine(file string) (interpreter, name string) {
	f, err := os.Open(file)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	const most = 4096
	line, _ := bufio.NewReader(io.LimitReader(f, most)).ReadString('\n')
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return "", ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0], ""
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return "", word
		}
	}
	return "", ""
}
