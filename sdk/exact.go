package sdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
)

// maxExact is the largest integer up to which a float64 holds every integer.
const maxExact = 1 << 53

// unmarshal is json.Unmarshal, except that it rounds no integer: where the Go type is any, an
// integer beyond ±2^53 becomes a json.Number. Such integers are ids, which rounding makes those of
// something else. All other numbers become float64 there, as tools expect.
func unmarshal(text []byte, into any) error {
	if !mayRound(text, into) || !json.Valid(text) { // a decoder accepts text after the value
		return json.Unmarshal(text, into)
	}
	return decodeExactly(json.NewDecoder(bytes.NewReader(text)), into)
}

// decodeExactly decodes with a decoder as unmarshal does.
func decodeExactly(d *json.Decoder, into any) error {
	d.UseNumber()
	err := d.Decode(into)
	return cmp.Or(err, settle(reflect.ValueOf(into))) // after an error, a preview uses what was decoded
}

// mayRound reports whether json.Unmarshal may round an integer of a text.
func mayRound(text []byte, into any) bool {
	digits := 0
	for _, c := range text {
		if '0' <= c && c <= '9' {
			if digits++; digits >= len("9007199254740992") {
				return holdsAny(reflect.TypeOf(into), map[reflect.Type]bool{})
			}
		} else {
			digits = 0
		}
	}
	return false
}

// holdsAny reports whether a value of a type may have a part of type any that encoding/json
// decodes.
func holdsAny(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == nil || seen[t] || decodesItself(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsAny(t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			if holdsAny(field.Type, seen) {
				return true
			}
		}
	}
	return false
}

func decodesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// settle replaces each json.Number in a part of type any by a float64, unless it is an integer that
// a float64 may not hold.
func settle(v reflect.Value) error {
	if !v.IsValid() || decodesItself(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		return settleAny(v)
	case reflect.Pointer:
		return settle(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				if err := settle(v.Field(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := settle(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		if !holdsAny(v.Type(), map[reflect.Type]bool{}) {
			return nil
		}
		for _, key := range v.MapKeys() {
			part := reflect.New(v.Type().Elem()).Elem()
			part.Set(v.MapIndex(key))
			if err := settle(part); err != nil {
				return err
			}
			v.SetMapIndex(key, part)
		}
	}
	return nil
}

func settleAny(v reflect.Value) error {
	number, ok := v.Interface().(json.Number)
	if !ok {
		return settle(v.Elem())
	}
	if beyond(number) || !v.CanSet() {
		return nil
	}
	f, err := number.Float64()
	if err != nil {
		return &json.UnmarshalTypeError{Value: "number " + number.String(), Type: reflect.TypeFor[float64]()}
	}
	v.Set(reflect.ValueOf(f))
	return nil
}

// beyond reports whether a number is written as an integer beyond ±2^53.
func beyond(number json.Number) bool {
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n > maxExact || n < -maxExact
	}
	return !bytes.ContainsAny([]byte(number), ".eE")
}
