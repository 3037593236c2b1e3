// Command protoc-gen-openapi is a plugin for protoc and buf. It describes RPCs in the JSON form of
// the Connect protocol, as an OpenAPI document. Its parameters are the title, which is also the
// name of the file, and the RPCs:
//
//	opt:
//	  - title=toolhost
//	  - rpc=toolhost.v1.ToolService.Call
//
// Fields of bytes are described as JSON text, except for those with the name data: see package
// jsonapi of the programs. The plugin must see all files at once (`strategy: all`).
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

// object is an object of the document. Its keys are sorted when it is written.
type object map[string]any

func main() {
	var title string
	var rpcs []string
	options := protogen.Options{ParamFunc: func(name, value string) error {
		switch name {
		case "title":
			title = value
		case "rpc":
			rpcs = append(rpcs, value)
		default:
			return fmt.Errorf("there is no parameter %q", name)
		}
		return nil
	}}
	options.Run(func(p *protogen.Plugin) error {
		p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		return write(p, title, rpcs)
	})
}

func write(p *protogen.Plugin, title string, rpcs []string) error {
	d := document{paths: object{}, schemas: object{"Error": errorSchema}}
	for _, file := range p.Files {
		for _, service := range file.Services {
			for _, m := range service.Methods {
				if i := slices.Index(rpcs, string(m.Desc.FullName())); i >= 0 {
					rpcs = slices.Delete(rpcs, i, i+1)
					d.method(m)
				}
			}
		}
	}
	if len(rpcs) > 0 {
		return fmt.Errorf("there is no RPC %s", strings.Join(rpcs, ", "))
	}
	out := json.NewEncoder(p.NewGeneratedFile(title+".json", ""))
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(object{
		"openapi":    "3.1.0",
		"info":       object{"title": title, "version": "v1", "description": "Generated from proto/. docs/http.md describes it."},
		"security":   []any{object{"token": []any{}}},
		"paths":      d.paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	})
}

type document struct{ paths, schemas object }

// errorSchema is an error of the Connect protocol.
var errorSchema = object{
	"type": "object", "description": "Why an RPC failed. One of the details has the kind of the error.",
	"properties": object{
		"code": object{"type": "string"}, "message": object{"type": "string"},
		"details": object{"type": "array", "items": object{"type": "object", "properties": object{
			"type": object{"type": "string"}, "value": object{"type": "string", "contentEncoding": "base64"}, "debug": object{"type": "object"},
		}}},
	},
}

func (d *document) method(m *protogen.Method) {
	kind, text := "application/json", textOf(m.Comments)
	if m.Desc.IsStreamingServer() {
		kind = "application/connect+json"
		text += "\n\nBefore each message is one byte, 0, and the length of the message in four bytes, the highest first. " +
			"The first byte of the last message is 2; it is an object, whose error says why the stream failed."
	}
	body := func(of *protogen.Message) object {
		return object{kind: object{"schema": d.message(of)}}
	}
	failed := object{"description": "The RPC failed.", "content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}}}
	d.paths["/"+string(m.Parent.Desc.FullName())+"/"+string(m.Desc.Name())] = object{"post": object{
		"operationId": string(m.Desc.FullName()), "description": text,
		"requestBody": object{"required": true, "content": body(m.Input)},
		"responses":   object{"200": object{"description": "The answer.", "content": body(m.Output)}, "default": failed},
	}}
}

// message returns the schema of a message. It adds the definition of the message when it is first
// used.
func (d *document) message(m *protogen.Message) object {
	switch m.Desc.FullName() {
	case "google.protobuf.Timestamp":
		return object{"type": "string", "format": "date-time"}
	case "google.protobuf.Duration":
		return object{"type": "string", "pattern": `^-?[0-9]+(\.[0-9]{1,9})?s$`}
	}
	name := string(m.Desc.FullName())
	if d.schemas[name] == nil {
		properties := object{}
		d.schemas[name] = object{"type": "object", "description": textOf(m.Comments), "properties": properties, "additionalProperties": false}
		for _, f := range m.Fields {
			properties[f.Desc.JSONName()] = d.field(f)
		}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (d *document) field(f *protogen.Field) object {
	var schema object
	switch {
	case f.Desc.IsMap():
		schema = object{"type": "object", "additionalProperties": d.value(f.Message.Fields[1])}
	case f.Desc.IsList():
		schema = object{"type": "array", "items": d.value(f)}
	default:
		schema = d.value(f)
	}
	schema["description"] = textOf(f.Comments)
	return schema
}

func (d *document) value(f *protogen.Field) object {
	switch kind := f.Desc.Kind(); kind {
	case protoreflect.MessageKind:
		return d.message(f.Message)
	case protoreflect.EnumKind:
		var names []string
		for _, v := range f.Enum.Values {
			names = append(names, string(v.Desc.Name()))
		}
		return object{"type": "string", "enum": names}
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return object{"type": "number"}
	case protoreflect.StringKind:
		return object{"type": "string"}
	case protoreflect.BytesKind:
		if f.Desc.Name() == "data" {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "string", "contentMediaType": "application/json"}
	case protoreflect.Int64Kind, protoreflect.Uint64Kind:
		return object{"type": "string", "pattern": "^-?[0-9]+$"} // JSON numbers are not precise enough
	default:
		return object{"type": "integer", "format": kind.String()}
	}
}

// textOf returns a comment as text.
func textOf(c protogen.CommentSet) string {
	lines := strings.Split(strings.TrimSpace(string(c.Leading)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
