package main

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// debian is the folder of the checkout with the units, the configuration and the scripts of the
// Debian package.
const debian = "deploy/debian/"

// debianFiles are the places of its files. Those in /etc are conffiles: an upgrade keeps what the
// operator has changed.
var debianFiles = []struct {
	name, place string
	mode        fs.FileMode
}{
	{"toolhost.service", "/usr/lib/systemd/system/toolhost.service", 0o644},
	{"toolhost.socket", "/usr/lib/systemd/system/toolhost.socket", 0o644},
	{"agentd.service", "/usr/lib/systemd/system/agentd.service", 0o644},
	{"agentd.socket", "/usr/lib/systemd/system/agentd.socket", 0o644},
	{"sysusers.conf", "/usr/lib/sysusers.d/toolhost.conf", 0o644},
	{"toolhost.yaml", "/etc/toolhost/toolhost.yaml", 0o644},
	{"agentd.yaml", "/etc/toolhost/agentd.yaml", 0o644},
	{"agentd.env", "/etc/toolhost/agentd.env", 0o600},
}

// deb writes the Debian package of an architecture.
func (r *release) deb(b build) (artifact, error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "toolhost", Arch: b.arch, Platform: "linux", Version: r.version, Section: "net", Priority: "optional",
		Maintainer: "The authors of toolhost <toolhost@users.noreply.github.com>", Homepage: "https://github.com/toolhost/toolhost",
		Description: "tools for language models, as plugins in sandboxes\n" +
			"toolhost runs tool plugins in any language in sandboxes, supervises them, and\n" +
			"serves their tools over gRPC and MCP. agentd runs language models with these\n" +
			"tools. The package has both as services of systemd, and the shipped plugins.",
		MTime: r.time, DisableGlobbing: true,
	})
	if r.dirty() {
		info.VersionMetadata = "dirty"
	}
	info.Depends = []string{"systemd", "passwd"}
	info.Recommends = []string{"ca-certificates"}
	// A tenth of gzip's time. dpkg reads it in Debian 12, Ubuntu 22.04, and later.
	info.Deb.Compression = "zstd:default"
	info.Scripts = nfpm.Scripts{PostInstall: r.path(debian + "postinst"), PreRemove: r.path(debian + "prerm"), PostRemove: r.path(debian + "postrm")}
	for _, f := range debianFiles {
		c := &files.Content{Source: r.path(debian + f.name), Destination: f.place, FileInfo: r.owned(f.mode)}
		if strings.HasPrefix(f.place, "/etc/") {
			c.Type = files.TypeConfig
		}
		info.Contents = append(info.Contents, c)
	}
	tree := filepath.Join(r.scratch, b.arch, "deb")
	for _, f := range slices.Concat(b.programs, b.plugins, b.texts) {
		place, data, err := debianPlace(f)
		if err != nil {
			return artifact{}, err
		}
		source := filepath.Join(tree, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return artifact{}, err
		}
		if err := os.WriteFile(source, data, 0o600); err != nil {
			return artifact{}, err
		}
		info.Contents = append(info.Contents, &files.Content{Source: source, Destination: place, FileInfo: r.owned(fs.FileMode(f.mode))})
	}
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return artifact{}, err
	}
	var pkg bytes.Buffer
	if err := deb.Default.Package(info, &pkg); err != nil {
		return artifact{}, err
	}
	name := deb.Default.ConventionalFileName(info)
	return artifact{name, b.bill}, r.write(name, pkg.Bytes())
}

// owned returns the metadata of a file of root.
func (r *release) owned(mode fs.FileMode) *files.ContentFileInfo {
	return &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}
}

// debianPlace returns where Debian expects a file of an archive, and its content there.
func debianPlace(f archived) (place string, data []byte, err error) {
	switch plugin, isPlugin := strings.CutPrefix(f.name, pluginFolder+"/"); {
	case isPlugin:
		return "/usr/lib/toolhost/plugins/" + plugin, f.data, nil
	case f.name == "LICENSE":
		return "/usr/share/doc/toolhost/copyright", f.data, nil
	case f.name == "CHANGELOG.md":
		data, err = gzipped(f.data)
		return "/usr/share/doc/toolhost/CHANGELOG.md.gz", data, err
	case f.name == "README.md":
		return "/usr/share/doc/toolhost/README.md", f.data, nil
	case strings.HasPrefix(f.name, "share/man/"):
		data, err = gzipped(f.data)
		return "/usr/" + f.name + ".gz", data, err
	case strings.HasPrefix(f.name, "share/zsh/site-functions/"):
		return "/usr/share/zsh/vendor-completions/" + strings.TrimPrefix(f.name, "share/zsh/site-functions/"), f.data, nil
	}
	return "/usr/" + f.name, f.data, nil
}

// gzipped compresses a file without a time and a name.
func gzipped(data []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return compressed.Bytes(), err
}
