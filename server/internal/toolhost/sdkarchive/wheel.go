package sdkarchive

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

const (
	pythonProject = "sdk/python/pyproject.toml"
	pythonSource  = "sdk/python/src/"
)

// Wheel returns the Python package as a wheel, such as toolhost_sdk-0.1.0-py3-none-any.whl.
func Wheel(sources fs.FS) (File, error) {
	d, err := readDistribution(sources)
	if err != nil {
		return File{}, err
	}
	data, err := d.wheel(sources)
	return File{d.stem() + "-py3-none-any.whl", data}, err
}

// distribution contains the metadata of the SDK from pyproject.toml.
type distribution struct {
	name, version, summary, license, python string
	dependencies, keywords, classifiers     []string
	extras                                  []extra
	urls                                    []string // such as "Source, https://…"
	readme                                  string
}

// extra is a name that a user may add to the requirement, as in toolhost-sdk[otel], and the
// dependencies that pip then installs, too.
type extra struct {
	name         string
	dependencies []string
}

// readDistribution reads lines of these forms from pyproject.toml and from the module with the
// version. It returns an error if a value has another form, so that a test finds the change.
var (
	tomlString  = regexp.MustCompile(`(?m)^([a-z-]+) = "([^"\\]*)"$`)
	tomlStrings = regexp.MustCompile(`(?ms)^([a-z][a-z0-9-]*) = \[(.*?)\]\n`)
	tomlElement = regexp.MustCompile(`"([^"\\]*)"`)
	tomlComment = regexp.MustCompile(`(?m)^#.*\n`)
	tomlURL     = regexp.MustCompile(`(?m)^([A-Za-z]+) = "([^"\\]*)"$`)
	pyVersion   = regexp.MustCompile(`(?m)^__version__ = "([^"\\]*)"$`)
)

func readDistribution(sources fs.FS) (distribution, error) {
	var texts [3]string
	for i, name := range []string{pythonProject, pythonSource + "toolhost/__init__.py", "sdk/python/README.md"} {
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return distribution{}, err
		}
		texts[i] = string(text)
	}
	project, addresses := tomlTable(texts[0], "project"), tomlTable(texts[0], "project.urls")
	values := map[string]string{}
	for _, m := range tomlString.FindAllStringSubmatch(project, -1) {
		values[m[1]] = m[2]
	}
	d := distribution{
		name: values["name"], summary: values["description"], license: values["license"], python: values["requires-python"], readme: texts[2],
	}
	if m := pyVersion.FindStringSubmatch(texts[1]); m != nil {
		d.version = m[1]
	}
	lists := map[string]*[]string{"dependencies": &d.dependencies, "keywords": &d.keywords, "classifiers": &d.classifiers}
	for _, m := range tomlStrings.FindAllStringSubmatch(project, -1) {
		for _, element := range tomlElement.FindAllStringSubmatch(m[2], -1) {
			if list := lists[m[1]]; list != nil {
				*list = append(*list, element[1])
			}
		}
	}
	for _, m := range tomlURL.FindAllStringSubmatch(addresses, -1) {
		d.urls = append(d.urls, m[1]+", "+m[2])
	}
	if slices.Contains([]string{d.name, d.summary, d.license, d.python, d.version}, "") || len(d.dependencies)*len(d.keywords)*len(d.classifiers)*len(d.urls) == 0 {
		return d, fmt.Errorf("%s does not say all that a wheel needs: %+v", pythonProject, d)
	}
	var err error
	d.extras, err = readExtras(tomlTable(texts[0], "project.optional-dependencies"))
	return d, err
}

// readExtras reads the table with the extras. The table may be missing. A line or an element in
// another form is an error: without it, the wheel would lack an extra, and pip only warns about a
// missing extra.
func readExtras(table string) ([]extra, error) {
	var extras []extra
	for _, m := range tomlStrings.FindAllStringSubmatch(table, -1) {
		e := extra{name: m[1]}
		for _, element := range tomlElement.FindAllStringSubmatch(m[2], -1) {
			if strings.Contains(element[1], ";") {
				return nil, fmt.Errorf("%s: the dependency %q of the extra %s has a marker, which the wheel cannot combine with the extra's", pythonProject, element[1], e.name)
			}
			e.dependencies = append(e.dependencies, element[1])
		}
		if rest := strings.Trim(tomlElement.ReplaceAllString(m[2], ""), ", \n"); rest != "" || len(e.dependencies) == 0 {
			return nil, fmt.Errorf("%s: the extra %s is not a list of strings: [%s]", pythonProject, e.name, m[2])
		}
		extras = append(extras, e)
	}
	if rest := strings.TrimSpace(tomlComment.ReplaceAllString(tomlStrings.ReplaceAllString(table, ""), "")); rest != "" {
		return nil, fmt.Errorf("%s: unknown lines among the extras: %s", pythonProject, rest)
	}
	return extras, nil
}

// tomlTable returns the lines of a table of a TOML file.
func tomlTable(text, name string) string {
	_, table, _ := strings.Cut(text, "\n["+name+"]\n")
	table, _, _ = strings.Cut(table, "\n[")
	return table + "\n"
}

// stem returns the part that the names of the wheel and of its dist-info folder have in common.
func (d distribution) stem() string { return strings.ReplaceAll(d.name, "-", "_") + "-" + d.version }

// metadata returns the wheel's core metadata, version 2.4.
func (d distribution) metadata() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\nLicense-Expression: %s\nLicense-File: LICENSE\nRequires-Python: %s\n",
		d.name, d.version, d.summary, d.license, d.python)
	fmt.Fprintf(&b, "Keywords: %s\n", strings.Join(slices.Sorted(slices.Values(d.keywords)), ","))
	for _, dependency := range d.dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", dependency)
	}
	for _, e := range d.extras {
		fmt.Fprintf(&b, "Provides-Extra: %s\n", e.name)
		for _, dependency := range e.dependencies {
			fmt.Fprintf(&b, "Requires-Dist: %s; extra == '%s'\n", dependency, e.name)
		}
	}
	for _, classifier := range d.classifiers {
		fmt.Fprintf(&b, "Classifier: %s\n", classifier)
	}
	for _, url := range d.urls {
		fmt.Fprintf(&b, "Project-URL: %s\n", url)
	}
	return b.String() + "Description-Content-Type: text/markdown\n\n" + d.readme
}

// wheel returns the archive. It contains the files of the package and the dist-info folder, whose
// RECORD contains the hashes of all files.
func (d distribution) wheel(sources fs.FS) ([]byte, error) {
	license, err := fs.ReadFile(sources, "LICENSE")
	if err != nil {
		return nil, err
	}
	files, err := filesIn(sources, pythonSource+"toolhost", pythonSource, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	info := d.stem() + ".dist-info/"
	files = append(files,
		File{info + "METADATA", []byte(d.metadata())},
		File{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: toolhost\nRoot-Is-Purelib: true\nTag: py3-none-any\n")},
		File{info + "licenses/LICENSE", license})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, File{info + "RECORD", []byte(record.String())}))
}
