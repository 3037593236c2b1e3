package yamldoc

import (
	"fmt"
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

// Diff returns the settings that differ between two structs of one type, in the order of the
// fields. The entry of a mapping that has a base in Bases has its missing keys from there: Diff
// leaves out what an entry only inherits. Elements of a list of structs belong together if their
// names, which are their first required texts, are equal. Of a list whose elements have no names,
// Diff reports each element that was added or removed as a whole, under the key of the list.
func Diff(before, now reflect.Value, beforeBases, nowBases Bases) []Change {
	d := differ{bases: [2]Bases{beforeBases, nowBases}}
	d.compare("", pair{before, now}, pair{}, "", false)
	return d.changes
}

// KeepRestart copies the fields with the tag restart from one struct to another one of its type.
func KeepRestart(from, to reflect.Value) {
	for field, value := range to.Fields() {
		if field.Tag.Get("restart") != "" {
			value.Set(fieldOf(from, field))
		} else if value.Kind() == reflect.Struct {
			KeepRestart(fieldOf(from, field), value)
		}
	}
}

// pair is a value before and now. An invalid Value stands for a value that does not exist.
type pair [2]reflect.Value

func (p pair) field(field reflect.StructField) pair {
	return pair{fieldOf(p[0], field), fieldOf(p[1], field)}
}

func fieldOf(v reflect.Value, field reflect.StructField) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.FieldByIndex(field.Index)
}

// kind returns the type of the value that exists.
func (p pair) kind() reflect.Type {
	if p[0].IsValid() {
		return p[0].Type()
	}
	return p[1].Type()
}

func (p pair) same() bool {
	if !p[0].IsValid() || !p[1].IsValid() {
		return p[0].IsValid() == p[1].IsValid()
	}
	return reflect.DeepEqual(p[0].Interface(), p[1].Interface())
}

// differ collects changes.
type differ struct {
	bases   [2]Bases
	changes []Change
}

// compare compares two values of a key, or the parts of them. It leaves out values that are equal
// to those of their bases, if there are any.
func (d *differ) compare(key string, p, base pair, tag reflect.StructTag, restart bool) {
	kind := p.kind().Kind()
	switch {
	case p.same(), (pair{p[0], base[0]}).same() && (pair{p[1], base[1]}).same():
	case kind == reflect.Struct:
		for field := range p.kind().Fields() {
			again := restart || field.Tag.Get("restart") != ""
			d.compare(Join(key, field.Tag.Get("yaml")), p.field(field), base.field(field), field.Tag, again)
		}
	case kind == reflect.Map, kind == reflect.Slice && p.kind().Elem().Kind() == reflect.Struct:
		d.members(key, p, tag, restart)
	default:
		d.add(key, p, tag, restart)
	}
}

// members compares two mappings from names, or two lists of structs. It reports if common elements
// of lists have another order.
func (d *differ) members(parent string, p pair, tag reflect.StructTag, restart bool) {
	of, list := p.kind().Elem(), p.kind().Kind() == reflect.Slice
	nameless := list && nameField(of) == ""
	a, before := named(p[0])
	b, now := named(p[1])
	names := append(slices.Clone(before), which(now, a, false)...)
	if !list {
		slices.Sort(names)
	}
	for _, name := range names {
		key := Join(parent, ShownKey(name))
		if list {
			key = parent + "[" + ShownKey(name) + "]"
		}
		member, base := pair{a[name], b[name]}, pair{d.bases[0][of], d.bases[1][of]}
		if nameless {
			if member[0].IsValid() != member[1].IsValid() {
				d.add(parent, member, "", restart)
			}
			continue
		}
		for i, v := range member {
			if !v.IsValid() {
				member[i] = base[i]
			}
		}
		d.compare(key, member, base, tag, restart)
	}
	orderA, orderB := which(before, b, true), which(now, a, true)
	if list && (!nameless || len(orderA) == len(names)) && !slices.Equal(orderA, orderB) {
		d.changes = append(d.changes, Change{parent, "the order " + strings.Join(before, ", "), "the order " + strings.Join(now, ", "), restart})
	}
}

// which returns the names that are in members, or those that are not.
func which(names []string, members map[string]reflect.Value, in bool) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return members[name].IsValid() != in })
}

// add reports the change of a key. A key that is not set, of an element that comes or goes, is
// none.
func (d *differ) add(key string, p pair, tag reflect.StructTag, restart bool) {
	if before, now := text(p[0], tag), text(p[1], tag); before != "" || now != "" {
		d.changes = append(d.changes, Change{Key: key, Old: before, New: now, Restart: restart})
	}
}

// nameField returns the Go name of the field that names the elements of a list: the first required
// text that is not one of a few words. It returns "" if there is none.
func nameField(of reflect.Type) string {
	for field := range of.Fields() {
		if field.Tag.Get("required") != "" && field.Tag.Get("oneof") == "" && field.Type.Kind() == reflect.String {
			return field.Name
		}
	}
	return ""
}

// named returns the members of a mapping or a list by their names, and the names in their order.
// Elements without names have their texts as names. An element with the name of an earlier one gets
// a number.
func named(members reflect.Value) (byName map[string]reflect.Value, names []string) {
	byName = map[string]reflect.Value{}
	if !members.IsValid() {
		return byName, nil
	}
	for key, member := range members.Seq2() {
		name := key.String()
		if members.Kind() == reflect.Slice {
			name = text(member, "")
			if field := nameField(member.Type()); field != "" {
				name = member.FieldByName(field).String()
			}
		}
		first := name
		for n := 2; byName[name].IsValid(); n++ {
			name = fmt.Sprintf("%s %d", first, n)
		}
		byName[name], names = member, append(names, name)
	}
	return byName, names
}

// text returns a value as a file writes it on one line; empty if there is none. It shows no value
// of a field with the tag private.
func text(v reflect.Value, tag reflect.StructTag) string {
	if !v.IsValid() || v.IsZero() && tag.Get("unset") != "" {
		return ""
	}
	if v.Kind() == reflect.Pointer { // a pointer to zero is a value that the file has
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return ""
	case tag.Get("private") != "":
		return "(hidden)"
	case v.Kind() == reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = v.Index(i).String()
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.Map, v.Kind() == reflect.Struct:
		return "{" + strings.Join(parts(v), ", ") + "}"
	default:
		return format(v, tag)
	}
}

// parts returns the entries of a mapping, and the fields of a struct that are set.
func parts(v reflect.Value) (parts []string) {
	if v.Kind() == reflect.Map {
		for name, value := range v.Seq2() {
			parts = append(parts, ShownKey(name.String())+": "+text(value, ""))
		}
		slices.Sort(parts)
		return parts
	}
	for field, value := range v.Fields() {
		if !value.IsZero() {
			parts = append(parts, field.Tag.Get("yaml")+": "+text(value, field.Tag))
		}
	}
	return parts
}
