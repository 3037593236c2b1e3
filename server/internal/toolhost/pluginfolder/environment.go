package pluginfolder

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/toolhost/contentlink"
)

// environmentMark is the file by which Python recognizes an environment.
const environmentMark = "pyvenv.cfg"

// shared returns the files that plugins in the folder have in common.
func (f *Folder) shared() *contentlink.Folder {
	return contentlink.At(filepath.Join(f.dir, sharedName), 0o755)
}

// shareEnvironments makes the plugins of the folder share the files of their Python environments.
// Two plugins with the same version of the SDK have almost all of these files in common, 36 MB
// each. Package managers replace the files of an environment and do not write into them. Other
// files are not shared, because an operator may edit them in place, and the edit would change other
// plugins.
//
// The catalog never runs these files. It runs a sealed copy of the content that it hashed.
func (f *Folder) shareEnvironments(ctx context.Context, plugin string) error {
	return filepath.WalkDir(plugin, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if info, err := os.Lstat(filepath.Join(path, environmentMark)); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if err := f.shareAll(ctx, path); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

func (f *Folder) shareAll(ctx context.Context, environment string) error {
	shared := f.shared()
	return filepath.WalkDir(environment, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() == 0 {
			return err
		}
		mode := info.Mode() &^ 0o222
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		hash, err := contentlink.HashFile(ctx, path)
		if err != nil {
			return err
		}
		return shared.Adopt(ctx, path, hash, mode)
	})
}
