package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/modfile"

	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// programBill returns the bill of an archive of programs: each program, and the modules that the
// linker recorded in it. The order of the programs does not matter.
func programBill(programs []archived) (bill, error) {
	b := bill{kind: cdx.ComponentTypeApplication, uses: map[string][]string{}}
	modules := map[string]cdx.Component{}
	programs = slices.SortedFunc(slices.Values(programs), func(a, b archived) int { return strings.Compare(a.name, b.name) })
	for _, p := range programs {
		digest := sha256.Sum256(p.data)
		ref := "program:" + p.name
		b.components = append(b.components, cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: path.Base(p.name),
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(digest[:])}},
		})
		b.uses[self] = append(b.uses[self], ref)
		used := []cdx.Component{goModule("std", strings.TrimPrefix(p.build.GoVersion, "go"), "")}
		for _, dep := range p.build.Deps {
			if dep.Path == sdkarchive.ModulePath {
				continue // the plugins, a module of their own, contain packages of toolhost
			}
			if dep.Replace != nil {
				return bill{}, fmt.Errorf("%s was built with a replacement of %s", p.name, dep.Path)
			}
			used = append(used, goModule(dep.Path, dep.Version, dep.Sum))
		}
		for _, c := range used {
			modules[c.BOMRef] = c
			b.uses[ref] = append(b.uses[ref], c.BOMRef)
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		b.components = append(b.components, modules[ref])
	}
	return b, nil
}

// goModule returns the component for a Go module. sum is its checksum in go.sum, or empty.
func goModule(name, version, sum string) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: "pkg:golang/" + name + "@" + version}
	c.BOMRef = c.PackageURL
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "toolhost:go.sum", Value: sum}}
	}
	return c
}

// moduleBill returns the bill of the Go module: the modules that its go.mod requires.
func moduleBill(mod *modfile.File) bill {
	b := bill{
		kind: cdx.ComponentTypeLibrary, purl: "pkg:golang/" + mod.Module.Mod.Path, uses: map[string][]string{self: nil},
	}
	for _, required := range mod.Require {
		c := goModule(required.Mod.Path, required.Mod.Version, "")
		b.components = append(b.components, c)
		b.uses[self] = append(b.uses[self], c.BOMRef)
	}
	return b
}

// pythonBill returns the bill of the Python packages. Their requirements are ranges of versions, so
// that the components have no version.
func pythonBill(sources fs.FS) (bill, error) {
	requirements, err := sdkarchive.PythonRequirements(sources)
	if err != nil {
		return bill{}, err
	}
	b := bill{kind: cdx.ComponentTypeLibrary, purl: "pkg:pypi/toolhost-sdk", uses: map[string][]string{self: nil}}
	for _, requirement := range requirements {
		name := requirement
		if end := strings.IndexAny(requirement, "<>=!~[; "); end >= 0 {
			name = requirement[:end]
		}
		ref := "pkg:pypi/" + strings.ToLower(name)
		b.components = append(b.components, cdx.Component{
			BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: name, PackageURL: ref, Scope: cdx.ScopeRequired,
			Properties: &[]cdx.Property{{Name: "toolhost:requirement", Value: requirement}},
		})
		b.uses[self] = append(b.uses[self], ref)
	}
	return b, nil
}

// lockedPackage is a package in package-lock.json.
type lockedPackage struct {
	Version, Integrity, License string
	Dev, Peer                   bool
	Dependencies                map[string]string
}

// npmBill returns the bill of the npm package: its dependencies and theirs, in the versions that
// the SDK's tests use.
func (r *release) npmBill() (bill, error) {
	text, err := r.read("sdk/typescript/package-lock.json")
	if err != nil {
		return bill{}, err
	}
	var lock struct{ Packages map[string]lockedPackage }
	if err := json.Unmarshal(text, &lock); err != nil {
		return bill{}, fmt.Errorf("reading package-lock.json: %w", err)
	}
	b := bill{kind: cdx.ComponentTypeLibrary, purl: "pkg:npm/%40toolhost/sdk", uses: map[string][]string{}}
	const modules = "node_modules/"
	for _, place := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[place]
		if p.Dev || p.Peer {
			continue
		}
		ref := self
		if place != "" {
			c, err := npmComponent(place[strings.LastIndex(place, modules)+len(modules):], p)
			if err != nil {
				return bill{}, err
			}
			b.components = append(b.components, c)
			ref = c.BOMRef
		}
		b.uses[ref] = nil
		for _, name := range slices.Sorted(maps.Keys(p.Dependencies)) {
			found, ok := lock.Packages[place+"/"+modules+name]
			if !ok {
				found = lock.Packages[modules+name]
			}
			b.uses[ref] = append(b.uses[ref], npmURL(name, found.Version))
		}
	}
	return b, nil
}

// npmURL returns the package URL of an npm package.
func npmURL(name, version string) string {
	return "pkg:npm/" + strings.ReplaceAll(name, "@", "%40") + "@" + version
}

// npmComponent returns the component for a package of package-lock.json.
func npmComponent(name string, p lockedPackage) (cdx.Component, error) {
	c := cdx.Component{
		BOMRef: npmURL(name, p.Version), Type: cdx.ComponentTypeLibrary, Name: name, Version: p.Version, PackageURL: npmURL(name, p.Version),
	}
	if p.License != "" {
		c.Licenses = &cdx.Licenses{{Expression: p.License}}
	}
	encoded, ok := strings.CutPrefix(p.Integrity, "sha512-")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return c, fmt.Errorf("package-lock.json has no SHA-512 digest of %s", name)
	}
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: hex.EncodeToString(sum)}}
	return c, nil
}
