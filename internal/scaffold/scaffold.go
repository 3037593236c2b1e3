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

// suffix is the suffix of all templates. It keeps Go and other tools from treating a template as a
// source file.
const suffix = ".tmpl"

// hidden contains the files and folders whose names begin with a dot in a repository. Their
// templates have names without the dot, because git and npm would apply them to this repository
// otherwise.
var hidden = map[string]string{"gitignore": ".gitignore", "github": ".github", "npmrc": ".npmrc"}

// Config describes the repository to write. All fields except Online and Checkout are required.
type Config struct {
	Name     string // name of the plugin; see CheckName
	Language string // one of Languages
	Dir      string // folder to write; it must be empty or missing
	Sources  fs.FS  // sources of the SDKs, from toolhost.Sources

	// Online makes the repository name the SDK's release in the public registry of its language,
	// from which a build fetches the SDK. Otherwise the repository contains the SDK. A repository
	// names no file outside of itself in both cases.
	Online bool
	// Checkout is a checkout of toolhost whose SDK the repository links, by a relative path if
	// possible. It must be empty if Online is true.
	Checkout string
}

// CheckName returns an error if a new plugin cannot have the name. The name must be valid for a
// plugin and short enough for the name of the tool, which begins with it.
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

// longestName is the maximum length that tool.CheckName accepts.
const longestName = 64

// toolName returns the name of the new plugin's tool. It contains the name of the plugin, because
// tool names are unique within a toolhost.
func toolName(plugin string) string {
	return strings.ToLower(strings.ReplaceAll(plugin, "-", "_")) + "_count_words"
}

// Write writes the repository and returns its files in order, relative to c.Dir. It overwrites
// nothing: it returns ErrNotEmpty before it writes if c.Dir contains anything. If c.Checkout is not
// a checkout, the error wraps ErrNoCheckout.
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

// ErrNotEmpty is the error for a Config.Dir that already contains files.
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

// writeNew writes a new file. It fails if the file exists.
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
	name string // path relative to the repository, with slashes
	text string
}

// blanks returns a replacer for the placeholders <%…%> of the templates. There are so few that the
// package does not need text/template.
func (c Config) blanks(sdk map[string]string) *strings.Replacer {
	// The prefix makes the name differ from that of the SDK's package for every plugin.
	pkg := "plugin-" + strings.ToLower(c.Name)
	pairs := []string{"<%Name%>", c.Name, "<%Tool%>", toolName(c.Name), "<%QuotedPackage%>", strconv.Quote(pkg)}
	for name, value := range sdk {
		pairs = append(pairs, "<%"+name+"%>", value)
	}
	return strings.NewReplacer(pairs...)
}

// render returns the files of a repository, ordered by name.
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

// sdk returns the files of the SDK and the template values that refer to it. There are no files if
// the SDK is linked.
func (c Config) sdk(l language) (files []file, blanks map[string]string, err error) {
	from, where := origin{fetched: c.Online}, ""
	switch {
	case c.Checkout != "":
		folder, err := l.sdkIn(c.Checkout)
		if err != nil {
			return nil, nil, err
		}
		from.linked = relative(c.Dir, folder)
		where = "The SDK is in a checkout of toolhost, `" + from.linked + "`. Only machines with that checkout can build this repository."
	case c.Online:
		where = "The build fetches toolhost's SDK from the public registry, in the version that `" + l.names + "` names."
	default:
		if files, err = l.carry(c.Sources); err != nil {
			return nil, nil, fmt.Errorf("making a copy of the SDK: %w", err)
		}
		where = "The folder `" + carriedDir + "` contains toolhost's SDK, so that the build fetches it from no registry. Commit that folder too."
	}
	if blanks, err = l.refer(c.Sources, from); err != nil {
		return nil, nil, fmt.Errorf("referring to the SDK: %w", err)
	}
	blanks["Where"] = where
	return files, blanks, nil
}

// target returns the path in the repository of the file that a template produces.
func target(name string) string {
	parts := strings.Split(strings.TrimSuffix(name, suffix), "/")
	for i, part := range parts {
		parts[i] = cmp.Or(hidden[part], part)
	}
	return strings.Join(parts, "/")
}
