package main

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// pluginFor returns a generator request for one file of the given syntax, whose message p.M has the
// field.
func pluginFor(t *testing.T, syntax string, field *descriptorpb.FieldDescriptorProto) *protogen.Plugin {
	t.Helper()
	field.Name, field.Number = proto.String("f"), proto.Int32(1)
	if field.Label == nil {
		field.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
	}
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{"p.proto"},
		ProtoFile: []*descriptorpb.FileDescriptorProto{{
			Name: proto.String("p.proto"), Package: proto.String("p"), Syntax: proto.String(syntax),
			Options:     &descriptorpb.FileOptions{GoPackage: proto.String("example.org/p")},
			MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M"), Field: []*descriptorpb.FieldDescriptorProto{field}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

// The generator must refuse unsupported fields. If it ignored them, their values would be lost on
// the wire.
func TestRefusesWhatItHasNoCodeFor(t *testing.T) {
	repeated := descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	for name, test := range map[string]struct {
		syntax string
		field  *descriptorpb.FieldDescriptorProto
		reason string // part of the error; "" means that the field is supported
	}{
		"a string":         {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()}, ""},
		"strings":          {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), Label: repeated}, ""},
		"itself":           {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: proto.String(".p.M"), Label: repeated}, ""},
		"numbers":          {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_UINT32.Enum(), Label: repeated}, "a list of what is neither text nor message"},
		"a number, zigzag": {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_SINT64.Enum()}, "a sint64"},
		"a float":          {"proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_FLOAT.Enum()}, "a float"},
		"proto2":           {"proto2", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()}, "not of proto3"},
	} {
		t.Run(name, func(t *testing.T) {
			err := generate(pluginFor(t, test.syntax, test.field), []protoreflect.FullName{"p.M"})
			switch {
			case test.reason == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case test.reason != "" && (err == nil || !strings.Contains(err.Error(), test.reason)):
				t.Errorf("the error is %v, want one that says %q", err, test.reason)
			}
		})
	}
}

func TestRefusesMessagesThatThereAreNot(t *testing.T) {
	plugin := pluginFor(t, "proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()})
	if err := generate(plugin, []protoreflect.FullName{"p.N"}); err == nil {
		t.Error("code was generated for a message that is not there")
	}
}

func TestGeneratesForWhatIsChosenAlone(t *testing.T) {
	for _, test := range []struct {
		roots []protoreflect.FullName
		files int
	}{{nil, 0}, {[]protoreflect.FullName{"p.M"}, 1}} {
		plugin := pluginFor(t, "proto3", &descriptorpb.FieldDescriptorProto{Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()})
		if err := generate(plugin, test.roots); err != nil {
			t.Fatal(err)
		}
		if files := plugin.Response().GetFile(); len(files) != test.files {
			t.Errorf("for %v there are %d files, want %d", test.roots, len(files), test.files)
		}
	}
}
