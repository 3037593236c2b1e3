package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// upgradeGo edits go.mod, go.sum and the SDK's folder. It returns the version that go.mod required.
// The error is fs.ErrNotExist if there is no go.mod that requires the SDK.
func upgradeGo(r repository) (from string, err error) {
	text, err := r.read("go.mod")
	if err != nil {
		return "", err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	required := slices.IndexFunc(mod.Require, func(line *modfile.Require) bool { return line.Mod.Path == sdkarchive.ModulePath })
	if required < 0 || mod.Module != nil && mod.Module.Mod.Path == sdkarchive.ModulePath {
		return "", fs.ErrNotExist
	}
	from = strings.TrimPrefix(mod.Require[required].Mod.Version, "v")
	if err := dropReplacements(mod); err != nil {
		return "", err
	}
	if err := mod.AddRequire(sdkarchive.ModulePath, goVersion); err != nil {
		return "", err
	}
	if !r.online {
		if err := r.carryIn(mod); err != nil {
			return "", err
		}
	}
	mod.Cleanup()
	mod.SortBlocks()
	if r.edits["go.mod"], err = mod.Format(); err != nil {
		return "", err
	}
	return from, r.replaceCarried(carryGo, func(name string) bool { return strings.HasPrefix(name, carriedGo+"/") })
}

// dropReplacements removes the line that replaces the SDK by the copy in the repository. It returns
// an error if go.mod replaces the SDK by something else, because that is a decision of the author.
func dropReplacements(mod *modfile.File) error {
	for _, line := range slices.Clone(mod.Replace) {
		switch {
		case line.Old.Path != sdkarchive.ModulePath:
		case line.New.Path == "./"+carriedGo:
			if err := mod.DropReplace(line.Old.Path, line.Old.Version); err != nil {
				return err
			}
		case modfile.IsDirectoryPath(line.New.Path):
			return ErrLinked
		default:
			return fmt.Errorf("%w: go.mod replaces the SDK by %s; remove that line first", ErrUnknown, line.New.Path)
		}
	}
	return nil
}

// carryIn makes go.mod replace the SDK by the copy, and raises the versions of the modules that the
// copy needs. The go command refuses to build with a lower version. It adds the checksums of these
// modules to go.sum, and keeps those of the author's modules.
func (r repository) carryIn(mod *modfile.File) error {
	sdk, err := sdkarchive.GoModule(r.sources, r.use())
	if err != nil {
		return err
	}
	if err := mod.AddReplace(sdkarchive.ModulePath, goVersion, "./"+carriedGo, ""); err != nil {
		return err
	}
	needs, err := modfile.Parse("go.mod", []byte("module sdk\n\n"+sdk.Requires), nil)
	if err != nil {
		return err
	}
	has := map[string]string{}
	for _, line := range mod.Require {
		has[line.Mod.Path] = line.Mod.Version
	}
	for _, need := range needs.Require {
		switch version := has[need.Mod.Path]; {
		case version == "":
			mod.AddNewRequire(need.Mod.Path, need.Mod.Version, true)
		case semver.Compare(version, need.Mod.Version) < 0:
			if err := mod.AddRequire(need.Mod.Path, need.Mod.Version); err != nil {
				return err
			}
		}
	}
	if mod.Go == nil || semver.Compare("v"+mod.Go.Version, "v"+sdk.GoVersion) < 0 {
		if err := mod.AddGoStmt(sdk.GoVersion); err != nil {
			return err
		}
	}
	// A repository that fetches the SDK has no go.sum before its first build.
	sums, err := r.read("go.sum")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.edits["go.sum"] = mergeSums(sums, sdk.Sum)
	return nil
}

// use returns the packages that the copy of the SDK must contain: those of the present copy, or all
// if there is none.
func (r repository) use() sdkarchive.GoUse {
	_, plugins := fs.Stat(r, carriedGo+"/sdk")
	_, callers := fs.Stat(r, carriedGo+"/client")
	switch {
	case plugins == nil && callers != nil:
		return sdkarchive.ForPlugins
	case plugins != nil && callers == nil:
		return sdkarchive.ForCallers
	}
	return sdkarchive.ForPlugins | sdkarchive.ForCallers
}

// mergeSums returns the lines of both files in the order that the go command uses.
func mergeSums(a, b []byte) []byte {
	hashes := map[module.Version]string{}
	for line := range strings.Lines(string(a) + "\n" + string(b)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			hashes[module.Version{Path: fields[0], Version: fields[1]}] = fields[2]
		}
	}
	modules := make([]module.Version, 0, len(hashes))
	for m := range hashes {
		modules = append(modules, m)
	}
	module.Sort(modules)
	var merged strings.Builder
	for _, m := range modules {
		fmt.Fprintf(&merged, "%s %s %s\n", m.Path, m.Version, hashes[m])
	}
	return []byte(merged.String())
}
