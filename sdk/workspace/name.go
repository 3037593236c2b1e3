package workspace

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// relative returns the name that a path stands for in a workspace that is known by the absolute paths that bases returns,
// which is asked only about absolute paths.
func relative(given string, bases func() []string) (string, error) {
	switch {
	case given == "":
		return "", errorf(fs.ErrInvalid, `the path is empty; "." is the workspace itself`)
	case strings.ContainsRune(given, 0):
		return "", errorf(fs.ErrInvalid, "the path %q contains a NUL character", given)
	case filepath.IsAbs(given):
		for _, base := range bases() {
			if name, err := filepath.Rel(base, given); err == nil && filepath.IsLocal(name) {
				return keepFolderMark(given, filepath.ToSlash(name)), nil
			}
		}
		return "", errorf(ErrOutside, `the path %q is absolute and outside of the workspace; paths are relative to the workspace, which is "."`, given)
	case !filepath.IsLocal(given):
		return "", errorf(ErrOutside, "the path %q leads out of the workspace; paths are relative to it and stay within it", given)
	}
	return tidy(filepath.ToSlash(given)), nil
}

// tidy leaves out what means nothing. What comes before a ".." may be a link, whose target is what ".." is then relative
// to, so such a name stays as it is.
func tidy(name string) string {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return name
	}
	return keepFolderMark(name, path.Clean(name))
}

// keepFolderMark returns name with the slash at its end that the path had, which says that it is that of a folder.
func keepFolderMark(given, name string) string {
	if name != "." && strings.HasSuffix(given, "/") && !strings.HasSuffix(name, "/") {
		return name + "/"
	}
	return name
}

// namesFolder reports whether a name is that of a folder by its spelling.
func namesFolder(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}
