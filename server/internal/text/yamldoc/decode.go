package yamldoc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/tool"
)

var typeJSON = reflect.TypeFor[json.RawMessage]()

// Decoder decodes one file into a struct that holds its defaults. It does not stop at the first
// error: Errs has everything that is wrong with the file. One goroutine may use it. NewDecoder
// returns one.
type Decoder struct {
	// At is the place of each value that the file has, by the full name of its key, such as
	// "launch.parallel".
	At map[string]Place
	// Keys is the place of each key in a mapping from names, by the full name of the key.
	Keys map[string]Place
	// Errs is everything that is wrong so far.
	Errs Errors
	// Deprecated lists the deprecated keys that the file uses, and what to write instead. They are
	// not errors: the decoder treats them like the keys that replace them.
	Deprecated Errors
	// Checks has a function for each word of the tags "is" and "keys" that is not built in. It
	// returns why a text is not allowed. A word without a function allows every text.
	Checks map[string]func(text string) error
	// New returns the struct that an element of a list or a mapping begins with, before the file's
	// values. If New is nil or returns the zero Value, it is a struct with the defaults of its tags.
	New func(t reflect.Type) reflect.Value
	// MaxBytes bounds the file. 0: the caller has bounded it.
	MaxBytes int

	file   string
	source string       // the text of the file
	root   reflect.Type // of the whole file
}

// NewDecoder returns a decoder for the file at a path, which is also the name of the file in
// errors. Relative paths in the file are relative to the folder that holds the file.
func NewDecoder(path string) *Decoder {
	return &Decoder{file: path, At: map[string]Place{}, Keys: map[string]Place{}}
}

// Decode decodes a whole file into v, a struct. What is wrong is in Errs afterwards.
func (d *Decoder) Decode(data []byte, v reflect.Value) {
	d.root = v.Type()
	if d.MaxBytes > 0 && len(data) > d.MaxBytes {
		d.Fail(Place{}, "", "the file is larger than %d bytes", d.MaxBytes)
		return
	}
	root, err := Parse(d.file, data)
	if err != nil {
		found, _ := errors.AsType[*Error](err)
		d.Errs = append(d.Errs, found)
		return
	}
	d.source = strings.TrimPrefix(string(data), "\ufeff")
	d.structure(v, "", root)
}

// Fail adds an error at a place and a key. The zero Place is the whole file, and "" is no key.
func (d *Decoder) Fail(at Place, key, format string, args ...any) {
	d.Errs = append(d.Errs, newError(d.file, at, key, format, args...))
}

// Failed reports whether the value of a key has an error.
func (d *Decoder) Failed(key string) bool {
	return slices.ContainsFunc(d.Errs, func(before *Error) bool { return before.Key == key })
}

// First returns the first error that the decoder found, or nil if there is none. It finds an
// unknown key before the lack of a required one, since one misspelled key causes both.
func (d *Decoder) First() error {
	if len(d.Errs) == 0 {
		return nil
	}
	return d.Errs[0]
}

// structure decodes a mapping into the struct v. It decodes the fields in the order of the struct,
// not of the file. A field with defaults is thus decoded before the fields that copy their initial
// values from it. A mapping without a value is one whose keys are all commented out.
func (d *Decoder) structure(v reflect.Value, key string, node Node) {
	if kind := node.Kind(); kind != Mapping && kind != Null {
		for field, value := range v.Fields() {
			if field.Tag.Get("short") != "" && kind == Text {
				d.value(value, field.Tag, key, node)
				return
			}
		}
		d.Fail(node.Place(), key, "%s is not a mapping of keys; its keys are %s", node, strings.Join(keysOf(v.Type()), ", "))
		return
	}
	entries := d.entries(key, node)
	values := make(map[string]Node, len(entries))
	for _, e := range entries {
		values[e.Key] = e.Value
	}
	for field, target := range v.Fields() {
		name := field.Tag.Get("yaml")
		d.former(values, key, name, field.Tag.Get("was"))
		if value, given := values[name]; given {
			delete(values, name)
			d.value(target, field.Tag, Join(key, name), value)
			if instead := field.Tag.Get("deprecated"); instead != "" {
				d.deprecate(value, Join(key, name), instead)
			}
		}
	}
	for _, e := range entries {
		if _, unknown := values[e.Key]; unknown {
			d.unknown(v.Type(), key, e)
		}
	}
	d.required(v.Type(), key, node.Place())
}

// required reports the keys that a mapping lacks.
func (d *Decoder) required(t reflect.Type, parent string, at Place) {
	for field := range t.Fields() {
		key := Join(parent, field.Tag.Get("yaml"))
		if _, given := d.At[key]; !given && field.Tag.Get("required") != "" {
			what := cmp.Or(field.Tag.Get("hint"), "write "+Describe(field.Type, field.Tag))
			d.Fail(at, key, "there is no such key, and it cannot be left out; %s", what)
		}
	}
}

// element decodes a struct in a list or a mapping.
func (d *Decoder) element(v reflect.Value, key string, node Node) {
	var start reflect.Value
	if d.New != nil {
		start = d.New(v.Type())
	}
	if start.IsValid() {
		v.Set(start)
	} else {
		Fill(v)
	}
	d.structure(v, key, node)
}

// former moves the value of a deprecated key to the key that replaces it.
func (d *Decoder) former(values map[string]Node, parent, name, was string) {
	value, given := values[was]
	if was == "" || !given {
		return
	}
	delete(values, was)
	if _, both := values[name]; both {
		d.Fail(value.Place(), Join(parent, was), "the key is deprecated, and the file has %s too; leave this one out", Join(parent, name))
		return
	}
	values[name] = value
	d.deprecate(value, Join(parent, was), Join(parent, name))
}

// deprecate reports a deprecated key with this value, and what to write instead.
func (d *Decoder) deprecate(value Node, key, instead string) {
	d.Deprecated = append(d.Deprecated, newError(d.file, value.Place(), key,
		"the key is deprecated, and a later release will refuse it; write %s instead", instead))
}

// Deprecations returns the deprecated keys of a file whose keys are the fields of T. It returns
// none for a file with errors. name stands for the file in the messages.
func Deprecations[T any](name string, data []byte) Errors {
	d := NewDecoder(name)
	d.Decode(data, reflect.New(reflect.TypeFor[T]()).Elem())
	if len(d.Errs) > 0 {
		return nil
	}
	d.Deprecated.Sort()
	return d.Deprecated
}

func (d *Decoder) entries(parent string, node Node) []Entry {
	entries, wrong := node.entries()
	for _, err := range wrong {
		err.Key = strings.Trim(Join(parent, err.Key), ".")
	}
	d.Errs = append(d.Errs, wrong...)
	return entries
}

func (d *Decoder) unknown(t reflect.Type, parent string, e Entry) {
	keys := keysOf(t)
	meant, message := cmp.Or(suggest(e.Key, keys), find(d.root, "", normal(e.Key))), "there is no such key."
	switch meant {
	case "":
	case e.Key:
		message = "there is no such key here, only at the top of the file."
	default:
		message = "there is no such key; did you mean " + meant + "?"
	}
	d.Fail(e.At, Join(parent, ShownKey(e.Key)), "%s The keys of %s are %s", message, cmp.Or(parent, "the file"), strings.Join(keys, ", "))
}

// value decodes the value of a key.
func (d *Decoder) value(v reflect.Value, tag reflect.StructTag, key string, node Node) {
	d.At[key] = node.Place()
	if v.Kind() == reflect.Pointer {
		if v.Type().Elem().Kind() == reflect.Struct && node.Kind() == Null {
			return // as if the key were not there
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Type() == typeJSON:
		d.json(v, key, node)
	case v.Kind() == reflect.Struct:
		if node.Kind() != Null || tag.Get("required") != "" {
			d.structure(v, key, node)
		}
	case v.Kind() == reflect.Slice:
		d.list(v, tag, key, node)
	case v.Kind() == reflect.Map:
		d.mapping(v, tag, key, node)
	default:
		d.scalar(v, tag, key, node)
	}
}

func (d *Decoder) json(v reflect.Value, key string, node Node) {
	value, err := node.JSON("the value")
	if found, failed := errors.AsType[*Error](err); failed {
		found.Key = key
		d.Errs = append(d.Errs, found)
	}
	v.SetBytes(value)
}

func (d *Decoder) scalar(v reflect.Value, tag reflect.StructTag, key string, node Node) {
	if node.Kind() == Null {
		d.Fail(node.Place(), key, "there is no value; write %s, or leave the key out%s", Describe(v.Type(), tag), without(tag))
		return
	}
	s, ok := node.scalar()
	if !ok {
		d.Fail(node.Place(), key, "%s is not %s", node, Describe(v.Type(), tag))
		return
	}
	err := set(v, tag, s)
	if err == nil {
		err = d.check(tag.Get("is"), s.text)
	}
	if is := tag.Get("is"); err == nil && (is == "folder" || is == "file" || is == "path" || is == "file or database" && !strings.Contains(s.text, "://")) {
		s.text, err = d.path(s.text)
		v.SetString(s.text)
	}
	if err != nil {
		d.Fail(node.Place(), key, "%v", err)
	}
}

// Hostname stands for the name of the machine in an address with the word "node", and IP for the IP
// address of that name, so that the pods of a StatefulSet or a Deployment have one file.
const (
	Hostname = "{hostname}"
	IP       = "{ip}"
)

// checks has the words of Decoder.Checks that are built in.
var checks = map[string]func(text string) error{
	"address": func(text string) error { _, err := address.Parse(text); return err },
	"server":  func(text string) error { _, err := address.ParseServer(text); return err },
	"node": func(text string) error {
		_, err := address.ParseServer(strings.NewReplacer(Hostname, "machine", IP, "10.0.0.5").Replace(text))
		return err
	},
	"servers": func(text string) error { _, err := address.ParseServers(text); return err },
	"name":    tool.CheckName,
}

// check returns an error if a text is not what the word of the tag "is" or "keys" requires.
func (d *Decoder) check(word, text string) error {
	for _, known := range []map[string]func(string) error{d.Checks, checks} {
		if check := known[word]; check != nil {
			return check(text)
		}
	}
	return nil
}

// path makes a path absolute. It refuses a path that a shell would expand: the user expects the
// expansion, and the file system would create a folder with the name "~".
func (d *Decoder) path(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(text, 0):
		return "", errors.New("a path cannot hold a zero byte")
	case text[0] == '~' || text[0] == '$':
		return "", fmt.Errorf("nothing is expanded in %q; write the path out, or ./%s if that is its name", text, text)
	}
	return d.Resolve(text)
}

// Resolve makes a path of the file absolute. A relative path is relative to the folder that holds
// the file.
func (d *Decoder) Resolve(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(d.file), path))
}

func (d *Decoder) list(v reflect.Value, tag reflect.StructTag, key string, node Node) {
	if node.Kind() != List {
		hint := "write each on a separate line, after a dash"
		given := tag.Get("hint") // one that shows the form always helps
		if given != "" && (node.Kind() == Mapping || tag.Get("required") != "" || strings.HasPrefix(given, "write it as ")) {
			hint = given
		}
		d.Fail(node.Place(), key, "%s is not %s; %s", node, Describe(v.Type(), tag), hint)
		return
	}
	values, _ := node.Items(key)
	if len(values) == 0 && tag.Get("unset") == "" {
		return // like a list that is not there
	}
	items := reflect.MakeSlice(v.Type(), len(values), len(values))
	for i, item := range values {
		name := fmt.Sprintf("%s[%d]", key, i)
		if v.Type().Elem().Kind() != reflect.Struct {
			d.scalar(items.Index(i), tag, name, item)
			continue
		}
		d.At[name] = item.Place()
		d.element(items.Index(i), name, item)
	}
	v.Set(items)
}

// mapping decodes a mapping from names. It adds to the entries that v has.
func (d *Decoder) mapping(v reflect.Value, tag reflect.StructTag, key string, node Node) {
	if node.Kind() == Null {
		return
	}
	if node.Kind() != Mapping {
		d.Fail(node.Place(), key, "%s is not %s", node, cmp.Or(tag.Get("hint"), "a mapping"))
		return
	}
	entries := d.entries(key, node)
	if v.IsNil() && len(entries) > 0 {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	}
	for _, e := range entries {
		name := Join(key, ShownKey(e.Key))
		d.Keys[name], d.At[name] = e.At, e.Value.Place()
		if err := d.check(tag.Get("keys"), e.Key); err != nil {
			d.Fail(e.At, name, "%v", err)
		} else if e.Key == "" {
			d.Fail(e.At, name, "the name is empty")
		} else {
			v.SetMapIndex(reflect.ValueOf(e.Key), d.named(v.Type().Elem(), tag, name, e.Value))
		}
	}
}

// named decodes the value under one name of a mapping.
func (d *Decoder) named(t reflect.Type, tag reflect.StructTag, name string, node Node) reflect.Value {
	value := reflect.New(t).Elem()
	switch {
	case tag.Get("conceal") != "" && node.Kind() != Mapping:
		d.Fail(node.Place(), name, "%s", tag.Get("conceal"))
	case t.Kind() == reflect.Struct:
		d.element(value, name, node)
	case t.Kind() == reflect.String && node.Kind() == Null:
		d.Fail(node.Place(), name, `there is no value; write "" for an empty one`)
	default:
		d.value(value, tag, name, node)
		if t.Kind() == reflect.String && strings.ContainsRune(value.String(), 0) {
			d.Fail(node.Place(), name, "the value cannot hold a zero byte")
		}
	}
	return value
}
