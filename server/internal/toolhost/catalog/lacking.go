package catalog

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
)

// Lacking returns what is missing to serve the plugins that a state folder knows, as sentences. A
// backup has the folder's catalog, which has the paths and digests of plugins, and not the plugins
// and their copies. So the file of a plugin may be missing after a restore, and for a plugin that
// was rolled back, the file has another digest than the one in service.
func Lacking(stateDir string) ([]string, error) {
	x, err := openIndex(stateDir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	s := &store{dir: storeDir(stateDir)}
	var lacking []string
	for _, source := range slices.Sorted(slices.Values(x.sources())) {
		r := x.get(source)
		_, err := os.Stat(source)
		switch inService := r.Current; {
		case err != nil:
			lacking = append(lacking, fmt.Sprintf("the plugin %s (%s) is not here; the backup has no plugins, so copy or install it", source, r.Digest))
		case inService != "" && inService != r.Digest && !exists(s.path(inService, source)):
			lacking = append(lacking, fmt.Sprintf("the plugin %s was rolled back to %s, of which the backup has no copy; toolhost will use the file, with the digest %s, or install the other one",
				source, inService, r.Digest))
		}
	}
	return lacking, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
