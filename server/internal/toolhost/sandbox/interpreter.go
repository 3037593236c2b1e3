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

// Interpreters returns what runs a program, outside of the system's folders: the installations of
// its interpreters, or an interpreter alone if its installation contains one of the folders in
// never. It does not follow the last link of a path. It reads files.
func Interpreters(program string, never []string) []string { return installations(program, never) }

// Searched returns the names that are looked up in PATH before a program runs: those that the first
// lines of scripts give to env. It reads files.
func Searched(program string) (names []string) {
	for range mostHops {
		real, err := filepath.EvalSymlinks(program)
		if err != nil {
			break
		}
		interpreter, name := firstLine(real)
		if name != "" {
			names = append(names, name)
			interpreter = searched(name)
		}
		program = interpreter
	}
	return names
}

// installations returns the paths that must be readable, in addition to the program itself, so that
// the program can run. These are the installations of its interpreters outside of the system's
// folders. An installation is the folder above the one that contains the interpreter. It is the
// interpreter alone if that folder would show too much. No installation may contain one of the
// folders in never.
func installations(program string, never []string) []string {
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
		if home := virtualEnvironment(current); home != "" {
			next = append(next, filepath.Join(home, filepath.Base(current)))
		}
		real, err := filepath.EvalSymlinks(current)
		if err != nil {
			continue
		}
		if current != program || real != program || filepath.Base(filepath.Dir(real)) == shims {
			add(real) // a shim runs what is beside it, wherever it is named
		}
		if interpreter := shebang(real); interpreter != "" {
			next = append(next, interpreter)
			add(interpreter)
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

// shebang returns the interpreter of a script; "" if the file is no script or its interpreter is
// not found.
func shebang(file string) string {
	interpreter, name := firstLine(file)
	if name != "" {
		return searched(name)
	}
	return interpreter
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
