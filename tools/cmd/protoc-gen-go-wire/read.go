package main

import "google.golang.org/protobuf/compiler/protogen"

func (o output) readMethod() {
	o.P()
	o.P("// ReadWire implements wirecode.Message.")
	o.P("func (m *", o.message.GoIdent, ") ReadWire(r *", o.of("Reader"), ") {")
	o.P("for r.Next() {")
	o.P("switch r.Tag() {")
	for _, f := range o.message.Fields {
		o.P("case ", tagOf(f), ":")
		o.read(f)
	}
	o.P("default:")
	o.P("r.Unknown(&m.unknownFields)")
	o.P("}")
	o.P("}")
	o.P("}")
}

// read generates the code that reads a field after its tag. If a field occurs twice, the code
// follows the protobuf rules: the last scalar value wins, and messages are merged.
func (o output) read(f *protogen.Field) {
	value := "m." + f.GoName
	switch {
	case f.Desc.IsMap():
		o.P(o.of("ReadMap"), "(r, &", value, ")")
	case f.Message != nil && f.Desc.IsList():
		o.P("x := &", f.Message.GoIdent, "{}")
		o.P("r.Message(x)")
		o.P(value, " = append(", value, ", x)")
	case f.Message != nil && isChoice(f):
		o.P("x, _ := m.", f.Oneof.GoName, ".(*", f.GoIdent, ")")
		o.P("if x == nil {")
		o.P("both := &struct {") // one allocation for both
		o.P("set ", f.GoIdent)
		o.P("message ", f.Message.GoIdent)
		o.P("}{}")
		o.P("x = &both.set")
		o.P("x.", f.GoName, " = &both.message")
		o.P("m.", f.Oneof.GoName, " = x")
		o.P("}")
		o.P("r.Message(x.", f.GoName, ")")
	case f.Message != nil:
		o.P("if ", value, " == nil {")
		o.P(value, " = &", f.Message.GoIdent, "{}")
		o.P("}")
		o.P("r.", methodFor(f.Message), "(", value, ")")
	default:
		o.readValue(f, value)
	}
}

func (o output) readValue(f *protogen.Field, value string) {
	read := "r." + kinds[f.Desc.Kind()].method + "()"
	if kinds[f.Desc.Kind()].cast {
		read = o.typeOf(f) + "(" + read + ")"
	}
	switch {
	case isChoice(f):
		o.P("m.", f.Oneof.GoName, " = &", f.GoIdent, "{", f.GoName, ": ", read, "}")
	case f.Desc.IsList():
		o.P(value, " = append(", value, ", ", read, ")")
	case f.Desc.HasOptionalKeyword():
		o.P("x := ", read)
		o.P(value, " = &x")
	default:
		o.P(value, " = ", read)
	}
}

// typeOf returns the Go type of a number or of an enum.
func (o output) typeOf(f *protogen.Field) string {
	if f.Enum != nil {
		return o.QualifiedGoIdent(f.Enum.GoIdent)
	}
	return f.Desc.Kind().String() // the kind has the same name as the Go type
}

// methodFor returns the name of the Reader method that reads the message.
func methodFor(m *protogen.Message) string {
	if isMoment(m) {
		return string(m.Desc.Name())
	}
	return "Message"
}
