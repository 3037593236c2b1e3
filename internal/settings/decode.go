package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/tool"
)

// Decoder carries the values of one file into structs that hold their defaults, and goes on after an error. It is for one
// file and one goroutine. The zero value is not usable: see NewDecoder.
type Decoder struct {
	// At is where the value of each key stands that the file has, by "launch.parallel".
	At map[string]Place
	// Errs is all that is wrong so far.
	Errs Errors
	// Mapping decodes what stands at a key whose field is a map, unless it is nil or returns false.
	Mapping func(v reflect.Value, key string, node ast.Node) bool

	file, dir string
	source    []rune       // the file's text
	root      reflect.Type // of the whole file
}

// NewDecoder returns a decoder for a file of a name. Folders and files that it names are taken relative to dir.
func NewDecoder(name, dir string) *Decoder {
	return &Decoder{file: name, dir: dir, At: map[string]Place{}}
}

// Fail adds what is wrong at a place and key; either may be zero.
func (d *Decoder) Fail(at Place, key, format string, args ...any) {
	d.Errs = append(d.Errs, &Error{
		File: d.file, Line: at.Line, Column: at.Column, Key: key, Message: fmt.Sprintf(format, args...),
	})
}

// Failed reports whether something is wrong with the value of a key.
func (d *Decoder) Failed(key string) bool {
	return slices.ContainsFunc(d.Errs, func(before *Error) bool { return before.Key == key })
}

// Structure decodes a mapping whose keys are the fields of v. Fields are decoded in their order, not in that of the
// file, so that defaults are there before what replaces them.
func (d *Decoder) Structure(v reflect.Value, key string, node ast.Node) {
	if IsNull(node) {
		return // all that was below the key is commented out
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(PlaceOf(node), key, "%s is not a mapping of keys; its keys are %s", Kind(node), strings.Join(keysOf(v.Type()), ", "))
		return
	}
	values := map[string]Entry{}
	for _, e := range entries {
		values[e.Key] = e
	}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name := tag.Get("yaml")
		if e, given := values[name]; given {
			delete(values, name)
			d.value(v.Field(i), tag, Join(key, name), e.Value)
		}
	}
	for _, e := range entries {
		if _, unknown := values[e.Key]; unknown {
			d.unknown(v.Type(), key, e)
		}
	}
}

func (d *Decoder) unknown(t reflect.Type, parent string, e Entry) {
	keys := keysOf(t)
	message := "there is no such key"
	if near := nearest(e.Key, keys); near != "" {
		message += "; did you mean " + near + "?"
	} else if elsewhere := find(d.root, "", normal(e.Key)); elsewhere != "" && elsewhere == e.Key {
		message += " here, only at the top of the file"
	} else if elsewhere != "" {
		message += "; did you mean " + elsewhere + "?"
	}
	where := "the file"
	if parent != "" {
		where = parent
	}
	d.Fail(e.At, Join(parent, ShownKey(e.Key)), "%s The keys of %s are %s", punctuated(message), where, strings.Join(keys, ", "))
}

// value decodes what stands at a key.
func (d *Decoder) value(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	d.At[key] = PlaceOf(node)
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		d.Structure(v, key, node)
	case v.Kind() == reflect.Slice:
		d.list(v, tag, key, node)
	case v.Kind() == reflect.Map:
		if d.Mapping == nil || !d.Mapping(v, key, node) {
			d.mapping(v, key, node)
		}
	default:
		d.scalar(v, tag, key, node)
	}
}

func (d *Decoder) scalar(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	at := PlaceOf(node)
	if IsNull(node) {
		d.Fail(at, key, "there is no value; write %s, or leave the key out for %s", Describe(v.Type(), tag), without(tag))
		return
	}
	s, ok := ScalarOf(node)
	if !ok {
		d.Fail(at, key, "%s is not %s", Kind(node), Describe(v.Type(), tag))
		return
	}
	if err := set(v, tag, s); err != nil {
		d.Fail(at, key, "%v", err)
		return
	}
	var err error
	switch tag.Get("is") {
	case "folder", "file", "path":
		s.Text, err = d.path(s.Text)
		v.SetString(s.Text)
	case "address":
		_, err = address.Parse(s.Text)
	case "name":
		err = tool.CheckName(s.Text)
	}
	if err != nil {
		d.Fail(at, key, "%v", err)
	}
}

// path takes a path relative to the file's folder. What a shell would expand is refused: it would become a strange name.
func (d *Decoder) path(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(text, 0):
		return "", errors.New("a path cannot hold a zero byte")
	case text[0] == '~' || text[0] == '$':
		return "", fmt.Errorf("nothing is expanded in %q; write the path out, or ./%s if that is its name", text, text)
	case filepath.IsAbs(text):
		return filepath.Clean(text), nil
	}
	return filepath.Join(d.dir, text), nil
}

func (d *Decoder) list(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		message := fmt.Sprintf("%s is not %s; write one in a line of its own, after a dash", Given(node), Describe(v.Type(), tag))
		if _, mapping := MappingOf(node); mapping {
			message = fmt.Sprintf("%s is not %s; %s", Given(node), Describe(v.Type(), tag), tag.Get("hint"))
		}
		d.Fail(PlaceOf(node), key, "%s", message)
		return
	}
	if len(list.Values) == 0 {
		if tag.Get("unset") != "" { // an empty list is something else than none
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		return
	}
	items := reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values))
	for i, item := range list.Values {
		name := fmt.Sprintf("%s[%d]", key, i)
		if v.Type().Elem().Kind() == reflect.Struct {
			Fill(items.Index(i))
			d.Structure(items.Index(i), name, item)
			d.Required(v.Type().Elem(), name, item)
		} else {
			d.scalar(items.Index(i), tag, name, item)
		}
	}
	v.Set(items)
}

// Required reports the keys that a mapping lacks.
func (d *Decoder) Required(t reflect.Type, parent string, node ast.Node) {
	if _, mapping := MappingOf(node); !mapping && !IsNull(node) {
		return // reported already
	}
	for i := range t.NumField() {
		field := t.Field(i)
		key := Join(parent, field.Tag.Get("yaml"))
		if _, given := d.At[key]; !given && field.Tag.Get("required") != "" {
			d.Fail(PlaceOf(node), key, "there is no such key, and it cannot be left out; write %s", Describe(field.Type, field.Tag))
		}
	}
}

// mapping decodes a mapping from names to structs, each over its defaults.
func (d *Decoder) mapping(v reflect.Value, key string, node ast.Node) {
	if IsNull(node) {
		return
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(PlaceOf(node), key, "%s is not a mapping from names to keys of their own", Given(node))
		return
	}
	of := v.Type().Elem()
	if len(entries) > 0 {
		v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	}
	for _, e := range entries {
		name := Join(key, ShownKey(e.Key))
		if e.Key == "" {
			d.Fail(e.At, name, "the name is empty")
			continue
		}
		value := reflect.New(of).Elem()
		Fill(value)
		d.Structure(value, name, e.Value)
		d.Required(of, name, e.Value)
		v.SetMapIndex(reflect.ValueOf(e.Key), value)
	}
}
