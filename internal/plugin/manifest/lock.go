package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/yamldoc"
	"github.com/toolhost/toolhost/tool"
)

// LockName is the usual name of a lock file.
const LockName = "toolhost.lock"

// lockVersion is the version of the lock file's form.
const lockVersion = 1

// Lock is a toolhost.lock: the plugins that may run, by name. It is YAML with one plugin on each line, ordered by name,
// so that a change of one plugin is a change of one line.
type Lock map[string]Pin

// Pin is the revision of a plugin that may run.
type Pin struct {
	Version string // for people; it is not checked
	Digest  string // sha256:…
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Has reports whether some plugin is pinned to the digest.
func (l Lock) Has(digest string) bool {
	for _, pin := range l {
		if pin.Digest == digest {
			return true
		}
	}
	return false
}

// ReadLock reads a lock file. Its errors say line, column and what is allowed. check decides whether the content that was
// read may be used; its error is returned. nil accepts any content.
func ReadLock(path string, check func(path string, data []byte) error) (Lock, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w; `toolhost lock` writes it while toolhost runs without --locked", err)
	}
	if check != nil {
		if err := check(path, data); err != nil {
			return nil, fmt.Errorf("reading the lock file: %w", err)
		}
	}
	lock, err := ParseLock(path, data)
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w; `toolhost lock` writes it anew", err)
	}
	return lock, nil
}

// ParseLock reads the text of a lock file. The name stands for the file in errors.
func ParseLock(name string, data []byte) (Lock, error) {
	root, err := yamldoc.Document{Name: name}.Parse(data)
	if err != nil {
		return nil, err
	}
	if root.IsZero() {
		return nil, root.Errorf("the file is empty")
	}
	fields, err := root.Fields("a lock file", "version", "plugins")
	if err != nil {
		return nil, err
	}
	var lock Lock
	version := 0
	for _, f := range fields {
		if f.Key == "version" {
			version, err = f.Value.Whole("version", lockVersion, lockVersion)
		} else {
			lock, err = parsePins(f.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	if version == 0 || lock == nil {
		return nil, root.Errorf("a lock file needs both keys, version and plugins")
	}
	return lock, nil
}

func parsePins(n yamldoc.Node) (Lock, error) {
	fields, err := n.Fields("plugins")
	if err != nil {
		return nil, err
	}
	lock := make(Lock, len(fields))
	for _, f := range fields {
		if err := tool.CheckName(f.Key); err != nil {
			return nil, f.Errorf("%w", err)
		}
		keys, err := f.Value.Fields("the plugin "+f.Key, "version", "digest")
		if err != nil {
			return nil, err
		}
		var pin Pin
		for _, k := range keys {
			if k.Key == "version" {
				pin.Version, err = k.Value.Text("version")
			} else if pin.Digest, err = k.Value.Text("digest"); err == nil && !digestPattern.MatchString(pin.Digest) {
				err = k.Value.Errorf("the digest has to be sha256: and 64 hexadecimal digits")
			}
			if err != nil {
				return nil, err
			}
		}
		if pin.Digest == "" {
			return nil, f.Errorf("the plugin %s has no digest", f.Key)
		}
		lock[f.Key] = pin
	}
	return lock, nil
}

// String returns the text of the lock file.
func (l Lock) String() string {
	var b strings.Builder
	b.WriteString("# Written by `toolhost lock`. `toolhost serve --locked` runs these plugins at these digests and nothing else.\n")
	fmt.Fprintf(&b, "version: %d\nplugins:", lockVersion)
	if len(l) == 0 {
		b.WriteString(" {}")
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(l)) {
		version, _ := json.Marshal(l[name].Version) // a string cannot fail; JSON's strings are YAML's
		fmt.Fprintf(&b, "  %q: {version: %s, digest: %q}\n", name, version, l[name].Digest)
	}
	return b.String()
}

// WriteLock writes a lock file, whole or not at all.
func WriteLock(path string, l Lock) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".toolhost-lock-*")
	if err == nil {
		defer os.Remove(temp.Name())
		_, err = temp.WriteString(l.String())
		if err == nil {
			err = temp.Chmod(0o644) // it is checked in and read by others
		}
		if err == nil {
			err = temp.Sync()
		}
		if closing := temp.Close(); err == nil {
			err = closing
		}
		if err == nil {
			err = os.Rename(temp.Name(), path)
		}
	}
	if err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	return nil
}
