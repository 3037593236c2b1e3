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

// language describes how a repository uses the SDK of its language.
type language struct {
	folder string // folder of the SDK in a checkout of toolhost
	needs  string // file that must exist in that folder

	// carry returns the files that contain the SDK in a repository. sources contains toolhost's
	// sources.
	carry func(sources fs.FS) ([]file, error)
	// refer returns the template values with which a repository uses the SDK: the SDK in that
	// folder of a checkout, or, if path is empty, the SDK in the repository.
	refer func(sources fs.FS, path string) (map[string]string, error)
}

var languages = map[string]language{
	"go":         {folder: ".", needs: "go.mod", carry: carryGo, refer: referGo},
	"python":     {folder: "sdk/python", needs: "pyproject.toml", carry: carryPython, refer: referPython},
	"typescript": {folder: "sdk/typescript", needs: "package.json", carry: carryTypeScript, refer: referTypeScript},
}

// carriedDir is the folder of a repository that contains the SDK, with slashes.
const carriedDir = "third_party"

// Languages returns the supported languages in alphabetical order.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// CheckLanguage returns nil if the language is supported. Otherwise it returns an error that lists
// the supported ones.
func CheckLanguage(name string) error {
	if _, ok := languages[name]; !ok {
		return fmt.Errorf("there is no language %q; use %s", name, strings.Join(Languages(), ", "))
	}
	return nil
}

// ErrNoCheckout is the error for a Config.Checkout that is not a checkout of toolhost.
var ErrNoCheckout = errors.New("it is not a checkout of toolhost; name the folder that holds toolhost's go.mod")

// modulePath is the module in the go.mod of a checkout.
const modulePath = "github.com/toolhost/toolhost"

// sdkIn returns the absolute path of the language's SDK in a checkout.
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

// relative returns the path of folder relative to from, with slashes. from need not exist. relative
// resolves symbolic links in from first, because ".." does not undo them. It returns folder itself
// if no relative path exists.
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
