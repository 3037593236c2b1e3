package main

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// kind describes how fields of one protobuf kind are encoded. The strings are Go expressions in
// which %s is the value.
type kind struct {
	wire   protowire.Type
	method string // name of the method of Writer and of Reader
	filled string // condition under which the field is written
	given  string // argument of the writer's method
	size   string // size without the tag; empty means that measure computes it
	// measure is the name of the wirecode function that computes a variable size, and measured is
	// its argument.
	measure, measured string
	cast              bool // the read value must be converted to the type of the field
}

var (
	number = kind{wire: protowire.VarintType, method: "Varint", filled: "%s != 0", given: "uint64(%s)", measure: "SizeVarint", measured: "uint64(%s)", cast: true}
	kinds  = map[protoreflect.Kind]kind{
		protoreflect.Uint32Kind:  number,
		protoreflect.Uint64Kind:  number,
		protoreflect.Int32Kind:   number,
		protoreflect.Int64Kind:   number,
		protoreflect.EnumKind:    number,
		protoreflect.BoolKind:    {wire: protowire.VarintType, method: "Bool", filled: "%s", given: "%s", size: "1"},
		protoreflect.Fixed64Kind: {wire: protowire.Fixed64Type, method: "Fixed64", filled: "%s != 0", given: "%s", size: "8"},
		// The condition is in output.filled.
		protoreflect.DoubleKind: {wire: protowire.Fixed64Type, method: "Double", given: "%s", size: "8"},
		protoreflect.StringKind: {wire: protowire.BytesType, method: "Text", filled: `%s != ""`, given: "%s", measure: "SizeBytes", measured: "len(%s)"},
		protoreflect.BytesKind:  {wire: protowire.BytesType, method: "Bytes", filled: "len(%s) > 0", given: "%s", measure: "SizeBytes", measured: "len(%s)"},
	}
)

// tagOf returns the encoded tag of a field: its number and wire type.
func tagOf(f *protogen.Field) uint64 {
	wire := protowire.BytesType
	if f.Message == nil {
		wire = kinds[f.Desc.Kind()].wire
	}
	return protowire.EncodeTag(f.Desc.Number(), wire)
}

// sizeOfTag returns the number of bytes of the encoded tag.
func sizeOfTag(f *protogen.Field) int { return protowire.SizeTag(f.Desc.Number()) }

// apply inserts a value into an expression.
func apply(expression, value string) string { return fmt.Sprintf(expression, value) }
