package serverpackage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	pypiPins       = "requirements.txt"
	environmentDir = ".venv"
	starter        = "run.py"
)

// pipReport is the part of pip's report that names what it would install.
type pipReport struct {
	Install []struct {
		Direct   bool `json:"is_direct"` // it is named by a URL
		Metadata struct {
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

// installPyPI resolves the package into a requirements file with hashes, and installs the wheels
// that it pins into a Python environment in the folder. pip compares each wheel with its hash.
//
// It takes wheels of the index only. To build a source distribution, pip would run the author's
// code.
func (r *Request) installPyPI(ctx context.Context, dir string, o Options) (*Installed, error) {
	if err := missing("python3", "install Python 3.11 or later"); err != nil {
		return nil, err
	}
	s := environment(o.Environ).pip()
	s.env = append(s.env, "PIP_CONFIG_FILE="+os.DevNull, "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
		"PIP_CACHE_DIR="+filepath.Join(o.Scratch, "work", "cache"))
	c, err := newClient(o.Scratch, dir, s)
	if err != nil {
		return nil, err
	}
	tools, env := filepath.Join(c.dir, "pip"), filepath.Join(dir, environmentDir)
	for _, args := range [][]string{{tools}, {"--without-pip", env}} {
		if _, stderr, err := c.run(ctx, c.dir, "python3", append([]string{"-I", "-m", "venv"}, args...)...); err != nil {
			return nil, fmt.Errorf("python3 cannot make an environment: %w: %s; install python3-venv", err, lastLines(stderr, 2))
		}
	}
	pip := func(args ...string) error {
		_, stderr, err := c.run(ctx, c.dir, filepath.Join(tools, "bin", "python"),
			append([]string{"-I", "-c", pipGuard, "install", "--quiet", "--ignore-installed", "--only-binary=:all:"}, args...)...)
		if err != nil {
			return pipError(err, stderr)
		}
		return nil
	}
	pins, err := r.resolvePyPI(pip, dir, c.dir, o)
	if err != nil {
		return nil, err
	}
	if err := pip("--prefix", env, "--no-deps", "--require-hashes", "--no-compile", "--no-warn-script-location", "-r", filepath.Join(dir, pypiPins)); err != nil {
		return nil, err
	}
	name, version, err := r.pinned(pins)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	program, target, err := r.pypiProgram(root, name)
	if err != nil {
		return nil, err
	}
	if err := writeStarter(root, program, target); err != nil {
		return nil, err
	}
	return &Installed{
		Name: name, Version: version, Packages: len(pins), Pins: pypiPins,
		Command: append([]string{environmentDir + "/bin/python", starter}, r.Args...),
	}, cleanScripts(root)
}

// resolvePyPI writes the requirements file, and returns its pins. pip runs `pip install`, and may
// write into the folder work.
func (r *Request) resolvePyPI(pip func(args ...string) error, dir, work string, o Options) ([]pin, error) {
	if o.Lock != "" {
		data, err := readLock(o.Lock)
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
	const report = "report.json"
	if err := pip(append([]string{"--dry-run", "--report", filepath.Join(work, report), "--", r.Spec}, r.With...)...); err != nil {
		return nil, err
	}
	data, err := readLeft(work, report)
	if err != nil {
		return nil, err
	}
	pins, err := reported(data)
	if err != nil {
		return nil, err
	}
	return pins, os.WriteFile(filepath.Join(dir, pypiPins), pinText(pins), 0o644)
}

// reported returns the pins of pip's report. It refuses what is no wheel of the index.
func reported(data []byte) ([]pin, error) {
	var report pipReport
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("reading pip's report: %w", err)
	}
	var pins []pin
	for _, i := range report.Install {
		hash := i.Download.Archive.Hashes["sha256"]
		one := pin{i.Metadata.Name, i.Metadata.Version, hashOption + hash}
		switch {
		case i.Direct:
			return nil, fmt.Errorf("a package names %s by a URL, and toolhost installs wheels of the index alone", i.Metadata.Name)
		case !pinForm.Match(bytes.TrimSpace(pinText([]pin{one}))):
			return nil, fmt.Errorf("no hash pins %s %s", i.Metadata.Name, i.Metadata.Version)
		}
		pins = append(pins, one)
	}
	slices.SortFunc(pins, func(a, b pin) int { return strings.Compare(normal(a.name), normal(b.name)) })
	return pins, nil
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
func (r *Request) pypiProgram(root *os.Root, name string) (program, target string, err error) {
	files, err := fs.Glob(root.FS(), path.Join(environmentDir, "lib", "python*", "site-packages", "*.dist-info"))
	if err != nil {
		return "", "", err
	}
	programs := map[string]string{}
	for _, folder := range files {
		parts := distFolder.FindStringSubmatch(path.Base(folder))
		if parts == nil || normal(parts[1]) != normal(name) {
			continue
		}
		data, err := readLeft(root.Name(), path.Join(folder, "entry_points.txt"))
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
func writeStarter(root *os.Root, program, target string) error {
	module, name, _ := strings.Cut(target, ":")
	first, _, _ := strings.Cut(name, ".")
	text := fmt.Sprintf("# Runs the program %s. Written by `toolhost mcp add`.\nimport sys\n\nfrom %s import %s\n\nif __name__ == \"__main__\":\n    sys.argv[0] = %q\n    sys.exit(%s())\n",
		program, module, first, program, name)
	return root.WriteFile(starter, []byte(text), 0o644)
}

// cleanScripts removes the programs of an environment except the interpreter: they name the folder
// of the installation, which is gone when the plugin runs.
func cleanScripts(root *os.Root) error {
	bin := path.Join(environmentDir, "bin")
	entries, err := fs.ReadDir(root.FS(), bin)
	for _, entry := range entries {
		if err == nil && !strings.HasPrefix(entry.Name(), "python") {
			err = root.RemoveAll(path.Join(bin, entry.Name()))
		}
	}
	return err
}

// pipError returns the error of pip in few words.
func pipError(err error, stderr string) error {
	if refused := guarded(stderr); refused != nil {
		return refused
	}
	switch {
	case strings.Contains(stderr, "No matching distribution found"):
		return errors.New("PyPI has no wheel of the package, or of the version, for this Python; toolhost does not build packages from their sources, because that runs the author's code")
	case strings.Contains(stderr, "DO NOT MATCH THE HASHES"):
		return errors.New("the content of a package does not have the hash of the lock file")
	}
	return fmt.Errorf("pip failed: %w: %s", err, lastLines(stderr, 3))
}
