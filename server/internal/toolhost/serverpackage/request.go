// Package serverpackage installs MCP servers from npm and PyPI into a folder. A command line such
// as `npx -y PACKAGE` runs what the registry has at each start. Install resolves the package and
// its dependencies once, pins each by the hash of its content, and returns the command that runs
// the installed files with the interpreter alone. That command needs no registry.
//
// It owns command lines of package runners, the clients npm and pip, and the files with the pins.
// It does not know plugins.
package serverpackage

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The registries of packages.
const (
	NPM  = "npm"
	PyPI = "PyPI"
)

// Request is the package that a command line runs.
type Request struct {
	Registry string   // NPM or PyPI
	Spec     string   // the package, with its version if the command line has one
	With     []string // further packages to install, in the form of Spec
	Program  string   // the program of the package; empty: the one with the package's name, or the only one
	Args     []string // the arguments of the program
}

// runner is how a package runner reads its command line.
type runner struct {
	registry string
	words    []string // that follow its name
	alone    []string // flags without a value
	spec     []string // flags whose value is the package; the first other word is then the program
	with     []string // flags whose value is a further package
}

// runners has the package runners by the name of their program. The entry with the most words comes
// first.
var runners = map[string][]runner{
	"npx":  {{registry: NPM, alone: []string{"-y", "--yes", "-q", "--quiet"}, spec: npmPackageFlags}},
	"bunx": {{registry: NPM, alone: []string{"-y", "--silent"}, spec: npmPackageFlags}},
	"pnpx": {{registry: NPM, spec: npmPackageFlags}},
	"npm": {
		{registry: NPM, words: []string{"exec"}, alone: []string{"-y", "--yes", "-q", "--quiet"}, spec: npmPackageFlags},
		{registry: NPM, words: []string{"x"}, alone: []string{"-y", "--yes", "-q", "--quiet"}, spec: npmPackageFlags},
	},
	"pnpm": {{registry: NPM, words: []string{"dlx"}, spec: npmPackageFlags}},
	"yarn": {{registry: NPM, words: []string{"dlx"}, alone: []string{"-q", "--quiet"}, spec: npmPackageFlags}},
	"uvx":  {{registry: PyPI, alone: uvFlags, spec: []string{"--from"}, with: []string{"--with"}}},
	"uv":   {{registry: PyPI, words: []string{"tool", "run"}, alone: uvFlags, spec: []string{"--from"}, with: []string{"--with"}}},
	"pipx": {{registry: PyPI, words: []string{"run"}, alone: []string{"-q", "--quiet"}, spec: []string{"--spec"}}},
}

var (
	npmPackageFlags = []string{"-p", "--package"}
	uvFlags         = []string{"-q", "--quiet", "--isolated", "--no-progress"}
)

// Recognize returns the package that a command line runs. It returns nil if the command line runs
// no package runner. The error says what to write in place of a command line that toolhost cannot
// pin.
func Recognize(command []string) (*Request, error) {
	command = withoutShell(command)
	program := programName(command[0])
	if path, err := exec.LookPath(command[0]); err == nil { // a link to a shell is one
		if real, err := filepath.EvalSymlinks(path); err == nil && isShell(programName(real)) {
			program = programName(real)
		}
	}
	switch {
	case slices.Contains([]string{"docker", "podman", "nerdctl"}, program):
		return nil, fmt.Errorf("%s starts the server outside of toolhost's sandbox and limits; "+
			"use the server's package of npm or PyPI (npx or uvx), or start the container yourself with an HTTP server and add its URL", program)
	case isShell(program):
		return nil, fmt.Errorf("%s runs a text that toolhost cannot check; write the command of the server itself, and its variables with --env", program)
	case slices.Contains(starters, program) || strings.HasPrefix(program, "ld-linux") || strings.HasPrefix(program, "ld-musl"):
		return nil, fmt.Errorf("%s starts another program, which toolhost cannot check behind it; write the command of the server itself, and its variables with --env", program)
	}
	for _, r := range runners[program] {
		if len(command) > len(r.words) && slices.Equal(command[1:1+len(r.words)], r.words) {
			return r.request(program, command[1+len(r.words):])
		}
	}
	if slices.Contains([]string{"uv", "npm", "pnpm", "yarn", "bun", "deno", "pipx", "poetry"}, program) {
		return nil, fmt.Errorf("%s runs a project of a folder, which toolhost cannot pin; "+
			"use npx or uvx with a package, or copy the folder with --folder and write the interpreter, such as: node server.js", program)
	}
	return nil, nil
}

// programName returns the name by which Recognize knows a program, without a version and the
// endings of Windows.
func programName(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ending := range []string{".cmd", ".exe", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return programVersion.ReplaceAllString(name, "")
}

var programVersion = regexp.MustCompile(`-?[0-9][0-9.]*$`)

func isShell(program string) bool {
	return slices.Contains([]string{
		"sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "mksh", "pdksh", "lksh", "yash", "posh", "fish", "csh", "tcsh", "elvish", "nu", "xonsh", "cmd", "powershell", "pwsh",
	}, program)
}

// starters are programs that start the one that their arguments name.
var starters = []string{
	"env", "nice", "ionice", "chrt", "taskset", "nohup", "timeout", "setsid", "stdbuf", "sudo", "doas", "su", "runuser", "setpriv", "xargs", "script", "strace",
	"ltrace", "busybox", "toybox", "unshare", "nsenter", "chroot", "flock", "parallel", "ssh", "systemd-run", "start-stop-daemon", "dbus-run-session",
	"winpty", "proot", "fakeroot", "firejail", "bwrap", "direnv", "mise", "dotenv", "doppler",
}

// withoutShell removes what starts a program on Windows: such a configuration works here, too.
func withoutShell(command []string) []string {
	if len(command) > 2 && strings.EqualFold(command[0], "cmd") && strings.EqualFold(command[1], "/c") {
		return command[2:]
	}
	return command
}

// request reads the words that follow the runner's name.
func (r *runner) request(program string, words []string) (*Request, error) {
	req := &Request{Registry: r.registry}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		isSpec, isWith := slices.Contains(r.spec, flag) && req.Spec == "", slices.Contains(r.with, flag)
		if (isSpec || isWith) && !joined {
			if len(words) == 0 {
				return nil, fmt.Errorf("%s: %s has no value", program, flag)
			}
			value, words = words[0], words[1:]
		}
		switch {
		case flag == "--":
			return r.rest(req, words)
		case slices.Contains(r.alone, flag) && !joined:
		case isSpec:
			req.Spec = value
		case isWith:
			req.With = append(req.With, value)
		default:
			return nil, fmt.Errorf("%s: toolhost does not know the flag %s; leave it out, or write it behind the package", program, flag)
		}
	}
	return r.rest(req, words)
}

// rest reads the words that follow the runner's flags.
func (r *runner) rest(req *Request, words []string) (*Request, error) {
	if len(words) == 0 {
		return nil, errors.New("the command names no package")
	}
	if req.Spec == "" {
		req.Spec = words[0]
	} else {
		req.Program = words[0]
	}
	req.Args = slices.Clone(words[1:])
	return req, req.check()
}

var (
	npmSpec  = regexp.MustCompile(`^(@[A-Za-z0-9~-][\w.~-]*/)?[A-Za-z0-9~-][\w.~-]*(@[\w.+~^*<>=-]+)?$`)
	pypiSpec = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?((@|===?|>=|<=|~=|!=|<|>)[\w.+!*]+(,(===?|>=|<=|~=|!=|<|>)[\w.+!*]+)*)?$`)
)

// check refuses what is no package of the registry: the registries' clients also take folders,
// files, URLs and repositories, whose content they pin by no hash.
func (r *Request) check() error {
	form := npmSpec
	if r.Registry == PyPI {
		form = pypiSpec
	}
	for _, spec := range append([]string{r.Spec}, r.With...) {
		if !form.MatchString(spec) || len(spec) > 250 {
			return fmt.Errorf("%q is no package of %s with a version; toolhost installs nothing from folders, URLs and repositories, because no hash pins them",
				spec, r.Registry)
		}
	}
	if r.Registry == PyPI {
		name, version, versioned := strings.Cut(r.Spec, "@") // as uvx writes it
		switch {
		case versioned && version == "latest":
			r.Spec = name
		case versioned:
			r.Spec = name + "==" + version
		}
	}
	return nil
}
