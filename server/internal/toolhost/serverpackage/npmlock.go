package serverpackage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// npmLock is a package-lock.json, as far as toolhost takes it over. A lock file may be hostile, and
// it can make npm fetch a repository, a URL, or a file. So toolhost gives npm a lock file of its
// own, which has only names, versions and hashes: npm then fetches NAME@VERSION of its registry and
// compares the archive with the hash.
type npmLock struct {
	Version  int                    `json:"lockfileVersion"`
	Requires bool                   `json:"requires"`
	Packages map[string]*npmPackage `json:"packages"` // by path; "" is the folder itself
}

// npmPackage is a package in a lock file. The fields without a tag are read and not written.
type npmPackage struct {
	npmOrigin
	Name                 string                     `json:"name,omitempty"` // if the path has another one
	Version              string                     `json:"version,omitempty"`
	Integrity            string                     `json:"integrity,omitempty"`
	InBundle             bool                       `json:"inBundle,omitempty"` // a part of the archive of another package
	HasInstallScript     bool                       `json:"hasInstallScript,omitempty"`
	Dev                  bool                       `json:"dev,omitempty"`
	DevOptional          bool                       `json:"devOptional,omitempty"`
	Optional             bool                       `json:"optional,omitempty"`
	Peer                 bool                       `json:"peer,omitempty"`
	Bin                  map[string]string          `json:"bin,omitempty"`
	BundleDependencies   json.RawMessage            `json:"bundleDependencies,omitempty"` // true, or a list of names
	Dependencies         map[string]string          `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string          `json:"optionalDependencies,omitempty"`
	PeerDependencies     map[string]string          `json:"peerDependencies,omitempty"`
	PeerDependenciesMeta map[string]json.RawMessage `json:"peerDependenciesMeta,omitempty"`
	Engines              json.RawMessage            `json:"engines,omitempty"`
	OS                   json.RawMessage            `json:"os,omitempty"`
	CPU                  json.RawMessage            `json:"cpu,omitempty"`
	Libc                 json.RawMessage            `json:"libc,omitempty"`
}

// npmOrigin is where a package comes from. npm finds the archives of the registry without it.
type npmOrigin struct {
	Resolved string `json:"resolved,omitempty"` // a URL, or a path
	Link     bool   `json:"link,omitempty"`     // a link to a folder
}

const (
	npmManifest = "package.json"
	npmPins     = "package-lock.json"
	npmHidden   = "node_modules/.package-lock.json" // what npm has installed
	modules     = "node_modules/"
)

var (
	npmPath    = regexp.MustCompile(`^(/?node_modules/(@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*)+$`)
	npmName    = regexp.MustCompile(`^(@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*$`)
	npmVersion = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][\w.+-]*)?$`)
	npmHash    = regexp.MustCompile(`^(sha1-[A-Za-z0-9+/]{27}=|sha256-[A-Za-z0-9+/]{43}=|sha384-[A-Za-z0-9+/]{64}|sha512-[A-Za-z0-9+/]{86}==)$`)
	npmAlias   = regexp.MustCompile(`^npm:(@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*@?`)
	npmArchive = regexp.MustCompile(`(?i)\.(tgz|tar\.gz|tar)$`)
)

// parseNPMLock reads the text of a lock file. name is that of the file.
func parseNPMLock(name string, data []byte) (*npmLock, error) {
	var lock npmLock
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	for at, p := range lock.Packages {
		if p == nil {
			return nil, fmt.Errorf("reading %s: the package %q is null", name, at)
		}
	}
	return &lock, nil
}

// check returns the one package that the folder depends on, and the packages with install scripts.
// It fails unless each package is an archive of the registry with a hash, or a part of one.
func (l *npmLock) check(skipScripts bool) (name string, scripts []string, err error) {
	if own := l.Packages[""]; own != nil {
		for at := range own.Dependencies {
			name = at
		}
	}
	if l.Packages[modules+name] == nil || name == "" {
		return "", nil, errors.New("npm did not say which package it installs")
	}
	var loose []string
	for at, p := range l.Packages {
		parts := strings.Split(at, modules)
		shown := parts[len(parts)-1] + "@" + p.Version
		for _, needs := range []map[string]string{p.Dependencies, p.OptionalDependencies} {
			for other, spec := range needs {
				if rest := npmAlias.ReplaceAllString(spec, ""); strings.ContainsAny(rest, ":/\\") || npmArchive.MatchString(rest) {
					loose = append(loose, other+"@"+spec)
				}
			}
		}
		if at == "" {
			continue
		}
		if !l.archived(at, p) {
			loose = append(loose, shown)
		}
		if p.HasInstallScript {
			scripts = append(scripts, shown)
		}
	}
	slices.Sort(loose)
	slices.Sort(scripts)
	switch {
	case len(loose) > 0:
		return "", nil, fmt.Errorf("no hash pins %s: it comes from a repository, a URL or a folder, and toolhost installs archives of the registry alone",
			strings.Join(slices.Compact(loose), ", "))
	case len(scripts) > 0 && !skipScripts:
		return "", nil, fmt.Errorf("toolhost runs no code during an installation, and %s wants to run a script; "+
			"--skip-install-scripts installs it without the script", strings.Join(scripts, ", "))
	}
	return name, scripts, nil
}

// archived reports whether a package is an archive of the registry with a hash, or in one.
func (l *npmLock) archived(at string, p *npmPackage) bool {
	switch {
	case !npmPath.MatchString(at) || p.Link || !npmVersion.MatchString(p.Version) || p.Name != "" && !npmName.MatchString(p.Name):
		return false
	case p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://") && !strings.HasPrefix(p.Resolved, "http://"):
		return false
	case p.Integrity == "":
		return p.Resolved == "" && l.bundled(at, p)
	}
	hashes := strings.Fields(p.Integrity)
	return len(hashes) > 0 && !slices.ContainsFunc(hashes, func(hash string) bool { return !npmHash.MatchString(hash) })
}

// bundled reports whether a package is in the archive of one around it, which says that it has a
// bundle.
func (l *npmLock) bundled(at string, p *npmPackage) bool {
	for p.InBundle && p.Integrity == "" {
		end := strings.LastIndex(at, "/"+modules)
		if end < 0 {
			return false
		}
		if at = at[:end]; l.Packages[at] == nil {
			return false
		}
		p = l.Packages[at]
	}
	var all bool
	var names []string
	_, _ = json.Unmarshal(p.BundleDependencies, &all), json.Unmarshal(p.BundleDependencies, &names) // one fails
	return p.Integrity != "" && (all || len(names) > 0)
}

// write writes the lock file and the package.json that it belongs to.
func (l *npmLock) write(dir string) error {
	own := map[string]any{"name": "toolhost-mcp-server", "private": true, "dependencies": l.Packages[""].Dependencies}
	lock := npmLock{Version: 3, Requires: true, Packages: map[string]*npmPackage{
		"": {Name: "toolhost-mcp-server", Dependencies: l.Packages[""].Dependencies},
	}}
	for at, p := range l.Packages {
		if at != "" && p.Integrity != "" { // npm finds the others in archives, and fetches none that is missing
			kept := *p
			kept.npmOrigin = npmOrigin{}
			lock.Packages[at] = &kept
		}
	}
	for name, value := range map[string]any{npmManifest: own, npmPins: lock} {
		text, err := json.MarshalIndent(value, "", "  ")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare returns an error if npm has installed another package than those that the lock file pins:
// one without a hash, which is not in the archive that should contain it.
func (l *npmLock) compare(dir string) error {
	data, err := readLeft(dir, npmHidden)
	if err != nil {
		return fmt.Errorf("looking at what npm has installed: %w", err)
	}
	installed, err := parseNPMLock(npmHidden, data)
	if err != nil {
		return err
	}
	for at, p := range installed.Packages {
		pinned := l.Packages[at]
		if pinned == nil && p.InBundle {
			pinned = &npmPackage{} // the lock file need not name the parts of an archive
		}
		if pinned == nil || pinned.Integrity != p.Integrity {
			return fmt.Errorf("npm has installed %s, which no hash pins", at)
		}
	}
	return nil
}
