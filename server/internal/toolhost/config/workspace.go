package config

import (
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Workspace says in which folders tools work.
type Workspace struct {
	// Where the files are on which the shipped tools, and tools that use the Go SDK's OpenWorkspace,
	// work: `local` is folders of this machine, `memory` a workspace in the memory of toolhost, which
	// has no commands and is lost when toolhost ends, `remote` a server, which also runs the commands.
	// With `memory` and `remote`, plugins that open files by path have no workspace.
	Backend string `yaml:"backend" default:"local" oneof:"local,memory,remote"`
	// Whose calls share a workspace: `shared` is one workspace for all calls, `tenant` one for each
	// tenant, `session` one for each session of each principal. With `session`, each session has its
	// own instance of every plugin that has access to the workspace.
	Mode string `yaml:"mode" default:"shared" oneof:"shared,tenant,session"`
	// With mode `shared`, the workspace, which must exist. With the other modes, the folder that
	// holds the workspaces; toolhost creates it, and no grant of a plugin may contain it. Only with
	// backend `local`.
	Folder string `yaml:"folder" is:"folder" short:"true" unset:"the working directory of toolhost, with mode shared only"`
	// The most bytes of one workspace. toolhost measures it while processes use it, ends those that
	// can write it if it is larger, and then lets tools only remove files. Not with mode `shared`.
	// With backend `memory`, a write that would exceed it fails, and `unlimited` means 64 MiB.
	Quota Size `yaml:"quota" default:"unlimited" zero:"unlimited" min:"1MiB"`
	// How long a workspace stays that no process uses. Not with mode `shared`.
	Keep time.Duration `yaml:"keep" default:"forever" zero:"forever" min:"1m"`
	// Whose files they are, if several toolhosts share a ledger (`records`): `own` says that each has
	// its own disk. A session then works at the toolhost of its first call, and a person is asked
	// before it goes on in the workspace of another one. `common` says that all have the same volume.
	// Only with backend `local`.
	Volume string `yaml:"volume" oneof:"own,common" unset:"own, and common with mode shared"`
	// The server of backend `remote`, such as `toolhost workspace serve`.
	Remote RemoteWorkspace `yaml:"remote"`
}

// RemoteWorkspace is the server that has the workspaces. Plugins never get its credentials.
type RemoteWorkspace struct {
	// The address. A connection over TCP always has TLS.
	Address string `yaml:"address" is:"server" unset:"no server"`
	// The certificates of the authorities that sign the certificate of the server, as PEM.
	Authorities string `yaml:"authorities" is:"file" unset:"those of the system"`
	// The name in the certificate of the server.
	ServerName string `yaml:"server_name" is:"host" unset:"the host of address"`
	// The certificate that toolhost presents to the server, with its chain, as PEM. It needs `key`.
	Certificate string `yaml:"certificate" is:"file" unset:"none"`
	// The private key of `certificate`, as PEM.
	Key string `yaml:"key" is:"file" unset:"none"`
	// A file with the bearer token for the server. toolhost reads it again when it changes.
	TokenFile string `yaml:"token_file" is:"file" unset:"no token"`
}

// Files returns the files that no plugin may see.
func (r RemoteWorkspace) Files() []string {
	var files []string
	for _, file := range []string{r.Key, r.TokenFile} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files
}

// The backends of Workspace.
const (
	LocalBackend  = "local"
	MemoryBackend = "memory"
	RemoteBackend = "remote"
)

// The modes of Workspace.
const (
	SharedWorkspace  = "shared"
	TenantWorkspace  = "tenant"
	SessionWorkspace = "session"
)

// The volumes of Workspace.
const (
	OwnVolume    = "own"
	CommonVolume = "common"
)

// OfOne reports whether the files are at one toolhost, and no other one has them.
func (w *Workspace) OfOne() bool {
	return w.Backend == LocalBackend && (w.Volume == OwnVolume || w.Volume == "" && w.Mode != SharedWorkspace)
}

// checkWorkspace reports keys that have no meaning with the mode of the workspace, and plugins
// whose isolation contradicts it.
func (d *decoder) checkWorkspace() {
	w := d.config.Workspace
	d.checkBackend(w)
	if w.Mode == SharedWorkspace {
		if w.Backend != LocalBackend {
			return
		}
		for key, set := range map[string]bool{"workspace.quota": w.Quota != 0, "workspace.keep": w.Keep != 0} {
			if at, given := d.At[key]; given && set {
				d.Fail(at, key, "this key has a meaning only with mode: tenant or session")
			}
		}
		return
	}
	if at, given := d.At["workspace.mode"]; given && w.Backend == LocalBackend && w.Folder == "" && !d.Failed("workspace.folder") {
		d.Fail(at, "workspace.mode", "the mode %s needs a folder that holds the workspaces; write folder and a path", w.Mode)
	}
	if w.Mode != SessionWorkspace {
		return
	}
	names := slices.Sorted(maps.Keys(d.config.ByPlugin))
	for i, s := range append([]PluginSettings{d.config.Defaults}, plugins(d.config, names)...) {
		key := "defaults.isolation"
		if i > 0 {
			key = yamldoc.Join(yamldoc.Join("plugin", names[i-1]), "isolation")
		}
		if at, given := d.At[key]; given && s.Isolation == lifecycle.PerCall && s.Sandbox.Workspace != string(tool.AccessNone) {
			d.Fail(at, key, "the workspace mode session gives each session its own instance; with isolation: call, set sandbox.workspace to none")
		}
	}
}

// checkBackend reports keys that have no meaning with the backend of the workspace, and those that
// it needs.
func (d *decoder) checkBackend(w Workspace) {
	if at, given := d.At["workspace.backend"]; given {
		switch {
		case w.Backend == RemoteBackend && w.Remote.Address == "" && !d.Failed("workspace.remote.address"):
			d.Fail(at, "workspace.backend", "the backend remote needs a server; write remote: {address: HOST:PORT} below workspace")
		case w.Backend == MemoryBackend && w.Mode != SharedWorkspace:
			d.Fail(at, "workspace.backend", "the backend memory has one workspace for all calls; leave out mode, or use the backend local or remote")
		}
	}
	if (w.Remote.Certificate == "") != (w.Remote.Key == "") {
		d.Fail(d.At["workspace.remote"], "workspace.remote", "certificate and key belong together; write both, or neither")
	}
	meaningless := map[string]bool{
		"workspace.remote": w.Backend != RemoteBackend && w.Remote != RemoteWorkspace{},
		"workspace.folder": w.Backend != LocalBackend && w.Folder != "",
		"workspace.volume": w.Backend != LocalBackend && w.Volume != "",
		"workspace.keep":   w.Backend != LocalBackend && w.Keep != 0,
		"workspace.quota":  w.Backend == RemoteBackend && w.Quota != 0,
	}
	for key, set := range meaningless {
		if at, given := d.At[key]; given && set {
			d.Fail(at, key, "this key has no meaning with the backend %s", w.Backend)
		}
	}
}
