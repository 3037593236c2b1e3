package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// language knows how a repository gets the SDK of its language.
type language struct {
	folder string // of the SDK in a checkout of toolhost
	needs  string // a file in that folder

	// carry returns the files that hold the SDK in a repository, made of the sources.
	carry func(sources fs.FS) ([]file, error)
	// refer returns the blanks that let a repository use the SDK: the carried one, or, if path is not empty, the one in
	// that folder of a checkout.
	refer func(sources fs.FS, path string) (map[string]string, error)
}

var languages = map[string]language{
	"go":         {folder: ".", needs: "go.mod", carry: carryGo, refer: referGo},
	"python":     {folder: "sdk/python", needs: "pyproject.toml", carry: carryPython, refer: referPython},
	"typescript": {folder: "sdk/typescript", needs: "package.json", carry: carryTypeScript, refer: referTypeScript},
}

// carriedDir is the folder of a repository that holds the SDK, with slashes.
const carriedDir = "third_party"

// Languages returns the languages that there are repositories for, ordered.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// CheckLanguage returns an error that names the languages, or nil if the name is one of them.
func CheckLanguage(name string) error {
	if _, ok := languages[name]; !ok {
		return fmt.Errorf("there is no language %q; use %s", name, strings.Join(Languages(), ", "))
	}
	return nil
}

// ErrNoCheckout says that a path to link is not a checkout of toolhost.
var ErrNoCheckout = errors.New("it is not a checkout of toolhost; name the folder that holds toolhost's go.mod")

// modulePath begins the go.mod of a checkout.
const modulePath = "github.com/toolhost/toolhost"

// sdkIn returns the absolute path of a language's SDK in a checkout.
func (l language) sdkIn(checkout string) (string, error) {
	resolved, err := filepath.Abs(checkout)
	if err == nil {
		resolved, err = filepath.EvalSymlinks(resolved)
	}
	if err != nil {
		return "", fmt.Errorf("looking for the SDK in %s: %w: %w", checkout, ErrNoCheckout, err)
	}
	text, err := os.ReadFile(filepath.Join(resolved, "go.mod"))
	folder := filepath.Join(resolved, filepath.FromSlash(l.folder))
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, l.needs))
	}
	if err != nil || !strings.HasPrefix(string(text), "module "+modulePath+"\n") {
		return "", fmt.Errorf("looking for the SDK in %s: %w", checkout, ErrNoCheckout)
	}
	return folder, nil
}

// relative returns the path of a folder as seen from another one, which need not exist yet, with slashes. Links on the way
// to either are followed first, because ".." does not undo them. Where there is no such path, it returns the folder.
func relative(from, folder string) string {
	existing, rest := from, ""
	for {
		resolved, err := filepath.EvalSymlinks(existing)
		if err == nil {
			from = filepath.Join(resolved, rest)
			break
		}
		parent := filepath.Dir(existing)
		if parent == existing {
			break
		}
		existing, rest = parent, filepath.Join(filepath.Base(existing), rest)
	}
	path, err := filepath.Rel(from, folder)
	if err != nil {
		return filepath.ToSlash(folder)
	}
	return filepath.ToSlash(path)
}
