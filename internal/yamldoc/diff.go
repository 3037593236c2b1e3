package yamldoc

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is a setting whose value differs between two structs.
type Change struct {
	Key      string // with its parents, such as plugin.files.idle_timeout
	Old, New string // as a file writes them; empty: there is no value
	Restart  bool   // the field, or a struct around it, has the tag restart
}

// hidden replaces the values of fields with the tag private.
const hidden = "(hidden)"

// Diff returns the settings that differ between two structs of one type, in the order of the
// fields. The entry of a mapping that has a base in Bases has its missing keys from there: Diff
// leaves out what an entry only inherits. Elements of a list of structs belong together if their
// names, which are their first required texts, are equal. Of a list whose elements have no names,
// Diff reports each element that was added or removed as a whole, under the key of the list.
func Diff(before, now reflect.Value, beforeBases, nowBases Bases) []Change {
	d := differ{beforeBases: beforeBases, nowBases: nowBases}
	d.structure("", before, now, reflect.Value{}, reflect.Value{}, false)
	return d.changes
}

// KeepRestart copies the fields with the tag restart from one struct to another one of its type.
func KeepRestart(from, to reflect.Value) {
	for i := range to.NumField() {
		switch field := to.Type().Field(i); {
		case field.Tag.Get("restart") != "":
			to.Field(i).Set(from.Field(i))
		case field.Type.Kind() == reflect.Struct:
			KeepRestart(from.Field(i), to.Field(i))
		}
	}
}

// differ collects changes. In its methods, an invalid Value stands for an entry or an element that
// does not exist.
type differ struct {
	beforeBases, nowBases Bases
	changes               []Change
}

// structure compares the fields of two structs. It leaves out fields that are equal to those of
// their bases, if there are any.
func (d *differ) structure(parent string, before, now, beforeBase, nowBase reflect.Value, restart bool) {
	of := cmp.Or(typeOf(before), typeOf(now))
	for i := range of.NumField() {
		field := of.Field(i)
		a, b := fieldOf(before, i), fieldOf(now, i)
		baseA, baseB := fieldOf(beforeBase, i), fieldOf(nowBase, i)
		if same(a, b) || baseA.IsValid() && baseB.IsValid() && same(a, baseA) && same(b, baseB) {
			continue
		}
		key := Join(parent, field.Tag.Get("yaml"))
		again := restart || field.Tag.Get("restart") != ""
		switch kind := field.Type.Kind(); {
		case kind == reflect.Struct:
			d.structure(key, a, b, baseA, baseB, again)
		case kind == reflect.Map:
			d.entries(key, a, b, field.Tag, again)
		case kind == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			d.elements(key, a, b, again)
		default:
			d.add(key, text(a, field.Tag), text(b, field.Tag), field.Tag, again)
		}
	}
}

// entries compares two mappings from names.
func (d *differ) entries(parent string, before, now reflect.Value, tag reflect.StructTag, restart bool) {
	names := map[string]bool{}
	for _, m := range []reflect.Value{before, now} {
		if m.IsValid() {
			for _, name := range m.MapKeys() {
				names[name.String()] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		key := Join(parent, ShownKey(name))
		a, b := entryOf(before, name), entryOf(now, name)
		if typ := cmp.Or(typeOf(a), typeOf(b)); typ.Kind() != reflect.Struct {
			if !same(a, b) {
				d.add(key, text(a, tag), text(b, tag), tag, restart)
			}
		} else {
			baseA, baseB := d.beforeBases[typ], d.nowBases[typ]
			d.structure(key, either(a, baseA), either(b, baseB), baseA, baseB, restart)
		}
	}
}

// elements compares two lists of structs, and reports if common elements have another order.
func (d *differ) elements(parent string, before, now reflect.Value, restart bool) {
	id := nameField(cmp.Or(typeOf(before), typeOf(now)).Elem())
	if id < 0 {
		d.nameless(parent, before, now, restart)
		return
	}
	a, namesA := named(before, id)
	b, namesB := named(now, id)
	for _, name := range namesA {
		d.structure(parent+"["+ShownKey(name)+"]", a[name], b[name], reflect.Value{}, reflect.Value{}, restart)
	}
	for _, name := range namesB {
		if !a[name].IsValid() {
			d.structure(parent+"["+ShownKey(name)+"]", reflect.Value{}, b[name], reflect.Value{}, reflect.Value{}, restart)
		}
	}
	stay := func(in map[string]reflect.Value) func(string) bool {
		return func(name string) bool { return !in[name].IsValid() }
	}
	orderA, orderB := slices.DeleteFunc(slices.Clone(namesA), stay(b)), slices.DeleteFunc(slices.Clone(namesB), stay(a))
	if !slices.Equal(orderA, orderB) {
		d.add(parent, "the order "+strings.Join(namesA, ", "), "the order "+strings.Join(namesB, ", "), "", restart)
	}
}

// nameless compares two lists of structs that have no names.
func (d *differ) nameless(parent string, before, now reflect.Value, restart bool) {
	a, b := flows(before), flows(now)
	added := slices.Clone(b)
	for _, old := range a {
		if i := slices.Index(added, old); i >= 0 {
			added = slices.Delete(added, i, i+1)
		} else {
			d.add(parent, old, "", "", restart)
		}
	}
	for _, text := range added {
		d.add(parent, "", text, "", restart)
	}
	if len(added) == 0 && len(a) == len(b) && !slices.Equal(a, b) {
		d.add(parent, "the order "+strings.Join(a, ", "), "the order "+strings.Join(b, ", "), "", restart)
	}
}

func (d *differ) add(key, before, now string, tag reflect.StructTag, restart bool) {
	if tag.Get("private") != "" {
		before, now = concealed(before), concealed(now)
	}
	d.changes = append(d.changes, Change{Key: key, Old: before, New: now, Restart: restart})
}

func concealed(value string) string {
	if value == "" {
		return ""
	}
	return hidden
}

// nameField returns the index of the field that names the elements of a list: the first required
// text that is not one of a few words. It returns -1 if there is none.
func nameField(of reflect.Type) int {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Tag.Get("required") != "" && field.Tag.Get("oneof") == "" && field.Type.Kind() == reflect.String {
			return i
		}
	}
	return -1
}

// named returns the elements of a list by their names, which are in the field id, and the names in
// the order of the list. An element with the name of an earlier one gets a number.
func named(list reflect.Value, id int) (elements map[string]reflect.Value, names []string) {
	elements = map[string]reflect.Value{}
	if !list.IsValid() {
		return elements, nil
	}
	for i := range list.Len() {
		element := list.Index(i)
		name := element.Field(id).String()
		for n := 2; elements[name].IsValid(); n++ {
			name = fmt.Sprintf("%s %d", element.Field(id).String(), n)
		}
		elements[name], names = element, append(names, name)
	}
	return elements, names
}

// flows returns the elements of a list of structs as a file writes them on one line, without the
// fields that are not set.
func flows(list reflect.Value) []string {
	if !list.IsValid() {
		return nil
	}
	all := make([]string, list.Len())
	for i := range all {
		element, fields := list.Index(i), []string(nil)
		for n := range element.NumField() {
			field := element.Type().Field(n)
			if value := element.Field(n); !value.IsZero() {
				shown := text(value, field.Tag)
				if field.Tag.Get("private") != "" {
					shown = concealed(shown)
				}
				fields = append(fields, field.Tag.Get("yaml")+": "+shown)
			}
		}
		all[i] = "{" + strings.Join(fields, ", ") + "}"
	}
	return all
}

// text returns a value as a file writes it; empty if there is none.
func text(v reflect.Value, tag reflect.StructTag) string {
	if v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case !v.IsValid(), v.IsZero() && tag.Get("unset") != "":
		return ""
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = v.Index(i).String()
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.String:
		items := []string(nil)
		for _, name := range v.MapKeys() {
			items = append(items, ShownKey(name.String())+": "+quote(v.MapIndex(name).String()))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	case v.Kind() == reflect.String && tag.Get("oneof") == "":
		return quote(v.String())
	default:
		return format(v, tag)
	}
}

func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func typeOf(v reflect.Value) reflect.Type {
	if !v.IsValid() {
		return nil
	}
	return v.Type()
}

func fieldOf(v reflect.Value, i int) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.Field(i)
}

func entryOf(m reflect.Value, name string) reflect.Value {
	if !m.IsValid() {
		return m
	}
	return m.MapIndex(reflect.ValueOf(name))
}

func either(v, otherwise reflect.Value) reflect.Value {
	if v.IsValid() {
		return v
	}
	return otherwise
}
