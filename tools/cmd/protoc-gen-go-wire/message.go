package main

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	wirecode = protogen.GoImportPath("github.com/toolhost/toolhost/internal/wire/wirecode")
	maths    = protogen.GoImportPath("math")
)

// output is a generated file and the message for which code is being written.
type output struct {
	*protogen.GeneratedFile
	message *protogen.Message
}

// writeMessage generates the three methods of wirecode.Message that protoc-gen-go does not
// generate.
func writeMessage(g *protogen.GeneratedFile, m *protogen.Message) {
	o := output{g, m}
	o.sizeMethod()
	o.writeMethod()
	o.readMethod()
}

func (o output) of(name string) string { return o.QualifiedGoIdent(wirecode.Ident(name)) }

// parts returns the fields of the message in order. A oneof is represented by its first field.
func (o output) parts() []*protogen.Field {
	var parts []*protogen.Field
	for _, f := range o.message.Fields {
		if !isChoice(f) || f == f.Oneof.Fields[0] {
			parts = append(parts, f)
		}
	}
	return parts
}

// isChoice reports whether a field belongs to a oneof. The implicit oneof of an optional field does
// not count.
func isChoice(f *protogen.Field) bool { return f.Oneof != nil && !f.Oneof.Desc.IsSynthetic() }

func (o output) sizeMethod() {
	o.P()
	o.P("// SizeWire implements wirecode.Message.")
	o.P("func (m *", o.message.GoIdent, ") SizeWire() (n int) {")
	o.P("if m == nil {")
	o.P("return 0")
	o.P("}")
	for _, f := range o.parts() {
		o.eachPart(f, o.size)
	}
	o.P("return n + len(m.unknownFields)")
	o.P("}")
}

func (o output) writeMethod() {
	o.P()
	o.P("// WriteWire implements wirecode.Message.")
	o.P("func (m *", o.message.GoIdent, ") WriteWire(w *", o.of("Writer"), ") {")
	o.P("if m == nil {")
	o.P("return")
	o.P("}")
	o.P("w.Raw(m.unknownFields)")
	for _, f := range slices.Backward(o.parts()) {
		o.eachPart(f, o.write)
	}
	o.P("}")
}

// eachPart generates the condition or loop around a part of the message, and calls do to generate
// its body.
func (o output) eachPart(f *protogen.Field, do func(f *protogen.Field, value string)) {
	value := "m." + f.GoName
	switch {
	case isChoice(f):
		o.P("switch x := m.", f.Oneof.GoName, ".(type) {")
		for _, choice := range f.Oneof.Fields {
			o.P("case *", choice.GoIdent, ":")
			do(choice, "x."+choice.GoName)
		}
		o.P("}")
	case f.Desc.IsMap():
		do(f, value)
	case f.Desc.IsList():
		o.P("for i := range ", value, " {")
		// From last to first, because the writer writes backward; for sizes the order does not
		// matter.
		do(f, fmt.Sprintf("%s[len(%[1]s)-1-i]", value))
		o.P("}")
	case f.Message != nil:
		o.P("if ", value, " != nil {")
		do(f, value)
		o.P("}")
	case f.Desc.HasOptionalKeyword():
		o.P("if ", value, " != nil {")
		do(f, "*"+value)
		o.P("}")
	default:
		o.P("if ", o.filled(f, value), " {")
		do(f, value)
		o.P("}")
	}
}

// filled returns the condition under which a value is written: it is not the zero value. Negative
// zero is written, because only positive zero is the default of a floating-point field.
func (o output) filled(f *protogen.Field, value string) string {
	if f.Desc.Kind() == protoreflect.DoubleKind {
		return value + " != 0 || " + o.QualifiedGoIdent(maths.Ident("Signbit")) + "(" + value + ")"
	}
	return apply(kinds[f.Desc.Kind()].filled, value)
}

func (o output) size(f *protogen.Field, value string) {
	tag := sizeOfTag(f)
	switch {
	case f.Desc.IsMap():
		o.P("n += ", o.of("SizeMap"), "(", tag, ", ", value, ")")
	case f.Message != nil && isMoment(f.Message):
		o.P("n += ", o.of("SizeBytes"), "(", tag, ", ", o.of("SizeMoment"), "(", value, "))")
	case f.Message != nil:
		o.P("n += ", o.of("SizeBytes"), "(", tag, ", ", value, ".SizeWire())")
	case kinds[f.Desc.Kind()].size != "":
		o.P("n += ", tag, " + ", kinds[f.Desc.Kind()].size)
	default:
		k := kinds[f.Desc.Kind()]
		o.P("n += ", o.of(k.measure), "(", tag, ", ", apply(k.measured, value), ")")
	}
}

func (o output) write(f *protogen.Field, value string) {
	tag := tagOf(f)
	switch {
	case f.Desc.IsMap():
		o.P(o.of("Map"), "(w, ", tag, ", ", value, ")")
	case f.Message != nil && isMoment(f.Message):
		o.P("w.Moment(", tag, ", ", value, ")")
	case f.Message != nil:
		o.P("w.Message(", tag, ", ", value, ")")
	default:
		k := kinds[f.Desc.Kind()]
		o.P("w.", k.method, "(", tag, ", ", apply(k.given, value), ")")
	}
}
