package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pluginFolder is the folder of an archive with the shipped plugins.
const pluginFolder = "libexec/toolhost/plugins"

// build is what the packages with programs contain for an architecture. The names are those below a
// prefix such as /usr.
type build struct {
	arch     string
	programs []archived // toolhost and agentd
	plugins  []archived
	texts    []archived // manual pages, completions and licenses
	bill     bill
}

// programs builds the programs for an architecture.
func (r *release) programs(ctx context.Context, arch string) (build, error) {
	b := build{arch: arch}
	bin, plugins := filepath.Join(r.scratch, arch, "bin"), filepath.Join(r.scratch, arch, "plugins")
	// Only the programs in server/cmd contain the commit, so that a commit leaves the plugins as they
	// are.
	linked := "-X github.com/toolhost/toolhost/internal/version.commit=" + r.commit
	if r.published {
		linked += " -X github.com/toolhost/toolhost/server/internal/toolhost/scaffold.published=yes"
	}
	err := errors.Join(r.compile(ctx, arch, "server", "./cmd/...", bin, linked), r.compile(ctx, arch, "plugins", "./...", plugins, ""))
	if err != nil {
		return b, err
	}
	if b.programs, err = programsIn("bin", bin); err != nil {
		return b, err
	}
	if b.plugins, err = programsIn(pluginFolder, plugins); err != nil {
		return b, err
	}
	if b.bill, err = programBill(slices.Concat(b.programs, b.plugins)); err != nil {
		return b, err
	}
	documents, err := r.documents()
	if err != nil {
		return b, err
	}
	licenses, err := r.licenses(ctx, arch)
	b.texts = slices.Concat(documents, licenses)
	return b, err
}

// archive writes the archive of an architecture.
func (r *release) archive(b build) (artifact, error) {
	files := slices.Concat(b.programs, b.plugins, b.texts)
	slices.SortFunc(files, func(a, b archived) int { return cmp.Compare(a.name, b.name) })
	folder := "toolhost-" + r.label() + "-linux-" + b.arch
	data, err := tarred(folder, files, r.time)
	if err != nil {
		return artifact{}, err
	}
	return artifact{folder + ".tar.gz", b.bill}, r.write(folder+".tar.gz", data)
}

// compile builds the programs of a pattern, in the module in a folder of the sources, for linux
// into the folder into. The environment has no influence on the result: compile sets every variable
// that changes the code which the compiler generates.
func (r *release) compile(ctx context.Context, arch, module, pattern, into, linked string) error {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", into+"/", "-ldflags", strings.TrimSpace("-s -w "+linked), pattern)
	cmd.Dir = filepath.Join(r.root, module)
	cmd.Env = goEnv(arch)
	_, err := output(cmd)
	return err
}

// goEnv returns the environment for the go command that builds for linux and an architecture.
func goEnv(arch string) []string {
	return append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-trimpath -buildvcs=false -mod=readonly -tags=grpcnotrace", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
}

// programsIn returns the programs in dir as files of an archive, below a folder.
func programsIn(folder, dir string) ([]archived, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var programs []archived
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		programs = append(programs, archived{name: path.Join(folder, entry.Name()), data: data, mode: 0o755, build: info})
	}
	return programs, nil
}

// licenseFile reports whether a file of a module has terms that a copy of the program must contain.
func licenseFile(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, ".GO")
	})
}

// licenses returns the license files of Go and of all modules that the programs contain. Most
// licenses demand that a copy of the program includes them.
func (r *release) licenses(ctx context.Context, arch string) ([]archived, error) {
	var lines []string
	for module, pattern := range map[string]string{"server": "./cmd/...", "plugins": "./..."} {
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}", pattern)
		list.Dir, list.Env = filepath.Join(r.root, module), goEnv(arch)
		printed, err := output(list)
		if err != nil {
			return nil, err
		}
		lines = append(lines, strings.Split(printed, "\n")...)
	}
	goroot := exec.CommandContext(ctx, "go", "env", "GOROOT")
	dir, err := output(goroot)
	if err != nil {
		return nil, err
	}
	slices.Sort(lines)
	var files []archived
	for _, line := range append(slices.Compact(lines), "go\t"+dir) {
		module, dir, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		found, err := licensesIn(dir, path.Join("share/doc/toolhost/licenses", module))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("the module %s has no license file; find out whether it can be released", module)
		}
		files = append(files, found...)
	}
	return files, nil
}

// licensesIn returns the license files of a module.
func licensesIn(dir, folder string) ([]archived, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []archived
	for _, entry := range entries {
		if entry.IsDir() || !licenseFile(entry.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, archived{name: path.Join(folder, entry.Name()), data: data, mode: 0o644})
	}
	return files, nil
}
