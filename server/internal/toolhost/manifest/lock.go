package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// LockName is the default name of a lock file.
const LockName = "toolhost.lock"

// lockVersion is the version of the format.
const lockVersion = 1

// Lock is a toolhost.lock: the plugins that may run, by name. The file is YAML with one plugin on
// each line, in the order of names, so that a change of one plugin changes one line.
type Lock map[string]Pin

// Pin is the revision of a plugin that may run.
type Pin struct {
	Version string `yaml:"version" unset:"none"`               // for people; toolhost does not check it
	Digest  string `yaml:"digest" required:"true" is:"digest"` // sha256:…
}

// lockFile has the keys of a lock file.
type lockFile struct {
	Version int  `yaml:"version" required:"true" min:"1" max:"1"` // lockVersion
	Plugins Lock `yaml:"plugins" required:"true" keys:"name" hint:"write a mapping from names of plugins to their digests"`
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

// ReadLock reads a lock file. Its errors say line, column and what is allowed. check decides
// whether toolhost may use the content that was read, and ReadLock returns its error. nil accepts
// any content.
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
		return nil, fmt.Errorf("reading the lock file: %w; `toolhost lock` writes a new one", err)
	}
	return lock, nil
}

// ParseLock reads the text of a lock file. name is the name of the file in errors. If the error is
// nil, the Lock is not nil.
func ParseLock(name string, data []byte) (Lock, error) {
	d := yamldoc.NewDecoder(name)
	d.Checks = map[string]func(string) error{"digest": checkDigest}
	var f lockFile
	d.Decode(data, reflect.ValueOf(&f).Elem())
	if err := d.First(); err != nil {
		return nil, err
	}
	if f.Plugins == nil {
		f.Plugins = Lock{}
	}
	return f.Plugins, nil
}

func checkDigest(digest string) error {
	if !digestPattern.MatchString(digest) {
		return errors.New("a digest is sha256: and 64 hexadecimal digits")
	}
	return nil
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
		version, _ := json.Marshal(l[name].Version) // encoding a string cannot fail; a JSON string is a YAML string
		fmt.Fprintf(&b, "  %q: {version: %s, digest: %q}\n", name, version, l[name].Digest)
	}
	return b.String()
}

// WriteLock writes a lock file. If it fails, the old file is unchanged.
func WriteLock(path string, l Lock) error {
	if err := atomicfile.Write(path, []byte(l.String()), 0o644); err != nil { // a repository holds it, and other users read it
		return fmt.Errorf("writing the lock file: %w", err)
	}
	return nil
}
