package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"

	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// goProxy is the folder of the release with the layout of a module proxy; see
// https://go.dev/ref/mod#goproxy-protocol. GOPROXY=file://…/goproxy reads it.
const goProxy = "goproxy"

// goModule writes the repository's Go module. Its zip contains what the go command takes from the
// tag of a forge, so that both have the same checksum.
func (r *release) goModule() (artifact, error) {
	mod, err := r.read("go.mod")
	if err != nil {
		return artifact{}, err
	}
	parsed, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return artifact{}, err
	}
	v := module.Version{Path: sdkarchive.ModulePath, Version: "v" + r.version}
	if parsed.Module.Mod.Path != v.Path {
		return artifact{}, fmt.Errorf("go.mod declares the module %s", parsed.Module.Mod.Path)
	}
	if len(parsed.Replace) > 0 {
		return artifact{}, fmt.Errorf("go.mod has a replace directive, which users of the module would not get")
	}
	var files []zip.File
	for _, name := range r.files {
		files = append(files, moduleFile{root: r.root, name: name})
	}
	var archive bytes.Buffer
	// Create leaves out the files of nested modules, as the go command does.
	if err := zip.Create(&archive, v, files); err != nil {
		return artifact{}, err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{v.Version, r.time})
	if err != nil {
		return artifact{}, err
	}
	escaped, err := module.EscapePath(v.Path)
	if err != nil {
		return artifact{}, err
	}
	folder := goProxy + "/" + escaped + "/@v/"
	for name, data := range map[string][]byte{
		"list": []byte(v.Version + "\n"), v.Version + ".info": info, v.Version + ".mod": mod, v.Version + ".zip": archive.Bytes(),
	} {
		if err := r.write(folder+name, data); err != nil {
			return artifact{}, err
		}
	}
	zipped := folder + v.Version + ".zip"
	sum, err := dirhash.HashZip(filepath.Join(r.dir, filepath.FromSlash(zipped)), dirhash.Hash1)
	if err != nil {
		return artifact{}, err
	}
	// The module cache has such a file, too. It contains the checksum that go.sum has.
	if err := r.write(folder+v.Version+".ziphash", []byte(sum)); err != nil {
		return artifact{}, err
	}
	return artifact{zipped, moduleBill(parsed)}, nil
}

// moduleFile is a file of the checkout.
type moduleFile struct{ root, name string }

func (f moduleFile) Path() string                 { return f.name }
func (f moduleFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path()) }
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(f.path()) }
func (f moduleFile) path() string                 { return filepath.Join(f.root, filepath.FromSlash(f.name)) }
