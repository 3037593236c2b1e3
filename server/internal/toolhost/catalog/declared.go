package catalog

import (
	"context"
	"log/slog"
	"os"
)

// Declared has the names that the plugins in some folders declared.
type Declared struct {
	Plugins, Filters map[string]bool
	// Complete says that each plugin has declared its names, so that there are no others now.
	Complete bool
}

func newDeclared() Declared {
	return Declared{Plugins: map[string]bool{}, Filters: map[string]bool{}, Complete: true}
}

// Declared returns the names of all plugins.
func (s *Snapshot) Declared() Declared {
	d := newDeclared()
	for _, p := range s.Plugins() {
		d.Plugins[p.Info.Name] = true
		d.Complete = d.Complete && p.Problem == ""
		for _, f := range p.Info.Filters {
			d.Filters[f.Name] = true
		}
	}
	return d
}

// ReadDeclared returns the names that the plugins in the folders declared to earlier toolhosts with
// this state. It starts no plugin. Folders that cannot be read count as empty.
func ReadDeclared(ctx context.Context, stateDir string, folders []string) (Declared, error) {
	x, err := openIndex(stateDir, slog.New(slog.DiscardHandler))
	if err != nil {
		return Declared{}, err
	}
	s, d := &store{dir: storeDir(stateDir)}, newDeclared()
	for _, folder := range folders {
		found, _, err := scan(ctx, folder)
		if err != nil {
			continue
		}
		for _, e := range found {
			rec := x.get(e.source)
			known, _ := s.about(rec.Digest)
			if known.Description == nil || stampNow(ctx, e) != rec.Stamp {
				d.Complete = false
				continue
			}
			d.Plugins[known.Description.Name] = true
			for _, f := range known.Description.Filters {
				d.Filters[f.Name] = true
			}
		}
	}
	return d, nil
}

// stampNow returns the stamp of a source; empty if it cannot be read.
func stampNow(ctx context.Context, e entry) string {
	if !e.folder {
		return e.stamp
	}
	root, err := os.OpenRoot(e.source)
	if err != nil {
		return ""
	}
	defer root.Close()
	l, err := list(ctx, root)
	if err != nil {
		return ""
	}
	return l.stamp
}
