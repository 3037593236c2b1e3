//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// look finds out what the process will see. It returns the view, and the installations outside of
// the plugin's folder that the program needs.
func look(cfg Config, s Situation) (v *view, installed []string, err error) {
	v = newView()
	if err := v.grant(cfg); err != nil {
		return nil, nil, err
	}
	for _, path := range s.Own {
		if err := v.reveal(path, tool.AccessWrite); err != nil {
			return nil, nil, fmt.Errorf("granting it its own folder: %w", err)
		}
	}
	for _, paths := range [][]string{systemFolders[:], systemFiles[:], systemMatches()} {
		if err := v.revealAny(paths, tool.AccessRead); err != nil {
			return nil, nil, fmt.Errorf("granting it the system's libraries: %w", err)
		}
	}
	if installed, err = v.revealCode(cfg, s); err != nil {
		return nil, nil, err
	}
	v.addMemory()
	if err := v.shieldAll(cfg); err != nil {
		return nil, nil, err
	}
	return v, installed, nil
}

// systemMatches returns the existing files of the system's patterns.
func systemMatches() []string {
	var found []string
	for _, pattern := range systemPatterns {
		matches, _ := filepath.Glob(pattern) // it fails only for a malformed pattern
		found = append(found, matches...)
	}
	return found
}

// revealCode makes the program visible, with what it needs to run. It returns the installations
// outside of the plugin's folder.
func (v *view) revealCode(cfg Config, s Situation) (installed []string, err error) {
	code := []string{s.Program}
	if s.Folder != "" {
		code = append(code, s.Folder)
	}
	never := append(append([]string{cfg.Workspace}, cfg.Hidden...), s.Own...)
	for _, place := range new(Examiner).installations(s.Program, never) {
		if s.Folder == "" || !within(place, s.Folder) {
			installed = append(installed, place)
		}
	}
	for _, path := range append(code, installed...) {
		if err := v.reveal(path, tool.AccessRead); err != nil {
			return nil, fmt.Errorf("granting it its program: %w", err)
		}
	}
	return installed, nil
}

// addMemory adds the items that are on no disk.
func (v *view) addMemory() {
	add := func(it item) {
		if _, granted := v.items[it.path]; !granted {
			v.items[it.path] = it
		}
	}
	add(item{path: "/proc", kind: processes, access: tool.AccessRead, folder: true})
	for _, path := range devices {
		add(item{path: path, kind: device, access: tool.AccessWrite})
	}
	for path, target := range deviceLinks {
		v.links[path] = target
	}
	for _, path := range []string{"/tmp", "/dev/shm"} {
		if outer, ok := around(v.items, path); !ok || outer.kind != bound {
			add(item{path: path, kind: scratch, access: tool.AccessWrite, folder: true})
		}
	}
	for _, path := range maskedProc {
		if exists(path) {
			add(item{path: path, kind: nothing, access: tool.AccessRead, exact: true})
		}
	}
	for _, path := range maskedSystem {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			add(item{path: path, kind: nothing, access: tool.AccessRead, folder: true, exact: true})
		}
	}
}

func exists(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil
}
