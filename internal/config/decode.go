package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/guardian/proc"
	"github.com/toolhost/toolhost/tool"
)

// decoder carries the values of one file into a Config that holds the defaults, and goes on after an error.
type decoder struct {
	file, dir string
	config    *Config
	source    []rune           // the file's text
	at        map[string]place // where the value of each key stands that the file has, by "launch.parallel"
	errs      Errors
}

func (d *decoder) fail(at place, key, format string, args ...any) {
	d.errs = append(d.errs, &Error{
		File: d.file, Line: at.line, Column: at.column, Key: key, Message: fmt.Sprintf(format, args...),
	})
}

// structure decodes a mapping whose keys are the fields of v. Fields are decoded in their order, not in that of the
// file, so that defaults are there before what replaces them.
func (d *decoder) structure(v reflect.Value, key string, node ast.Node) {
	if isNull(node) {
		return // all that was below the key is commented out
	}
	entries, ok := d.entries(key, node)
	if !ok {
		d.fail(placeOf(node), key, "%s is not a mapping of keys; its keys are %s", kind(node), strings.Join(keysOf(v.Type()), ", "))
		return
	}
	values := map[string]entry{}
	for _, e := range entries {
		values[e.key] = e
	}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name := tag.Get("yaml")
		if e, given := values[name]; given {
			delete(values, name)
			d.value(v.Field(i), tag, join(key, name), e.value)
		}
	}
	for _, e := range entries {
		if _, unknown := values[e.key]; unknown {
			d.unknown(v.Type(), key, e)
		}
	}
}

func (d *decoder) unknown(t reflect.Type, parent string, e entry) {
	keys := keysOf(t)
	message := "there is no such key"
	if near := nearest(e.key, keys); near != "" {
		message += "; did you mean " + near + "?"
	} else if elsewhere := find(reflect.TypeFor[Config](), "", normal(e.key)); elsewhere != "" {
		message += "; did you mean " + elsewhere + "?"
	}
	where := "the file"
	if parent != "" {
		where = parent
	}
	d.fail(e.at, join(parent, shownKey(e.key)), "%s The keys of %s are %s", punctuated(message), where, strings.Join(keys, ", "))
}

// value decodes what stands at a key.
func (d *decoder) value(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	d.at[key] = placeOf(node)
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		d.structure(v, key, node)
	case v.Kind() == reflect.Slice:
		d.list(v, tag, key, node)
	case v.Type() == reflect.TypeFor[map[string]string]():
		d.variables(v, key, node)
	case v.Type() == reflect.TypeFor[map[string]ToolSettings]():
		d.tools(key, node)
	case v.Type() == reflect.TypeFor[map[string]Secret]():
		d.secrets(key, node)
	case v.Kind() == reflect.Map:
		d.plugins(key, node)
	default:
		d.scalar(v, tag, key, node)
	}
}

func (d *decoder) scalar(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	at := placeOf(node)
	if isNull(node) {
		d.fail(at, key, "there is no value; write %s, or leave the key out for %s", describe(v.Type(), tag), without(tag))
		return
	}
	s, ok := scalarOf(node)
	if !ok {
		d.fail(at, key, "%s is not %s", kind(node), describe(v.Type(), tag))
		return
	}
	if err := set(v, tag, s); err != nil {
		d.fail(at, key, "%v", err)
		return
	}
	var err error
	switch tag.Get("is") {
	case "folder", "file":
		s.text, err = d.path(s.text)
		v.SetString(s.text)
	case "address":
		_, err = address.Parse(s.text)
	case "name":
		err = tool.CheckName(s.text)
	}
	if err != nil {
		d.fail(at, key, "%v", err)
	}
}

// path takes a path relative to the file's folder. What a shell would expand is refused: it would become a strange name.
func (d *decoder) path(text string) (string, error) {
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

func (d *decoder) list(v reflect.Value, tag reflect.StructTag, key string, node ast.Node) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		message := fmt.Sprintf("%s is not %s; write one in a line of its own, after a dash", given(node), describe(v.Type(), tag))
		if _, mapping := mappingOf(node); mapping {
			message = fmt.Sprintf("%s is not %s; %s", given(node), describe(v.Type(), tag), tag.Get("hint"))
		}
		d.fail(placeOf(node), key, "%s", message)
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
			fill(items.Index(i))
			d.structure(items.Index(i), name, item)
			d.required(v.Type().Elem(), name, item)
		} else {
			d.scalar(items.Index(i), tag, name, item)
		}
	}
	v.Set(items)
}

// required reports the keys that a mapping lacks.
func (d *decoder) required(t reflect.Type, parent string, node ast.Node) {
	if _, mapping := mappingOf(node); !mapping && !isNull(node) {
		return // reported already
	}
	for i := range t.NumField() {
		field := t.Field(i)
		key := join(parent, field.Tag.Get("yaml"))
		if _, given := d.at[key]; !given && field.Tag.Get("required") != "" {
			d.fail(placeOf(node), key, "there is no such key, and it cannot be left out; write %s", describe(field.Type, field.Tag))
		}
	}
}

// variables decodes an environment into v, which keeps the variables that it has.
func (d *decoder) variables(v reflect.Value, key string, node ast.Node) {
	if isNull(node) {
		return
	}
	entries, ok := d.entries(key, node)
	if !ok {
		d.fail(placeOf(node), key, "%s is not %s", given(node), describe(v.Type(), ""))
		return
	}
	env := v.Interface().(map[string]string)
	if env == nil && len(entries) > 0 {
		env = map[string]string{}
	}
	for _, e := range entries {
		name := join(key, shownKey(e.key))
		s, single := scalarOf(e.value)
		switch {
		case e.key == "" || strings.ContainsAny(e.key, "=\x00"):
			d.fail(e.at, name, "a variable's name must not be empty or hold = or a zero byte")
		case strings.HasPrefix(e.key, "PLUGIN_") || e.key == proc.MarkName:
			d.fail(e.at, name, "this variable is toolhost's to set")
		case isNull(e.value):
			d.fail(placeOf(e.value), name, `there is no value; write "" for an empty one`)
		case !single:
			d.fail(placeOf(e.value), name, "%s is not a text", kind(e.value))
		case strings.ContainsRune(s.text, 0):
			d.fail(placeOf(e.value), name, "a variable cannot hold a zero byte")
		default:
			env[e.key] = s.text
		}
	}
	v.Set(reflect.ValueOf(env))
}

// plugins decodes the settings of each plugin over a copy of the defaults.
func (d *decoder) plugins(key string, node ast.Node) {
	if isNull(node) {
		return
	}
	entries, ok := d.entries(key, node)
	if !ok {
		d.fail(placeOf(node), key, "%s is not a mapping from names of plugins to their settings", given(node))
		return
	}
	if len(entries) > 0 {
		d.config.ByPlugin = make(map[string]PluginSettings, len(entries))
	}
	for _, e := range entries {
		name := join(key, shownKey(e.key))
		if err := tool.CheckName(e.key); err != nil {
			d.fail(e.at, name, "%v", err)
			continue
		}
		settings := d.config.Defaults.clone()
		d.structure(reflect.ValueOf(&settings).Elem(), name, e.value)
		d.config.ByPlugin[e.key] = settings
	}
}
