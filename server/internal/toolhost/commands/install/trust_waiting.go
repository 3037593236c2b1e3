package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// waiting adds all files and plugins that wait for the operator's trust to the view.
func (t *truster) waiting(ctx context.Context, v *trustView) error {
	v.nothing = "nothing waits for your trust"
	return errors.Join(t.waitingFiles(v), t.waitingPlugins(ctx, v))
}

// waitingFiles adds the files that were trusted and have changed or are gone, and the files of the
// current folder and of the operator's configuration folder that toolhost or agentd would refuse.
func (t *truster) waitingFiles(v *trustView) error {
	known, err := t.store.Files()
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current folder: %w", err)
	}
	var paths []string
	for _, file := range known {
		paths = append(paths, file.Path)
	}
	for _, name := range trust.FileNames() {
		if path := filepath.Join(cwd, name); exists(path) {
			paths = append(paths, path)
		}
		folder := trust.ConfigDir(t.conn.Process.Getenv)
		if path := filepath.Join(folder, name); folder != "" && t.refused(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if !exists(path) {
			v.Files = append(v.Files, fileTrust{Path: path, State: "gone"})
			continue
		}
		var one trustView
		if err := t.file(&one, path, true, false); err != nil {
			v.Files = append(v.Files, fileTrust{Path: path, State: "unreadable"})
			continue
		}
		if one.Files[0].State != "trusted" {
			v.Files = append(v.Files, one.Files[0])
		}
	}
	return nil
}

// refused reports whether a file of the operator's configuration folder exists and is not trusted.
func (t *truster) refused(path string) bool {
	file, err := trust.Read(path, true)
	if err != nil {
		return false
	}
	_, untrusted := errors.AsType[*trust.Untrusted](t.store.Check(file))
	return untrusted
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// waitingPlugins adds the plugins that toolhost does not start, or whose new declarations do not
// hold, before the operator trusts them. It looks at the folders of the configuration and at all
// folders that toolhost has used. It starts no plugin that toolhost would not start.
func (t *truster) waitingPlugins(ctx context.Context, v *trustView) error {
	used, err := t.store.PluginFolders()
	if err != nil {
		return err
	}
	options, refused := t.folderOptions()
	if refused != nil {
		v.note = "changed plugins are not compared, because the configuration cannot be used: " + cli.OneLine(refused.Error())
	}
	for _, folder := range options.Folders {
		if known, err := t.store.Known(folder); err == nil && known {
			used = append(used, trust.RealFolder(folder))
		}
	}
	slices.Sort(used)
	for _, folder := range slices.Compact(used) {
		sources, err := catalog.Sources(ctx, folder)
		if err != nil {
			continue // the folder does not exist any more
		}
		records, err := t.store.Plugins([]string{folder})
		if err != nil {
			return err
		}
		for _, source := range sources {
			known := records.Source(source)
			switch {
			case known == nil:
				v.Plugins = append(v.Plugins, pluginTrust{Plugin: filepath.Base(source), Path: source, State: "new", Changes: []string{
					"toolhost has not started it; `toolhost trust --diff " + filepath.Base(source) + "` starts it in its sandbox and shows its tools",
				}})
			case known.Name == "" || refused != nil: // its first description is trusted
			default:
				options.Folders = []string{folder}
				shown, err := t.plugin(ctx, options, source, true, false)
				if err != nil {
					return err
				}
				if reason := known.Refuses(shown.Digest, trust.HasOtherNames(source)); reason != "" {
					shown.Changes = append(shown.Changes, "toolhost does not upgrade to it, because "+reason)
				}
				if len(shown.Changes) > 0 {
					v.Plugins = append(v.Plugins, shown)
				}
			}
		}
	}
	return nil
}
