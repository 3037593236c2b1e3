package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// language says where the SDK of a language is in a checkout of toolhost.
type language struct {
	folder string // in the checkout
	needs  string // a file in the folder, without which it cannot be used
	make   string // what makes that file; empty: it is part of the checkout
	packed string // how the name of a packed SDK ends; empty: there is none
}

var languages = map[string]language{
	"go":         {folder: ".", needs: "go.mod"},
	"python":     {folder: "sdk/python", needs: "pyproject.toml", packed: ".whl"},
	"typescript": {folder: "sdk/typescript", needs: "dist/index.js", make: "npm ci && npm run build", packed: ".tgz"},
}

// Languages returns the languages that there are repositories for, ordered.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

func unknownLanguage(name string) error {
	return fmt.Errorf("there is no language %q; use %s", name, strings.Join(Languages(), ", "))
}

// ErrNoSDK says that nobody knows where the SDK is.
var ErrNoSDK = errors.New("it is not known where the SDK is, and it is not published yet")

// FindSDK returns where the SDK of a language is, in the form that the language's own tools want. The path is that of a
// checkout of toolhost, or of a packed SDK: a wheel for Python, a tarball of `npm pack` for TypeScript. If it is empty, the
// checkout that holds the program is taken, if it is in one.
func FindSDK(name, path, program string) (string, error) {
	l, ok := languages[name]
	if !ok {
		return "", unknownLanguage(name)
	}
	if path == "" {
		if path = checkoutOf(program); path == "" {
			return "", ErrNoSDK
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("looking for the SDK: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking for the SDK: %w", err)
	case !info.IsDir() && (l.packed == "" || !strings.HasSuffix(path, l.packed)):
		return "", fmt.Errorf("looking for the SDK: %s is no checkout of toolhost%s", path, l.orPacked())
	case !info.IsDir():
		return reference(name, path), nil
	}
	folder := filepath.Join(path, filepath.FromSlash(l.folder))
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(l.needs))); err != nil {
		if _, err := os.Stat(folder); err == nil && l.make != "" {
			return "", fmt.Errorf("the SDK in %s is not built; run `%s` there", folder, l.make)
		}
		return "", fmt.Errorf("looking for the SDK: %s is no checkout of toolhost%s", path, l.orPacked())
	}
	return reference(name, folder), nil
}

func (l language) orPacked() string {
	if l.packed == "" {
		return ""
	}
	return ", nor a packed SDK, whose name ends in " + l.packed
}

// reference returns a path as a language's tools want it.
func reference(language, path string) string {
	switch language {
	case "python":
		return "toolhost @ " + (&url.URL{Scheme: "file", Path: path}).String()
	case "typescript":
		return "file:" + path
	default:
		return path
	}
}

// checkoutOf returns the checkout of toolhost that holds a program in its folder bin; empty if it is in none.
func checkoutOf(program string) string {
	dir := filepath.Dir(filepath.Dir(program))
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if program == "" || err != nil || !strings.HasPrefix(string(text), "module github.com/toolhost/toolhost\n") {
		return ""
	}
	return dir
}
