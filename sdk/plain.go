package sdk

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// plain decodes JSON from r into v, whose type it was built for. It returns false if the text is
// not valid or has an unusual form. The caller then decodes the text again with encoding/json, and
// the content of v has no meaning.
//
// The arguments of nearly every call are an object with a few texts and numbers, whose keys are
// exactly the names of the type's fields. encoding/json would take a fifth of a plugin's time for a
// small call.
type plain func(r *plainText, v reflect.Value) bool

// plainly returns a decoder that uses p, and passes unusual texts to another decoder. If p is nil,
// that is every text.
func plainly(p plain, other decoder) decoder {
	if p == nil {
		return other
	}
	return func(text json.RawMessage, in any) error {
		r, v := plainText{text}, reflect.ValueOf(in).Elem()
		if p(&r, v) && r.end() {
			return nil
		}
		v.SetZero()
		return other(text, in)
	}
}

// plainOf returns the plain decoder of a type that consists of structs, slices, pointers, texts,
// numbers and Booleans. It returns nil for any other type.
func plainOf(t reflect.Type) plain { return plainWithin(t, nil) }

// plainWithin is plainOf for a type inside the types in outer. It returns nil for a type that
// contains itself.
func plainWithin(t reflect.Type, outer []reflect.Type) plain {
	if specialSchema(t) != nil || slices.Contains(outer, t) {
		return nil
	}
	outer = append(outer[:len(outer):len(outer)], t)
	switch t.Kind() {
	case reflect.Bool:
		return plainBool
	case reflect.String:
		return plainString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return plainInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return plainUint
	case reflect.Float32, reflect.Float64:
		return plainFloat
	case reflect.Pointer:
		return plainPointer(plainWithin(t.Elem(), outer))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // base64
			return nil
		}
		return plainSlice(plainWithin(t.Elem(), outer))
	case reflect.Struct:
		return plainStruct(t, outer)
	}
	return nil
}

func plainBool(r *plainText, v reflect.Value) bool {
	value := r.word("true")
	if !value && !r.word("false") {
		return false
	}
	v.SetBool(value)
	return true
}

func plainString(r *plainText, v reflect.Value) bool {
	text, ok := r.text()
	v.SetString(text)
	return ok
}

func plainInt(r *plainText, v reflect.Value) bool {
	n, err := strconv.ParseInt(string(r.number()), 10, v.Type().Bits())
	v.SetInt(n)
	return err == nil
}

func plainUint(r *plainText, v reflect.Value) bool {
	n, err := strconv.ParseUint(string(r.number()), 10, v.Type().Bits())
	v.SetUint(n)
	return err == nil
}

func plainFloat(r *plainText, v reflect.Value) bool {
	n, err := strconv.ParseFloat(string(r.number()), v.Type().Bits())
	v.SetFloat(n)
	return err == nil
}

func plainPointer(elem plain) plain {
	if elem == nil {
		return nil
	}
	return func(r *plainText, v reflect.Value) bool {
		v.Set(reflect.New(v.Type().Elem()))
		return elem(r, v.Elem())
	}
}

func plainSlice(elem plain) plain {
	if elem == nil {
		return nil
	}
	return func(r *plainText, v reflect.Value) bool {
		if !r.eat('[') {
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		for !r.eat(']') {
			n := v.Len()
			if n > 0 && !r.eat(',') {
				return false
			}
			v.Grow(1)
			v.SetLen(n + 1)
			v.Index(n).SetZero()
			if !elem(r, v.Index(n)) {
				return false
			}
		}
		return true
	}
}

// plainField is a field of a struct with a JSON name.
type plainField struct {
	index int
	plain plain
}

// maxPlainFields bounds the fields of a struct: a bit for each records whether the text has had it
// already.
const maxPlainFields = 64

func plainStruct(t reflect.Type, outer []reflect.Type) plain {
	fields := map[string]plainField{}
	for field := range t.Fields() {
		name, ok := jsonName(field)
		if field.Anonymous { // many rules decide the names of its fields
			return nil
		}
		if !ok {
			continue
		}
		p := plainWithin(field.Type, outer)
		_, taken := fields[name]
		if p == nil || taken || !plainName(name) || strings.Contains(field.Tag.Get("json"), ",string") || field.Index[0] >= maxPlainFields {
			return nil
		}
		fields[name] = plainField{field.Index[0], p}
	}
	return func(r *plainText, v reflect.Value) bool {
		if !r.eat('{') {
			return false
		}
		var seen uint64
		for !r.eat('}') {
			if seen != 0 && !r.eat(',') {
				return false
			}
			field, known := fields[string(r.name())]
			bit := uint64(1) << field.index
			if !known || seen&bit != 0 || !field.plain(r, v.Field(field.index)) {
				return false
			}
			seen |= bit
		}
		return true
	}
}

// plainName reports whether the tag gives the field its name, and whether JSON writes the name
// without escapes.
func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
