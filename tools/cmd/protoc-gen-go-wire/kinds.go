package main

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// kind is how the fields of one kind are encoded. In the expressions, %s is the value.
type kind struct {
	wire   protowire.Type
	method string // of Writer and of Reader
	filled string // whether the field is written at all
	given  string // what is given to the writer
	size   string // besides the tag; empty: it is measured by `measure`
	// measure names the function of wirecode for what has no fixed size, and measured is what it is given.
	measure, measured string
	cast              bool // what is read has to be converted to the field's type
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
		protoreflect.DoubleKind:  {wire: protowire.Fixed64Type, method: "Double", given: "%s", size: "8"}, // filled: see there
		protoreflect.StringKind:  {wire: protowire.BytesType, method: "Text", filled: `%s != ""`, given: "%s", measure: "SizeBytes", measured: "len(%s)"},
		protoreflect.BytesKind:   {wire: protowire.BytesType, method: "Bytes", filled: "len(%s) > 0", given: "%s", measure: "SizeBytes", measured: "len(%s)"},
	}
)

// tagOf returns a field's number and kind as they are encoded.
func tagOf(f *protogen.Field) uint64 {
	wire := protowire.BytesType
	if f.Message == nil {
		wire = kinds[f.Desc.Kind()].wire
	}
	return protowire.EncodeTag(f.Desc.Number(), wire)
}

// sizeOfTag returns how many bytes that has.
func sizeOfTag(f *protogen.Field) int { return protowire.SizeTag(f.Desc.Number()) }

// apply puts a value into an expression.
func apply(expression, value string) string { return fmt.Sprintf(expression, value) }
