package workspace

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Relative implements Rel for a workspace with absolute paths.
func Relative(path string, dirs []string) (name string, err error) {
	return relative(path, func() []string { return dirs })
}

// relative returns the name of a path in a workspace. bases returns the absolute paths of the
// workspace; relative calls it only for absolute paths.
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

// tidy removes elements without a meaning. It does not remove an element before "..": the element
// may be a link, and ".." is then relative to the link's target.
func tidy(name string) string {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return name
	}
	return keepFolderMark(name, path.Clean(name))
}

// keepFolderMark returns name with the slash at the end of the path, which marks a folder.
func keepFolderMark(given, name string) string {
	if name != "." && strings.HasSuffix(given, "/") && !strings.HasSuffix(name, "/") {
		return name + "/"
	}
	return name
}

// namesFolder reports whether the spelling of a name marks a folder.
func namesFolder(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}
