package serverpackage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	pypiPins    = "requirements.txt"
	environment = ".venv"
	starter     = "run.py"
)

// pipReport is the part of pip's report that names what it would install.
type pipReport struct {
	Install []struct {
		Requested bool `json:"requested"`
		Metadata  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
		Download struct {
			Archive struct {
				Hashes map[string]string `json:"hashes"`
			} `json:"archive_info"`
		} `json:"download_info"`
	} `json:"install"`
}

// pin is one line of a requirements file. hashes has at least one option --hash.
type pin struct{ name, version, hashes string }

const hashOption = "--hash=sha256:"

// installPyPI resolves the package into a requirements file with hashes, and installs the wheels that
// it pins into a Python environment in the folder. pip compares each wheel with its hash.
//
// It takes wheels only. To build a source distribution, pip would run the author's code.
func (r *Request) installPyPI(ctx context.Context, dir string, o Options) (*Installed, error) {
	if err := missing("python3", "install Python 3.11 or later"); err != nil {
		return nil, err
	}
	tools, env := filepath.Join(o.Scratch, "pip"), filepath.Join(dir, environment)
	if _, stderr, err := run(ctx, dir, "python3", "-m", "venv", tools); err != nil {
		return nil, fmt.Errorf("python3 cannot make an environment: %w: %s; install python3-venv", err, lastLines(stderr, 2))
	}
	python := filepath.Join(tools, "bin", "python")
	if _, stderr, err := run(ctx, dir, "python3", "-m", "venv", "--without-pip", env); err != nil {
		return nil, fmt.Errorf("python3 cannot make an environment: %w: %s", err, lastLines(stderr, 2))
	}
	pins, err := r.resolvePyPI(ctx, python, dir, o)
	if err != nil {
		return nil, err
	}
	_, stderr, err := run(ctx, dir, python, "-m", "pip", "--python", filepath.Join(env, "bin", "python"), "install", "--quiet", "--no-input",
		"--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile", "-r", pypiPins)
	if err != nil {
		return nil, pipError(err, stderr)
	}
	name, version, err := r.pinned(pins)
	if err != nil {
		return nil, err
	}
	program, target, err := r.pypiProgram(env, name)
	if err != nil {
		return nil, err
	}
	if err := writeStarter(dir, program, target); err != nil {
		return nil, err
	}
	return &Installed{
		Name: name, Version: version, Packages: len(pins), Pins: pypiPins,
		Command: append([]string{environment + "/bin/python", starter}, r.Args...),
	}, cleanScripts(env)
}

// resolvePyPI writes the requirements file, and returns its pins.
func (r *Request) resolvePyPI(ctx context.Context, python, dir string, o Options) ([]pin, error) {
	if o.Lock != "" {
		data, err := os.ReadFile(o.Lock)
		if err != nil {
			return nil, err
		}
		pins, err := parsePins(o.Lock, data)
		if err != nil {
			return nil, err
		}
		// pip splits lines at more characters than parsePins does, so it gets only what was checked.
		return pins, os.WriteFile(filepath.Join(dir, pypiPins), pinText(pins), 0o644)
	}
	file := filepath.Join(o.Scratch, "report.json")
	args := append([]string{"-m", "pip", "install", "--quiet", "--no-input", "--dry-run", "--ignore-installed", "--only-binary=:all:",
		"--report", file, "--", r.Spec}, r.With...)
	_, stderr, err := run(ctx, dir, python, args...)
	if err != nil {
		return nil, pipError(err, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report pipReport
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("reading pip's report: %w", err)
	}
	var pins []pin
	for _, i := range report.Install {
		hash := i.Download.Archive.Hashes["sha256"]
		if hash == "" {
			return nil, fmt.Errorf("no hash pins %s %s", i.Metadata.Name, i.Metadata.Version)
		}
		pins = append(pins, pin{i.Metadata.Name, i.Metadata.Version, hashOption + hash})
	}
	slices.SortFunc(pins, func(a, b pin) int { return strings.Compare(normal(a.name), normal(b.name)) })
	return pins, os.WriteFile(filepath.Join(dir, pypiPins), pinText(pins), 0o644)
}

func pinText(pins []pin) []byte {
	var b bytes.Buffer
	for _, p := range pins {
		fmt.Fprintf(&b, "%s==%s %s\n", p.name, p.version, p.hashes)
	}
	return b.Bytes()
}

var pinForm = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*)==([\w.+!]+)((?:\s+--hash=sha256:[0-9a-f]{64})+)$`)

// parsePins reads a requirements file. It refuses lines that are no pins, because pip also takes
// options and URLs there.
func parsePins(name string, data []byte) ([]pin, error) {
	var pins []pin
	lines := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(data, []byte("\\\n"), nil)))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), " #")
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := pinForm.FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("%s: %q is not NAME==VERSION --hash=sha256:…", name, line)
		}
		pins = append(pins, pin{parts[1], parts[2], strings.Join(strings.Fields(parts[3]), " ")})
	}
	return pins, lines.Err()
}

// pinned returns the name and the version of the requested package among the pins.
func (r *Request) pinned(pins []pin) (name, version string, err error) {
	wanted := normal(regexp.MustCompile(`^[\w.-]+`).FindString(r.Spec))
	for _, p := range pins {
		if normal(p.name) == wanted {
			return p.name, p.version, nil
		}
	}
	return "", "", fmt.Errorf("the pins do not have the package %s", wanted)
}

// normal returns a name in the form in which PyPI compares names.
func normal(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

var (
	entryForm  = regexp.MustCompile(`^([\w.-]+)\s*=\s*([\w.]+:[\w.]+)\s*(\[.*\])?$`)
	distFolder = regexp.MustCompile(`^(.+)-[^-]+\.dist-info$`)
)

// pypiProgram returns the program of an installed package and its function, as MODULE:NAME.
func (r *Request) pypiProgram(env, name string) (program, target string, err error) {
	files, err := filepath.Glob(filepath.Join(env, "lib", "python*", "site-packages", "*.dist-info"))
	if err != nil {
		return "", "", err
	}
	programs := map[string]string{}
	for _, folder := range files {
		parts := distFolder.FindStringSubmatch(filepath.Base(folder))
		if parts == nil || normal(parts[1]) != normal(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, "entry_points.txt"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return "", "", err
		}
		section := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				section = line
			} else if entry := entryForm.FindStringSubmatch(line); entry != nil && section == "[console_scripts]" {
				programs[entry[1]] = entry[2]
			}
		}
	}
	return choose(programs, r.Program, name)
}

// writeStarter writes the Python file that runs a program. The scripts that pip writes name their
// interpreter by its absolute path, and the plugin runs in another folder.
func writeStarter(dir, program, target string) error {
	module, name, _ := strings.Cut(target, ":")
	first, _, _ := strings.Cut(name, ".")
	text := fmt.Sprintf("# Runs the program %s. Written by `toolhost mcp add`.\nimport sys\n\nfrom %s import %s\n\nif __name__ == \"__main__\":\n    sys.argv[0] = %q\n    sys.exit(%s())\n",
		program, module, first, program, name)
	return os.WriteFile(filepath.Join(dir, starter), []byte(text), 0o644)
}

// cleanScripts removes the programs of an environment except the interpreter: they name the folder of
// the installation, which is gone when the plugin runs.
func cleanScripts(env string) error {
	entries, err := os.ReadDir(filepath.Join(env, "bin"))
	for _, entry := range entries {
		if err == nil && !strings.HasPrefix(entry.Name(), "python") {
			err = os.RemoveAll(filepath.Join(env, "bin", entry.Name()))
		}
	}
	return err
}

// pipError returns the error of pip in few words.
func pipError(err error, stderr string) error {
	switch {
	case strings.Contains(stderr, "No matching distribution found"):
		return errors.New("PyPI has no wheel of the package, or of the version, for this Python; toolhost does not build packages from their sources, because that runs the author's code")
	case strings.Contains(stderr, "DO NOT MATCH THE HASHES"):
		return errors.New("the content of a package does not have the hash of the lock file")
	}
	return fmt.Errorf("pip failed: %w: %s", err, lastLines(stderr, 3))
}
