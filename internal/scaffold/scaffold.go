package scaffold

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

//go:embed all:templates
var templates embed.FS

// suffix ends the names of all templates, so that no tool takes them for what they become.
const suffix = ".tmpl"

// hidden are files whose names begin with a dot in a repository, and not among the templates, where they would count.
var hidden = map[string]string{"gitignore": ".gitignore", "npmrc": ".npmrc"}

// Config says what is written. All fields but Checkout are required.
type Config struct {
	Name     string // of the plugin; see CheckName
	Language string // one of Languages
	Dir      string // the folder to write; it may exist if it is empty
	Sources  fs.FS  // of the SDKs, as the package toolhost holds them

	// Checkout is a folder of toolhost's repository whose SDK the repository links, by a relative path where there is one.
	// If it is empty, the repository carries the SDK and names nothing outside of itself.
	Checkout string
}

// CheckName returns an error that says why no plugin can be begun under a name, or nil. It has to be a plugin's name and
// leave room for those of its tools.
func CheckName(name string) error {
	if err := tool.CheckName(name); err != nil {
		return err
	}
	if err := tool.CheckName(toolName(name)); err != nil {
		return fmt.Errorf("the name %q is too long, because that of the plugin's tool begins with it; use at most %d characters",
			name, len(name)-(len(toolName(name))-longestName))
	}
	return nil
}

// longestName is what tool.CheckName allows.
const longestName = 64

// toolName returns the name of the tool of a new plugin. Names of tools are unique in a toolhost.
func toolName(plugin string) string {
	return strings.ToLower(strings.ReplaceAll(plugin, "-", "_")) + "_count_words"
}

// Write writes the repository, and returns its files, relative to the folder and in order. It overwrites nothing: if the
// folder holds anything already, that is an error and nothing is written. An error that wraps ErrNoCheckout says that
// Checkout is not one.
func Write(c Config) ([]string, error) {
	if err := CheckName(c.Name); err != nil {
		return nil, err
	}
	files, err := render(c)
	if err != nil {
		return nil, err
	}
	if err := checkEmpty(c.Dir); err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		into := filepath.Join(c.Dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil {
			return nil, fmt.Errorf("writing the plugin's repository: %w", err)
		}
		if err := writeNew(into, f.text); err != nil {
			return nil, fmt.Errorf("writing the plugin's repository: %w", err)
		}
		names = append(names, f.name)
	}
	return names, nil
}

// ErrNotEmpty says that there are files where a new repository is to be.
var ErrNotEmpty = errors.New("the folder is not empty")

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at the folder: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%s: %w, it holds %s; name another with --dir", dir, ErrNotEmpty, entries[0].Name())
	}
	return nil
}

// writeNew writes a file that must not be there yet.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// file is one file of a repository.
type file struct {
	name string // with slashes
	text string
}

// blanks fills in the blanks of templates. The package text/template would be too much for these few, in every sense.
func (c Config) blanks(sdk map[string]string) *strings.Replacer {
	pkg := "plugin-" + strings.ToLower(c.Name) // never the name of the SDK's package
	pairs := []string{"<%Name%>", c.Name, "<%Tool%>", toolName(c.Name), "<%QuotedPackage%>", strconv.Quote(pkg)}
	for name, value := range sdk {
		pairs = append(pairs, "<%"+name+"%>", value)
	}
	return strings.NewReplacer(pairs...)
}

// render makes the files of a repository, ordered by name.
func render(c Config) ([]file, error) {
	if err := CheckLanguage(c.Language); err != nil {
		return nil, err
	}
	files, sdk, err := c.sdk(languages[c.Language])
	if err != nil {
		return nil, err
	}
	root, blanks := path.Join("templates", c.Language), c.blanks(sdk)
	err = fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates, name)
		if err != nil {
			return err
		}
		files = append(files, file{target(strings.TrimPrefix(name, root+"/")), blanks.Replace(string(text))})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("making the files of a plugin: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// sdk returns the files that hold the SDK in the repository, none if it is linked, and the blanks that refer to it.
func (c Config) sdk(l language) (files []file, blanks map[string]string, err error) {
	var linked string
	if c.Checkout != "" {
		folder, err := l.sdkIn(c.Checkout)
		if err != nil {
			return nil, nil, err
		}
		linked = relative(c.Dir, folder)
	} else if files, err = l.carry(c.Sources); err != nil {
		return nil, nil, fmt.Errorf("making a copy of the SDK: %w", err)
	}
	if blanks, err = l.refer(c.Sources, linked); err != nil {
		return nil, nil, fmt.Errorf("referring to the SDK: %w", err)
	}
	blanks["Where"] = "The repository carries toolhost's SDK, which is not published yet, in `" + carriedDir + "`. Commit that folder, too."
	if linked != "" {
		blanks["Where"] = "The SDK is linked from a checkout of toolhost, `" + linked + "`. Without `--sdk`, `toolhost new` puts a copy of the SDK here instead."
	}
	return files, blanks, nil
}

// target returns the name of the file that a template becomes.
func target(name string) string {
	dir, base := path.Split(strings.TrimSuffix(name, suffix))
	if dotted, ok := hidden[base]; ok {
		base = dotted
	}
	return dir + base
}
