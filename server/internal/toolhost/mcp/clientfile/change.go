package clientfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// Place is the file of a client, and what toolhost does there. All fields but Project are required.
type Place struct {
	Client  Client
	Getenv  func(string) string
	Project string // the folder of a project; empty: the file of the user
	Program string // the absolute path of toolhost
}

// What a change does to a file.
const (
	Added    = "added"    // there was no such entry
	Updated  = "updated"  // there was an entry of toolhost, which had another command line
	Replaced = "replaced" // there was an entry of something else
	Removed  = "removed"  // the entry
	Restored = "restored" // the file is as it was before connect
	Nothing  = "nothing"  // there is nothing to do
)

// Change is a change of a file that is not made yet. Use Place.Connect or Place.Disconnect.
type Change struct {
	File    string   // behind all links
	Done    string   // such as Added
	Diff    string   // for people; it has the entry and nothing else of the file
	Keeps   []string // members of the entry that connect did not write and keeps; nil: none
	file    *file
	made    []byte
	gone    bool // the file is removed
	backups backups
}

// ErrTaken is the error for an entry that does not start toolhost, or, in a project, this one.
var ErrTaken = errors.New("does not start this toolhost")

// Path returns the file of the client. It may not exist.
func (p *Place) Path() (string, error) { return p.Client.path(p.Getenv, p.Project) }

// read returns the file, and its values.
func (p *Place) read() (*file, map[string]any, error) {
	path, err := p.Path()
	if err != nil {
		return nil, nil, err
	}
	f, err := readFile(path, p.Project)
	if err != nil {
		return nil, nil, fmt.Errorf("the file of %s: %w", p.Client.Title, err)
	}
	tree, err := p.Client.syntax.decode(f.data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not a file of %s: %w", f.path, p.Client.Title, err)
	}
	return f, tree, nil
}

// Entry is an entry that starts toolhost.
type Entry struct {
	Name  string   `json:"name"`
	Line  []string `json:"command"`
	Keeps []string `json:"keeps"` // the names of its members that connect does not write; null: none
}

// isOurs reports whether an entry starts `mcp serve` of a toolhost. That of this place may have
// another name. In a project it is the only one that counts: a project may come from somebody else,
// with another program of the name.
func (p *Place) isOurs(entry any) bool {
	line := lineOf(entry)
	return len(line) >= 3 && (line[0] == p.Program || p.Project == "" && filepath.Base(line[0]) == "toolhost") && line[1] == "mcp" && line[2] == "serve"
}

// kept returns the names of the members of an entry that connect does not write, or writes with
// another value. They may change what the command line starts, as variables and folders do.
func (p *Place) kept(entry any) []string {
	written := p.Client.form(lineOf(entry)).tree()
	var names []string
	for name, value := range entry.(map[string]any) {
		if name != commandKey && name != argumentsKey && !reflect.DeepEqual(value, written[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Entries returns the entries that start toolhost, and whether the file exists.
func (p *Place) Entries() (entries []Entry, exists bool, err error) {
	f, tree, err := p.read()
	if err != nil {
		return nil, false, err
	}
	servers, _ := at(tree, p.servers(tree)).(map[string]any)
	for name, entry := range servers {
		if p.isOurs(entry) {
			entries = append(entries, Entry{name, lineOf(entry), p.kept(entry)})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, f.exists, nil
}

// servers returns the keys that lead to the object with the entries.
func (p *Place) servers(tree map[string]any) []string {
	keys := p.Client.servers
	if p.Client.nested == "" {
		return keys
	}
	deeper := append(keys[:len(keys):len(keys)], p.Client.nested)
	if inner, ok := at(tree, deeper).(map[string]any); ok {
		if _, isEntry := inner["type"].(string); !isEntry {
			return deeper
		}
	}
	return keys
}

// Connect returns the change that makes the entry of a name start the program with arguments. It
// keeps what else an entry of toolhost has. It replaces an entry of something else only if replace
// is set, and returns ErrTaken otherwise.
func (p *Place) Connect(name string, arguments []string, replace bool) (*Change, error) {
	f, before, err := p.read()
	if err != nil {
		return nil, err
	}
	path := append(p.servers(before), name)
	entry := p.Client.form(append([]string{p.Program}, arguments...))
	if len(path) > len(p.Client.servers)+1 { // that form has no member enabled
		entry = slices.DeleteFunc(entry, func(m member) bool { return m.key == "enabled" })
	}
	line := slices.DeleteFunc(slices.Clone(entry), func(m member) bool { return m.key != commandKey && m.key != argumentsKey })
	c := &Change{File: f.path, file: f, backups: p.backups(f, name)}
	old := at(before, path)
	want := entry.tree()
	switch {
	case old == nil:
		c.Done = Added
		c.made, err = p.Client.syntax.put(f.data, path, entry)
	case p.isOurs(old):
		c.Keeps = p.kept(old)
		if slices.Equal(lineOf(old), lineOf(want)) {
			return &Change{File: f.path, Done: Nothing, Keeps: c.Keeps}, nil
		}
		c.Done = Updated
		want = maps.Clone(old.(map[string]any))
		maps.Copy(want, line.tree())
		c.made, err = p.Client.syntax.update(f.data, path, line)
	case !replace:
		return nil, fmt.Errorf("%s in %s %w", strings.Join(path, "."), f.path, ErrTaken)
	default:
		c.Done = Replaced
		c.made, err = p.Client.syntax.put(f.data, path, entry)
	}
	if err == nil {
		err = p.verify(before, c.made, path, want)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be changed: %w; write the entry yourself:\n%s", f.path, err, p.Client.syntax.render(path, entry))
	}
	c.Diff = p.diff(f.path, path, old, entry)
	return c, nil
}

// Disconnect returns the change that removes the entry of a name, if it starts toolhost. If the
// file is byte for byte what Connect made of it, the change brings back what it was before.
func (p *Place) Disconnect(name string) (*Change, error) {
	f, before, err := p.read()
	if err != nil {
		return nil, err
	}
	path := append(p.servers(before), name)
	old := at(before, path)
	c := &Change{File: f.path, file: f, backups: p.backups(f, name)}
	switch {
	case old == nil:
		return &Change{File: f.path, Done: Nothing}, nil
	case !p.isOurs(old):
		return nil, fmt.Errorf("%s in %s %w", strings.Join(path, "."), f.path, ErrTaken)
	}
	c.Diff = p.diff(f.path, path, old, nil)
	if data, existed, ok := c.backups.of(f); ok {
		c.Done, c.made, c.gone = Restored, data, !existed
		return c, nil
	}
	c.Done = Removed
	if c.made, err = p.Client.syntax.remove(f.data, path); err == nil {
		err = p.verify(before, c.made, path, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be changed: %w; remove %s yourself", f.path, err, strings.Join(path, "."))
	}
	return c, nil
}

func (p *Place) backups(f *file, name string) backups {
	return backupsOf(trust.Dir(p.Getenv), p.Client.Name, name, f.path)
}

// verify returns an error if a new text has anything but a value (nil: nothing) at a path that the
// old one did not have.
func (p *Place) verify(before map[string]any, made []byte, path []string, value any) error {
	if len(made) > MaxBytes {
		return fmt.Errorf("it would have more than %d bytes", MaxBytes)
	}
	after, err := p.Client.syntax.decode(made)
	if err != nil {
		return fmt.Errorf("the result would not be valid: %w", err)
	}
	if !changesOnly(before, after, path, value) {
		return errors.New("more would change than this entry")
	}
	return nil
}

// diff returns what becomes of an entry: of the members that have the command line if it starts
// toolhost, and its name otherwise, because the rest may be secret.
func (p *Place) diff(file string, path []string, old any, entry object) string {
	lines := func(entry object) []string {
		return strings.SplitAfter(strings.TrimSuffix(p.Client.syntax.render(path, entry), "\n"), "\n")
	}
	var from, to []string
	if line := lineOf(old); p.isOurs(old) {
		from = lines(p.Client.form(line))
	} else if old != nil {
		from = []string{strings.Join(path, ".") + " (its content is not shown)"}
	}
	if entry != nil {
		to = lines(entry)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %[1]s\n@@ %s @@\n", cli.OneLine(file), strings.Join(path, "."))
	show := func(sign, line string) { fmt.Fprintf(&b, "%s%s\n", sign, strings.TrimSuffix(line, "\n")) }
	if len(from) == len(to) {
		for i := range from {
			if from[i] == to[i] {
				show(" ", from[i])
			} else {
				show("-", from[i])
				show("+", to[i])
			}
		}
		return b.String()
	}
	for _, line := range from {
		show("-", line)
	}
	for _, line := range to {
		show("+", line)
	}
	return b.String()
}

// Apply makes the change. It returns the path of the backup of the earlier file, or an empty text
// if there is none: the file did not exist, or it was restored from its backup.
func (c *Change) Apply() (backup string, err error) {
	if c.Done == Nothing {
		return "", nil
	}
	existed := false
	if c.Done != Restored {
		if backup, existed, err = c.backups.save(c.file, c.made); err != nil {
			return "", fmt.Errorf("storing a backup of %s: %w", c.File, err)
		}
	}
	if c.gone {
		err = c.file.remove()
	} else {
		err = c.file.replace(c.made)
	}
	if err != nil {
		if backup != "" {
			_ = os.Remove(backup) // the earlier one is still there
		}
		return "", fmt.Errorf("writing %s: %w", c.File, err)
	}
	err = c.backups.clear(backup)
	if !existed {
		backup = ""
	}
	return backup, err
}
