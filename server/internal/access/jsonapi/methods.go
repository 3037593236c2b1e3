package jsonapi

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// methodsOf returns the descriptors of RPCs, in which JSON is a string and not bytes. The contracts
// have JSON as bytes, because gRPC then does not check it a second time, and the JSON form of bytes
// is Base64. A string has the same encoding on the wire, so messages of these descriptors are
// messages of the contracts.
func methodsOf(names []string) ([]protoreflect.MethodDescriptor, error) {
	set, added := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if added[f.Path()] {
			return
		}
		added[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		file := protodesc.ToFileDescriptorProto(f)
		if f.Package().Parent() != "google" {
			textInsteadOfBytes(file.MessageType)
		}
		set.File = append(set.File, file)
	}
	for _, name := range names {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(fullName(name))
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", name, err)
		}
		add(d.ParentFile())
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	all := make([]protoreflect.MethodDescriptor, len(names))
	for i, name := range names {
		d, err := files.FindDescriptorByName(fullName(name))
		m, ok := d.(protoreflect.MethodDescriptor)
		if err != nil || !ok || m.IsStreamingClient() {
			return nil, fmt.Errorf("%s is no RPC with one request: %w", name, err)
		}
		all[i] = m
	}
	return all, nil
}

// textInsteadOfBytes changes the type of fields that have JSON. Only fields with the name data have
// other bytes.
func textInsteadOfBytes(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.Field {
			if f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_BYTES && f.GetName() != "data" {
				f.Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
			}
		}
		textInsteadOfBytes(m.NestedType) // also the entries of maps
	}
}

// fullName returns the name in the descriptors of a method such as /toolhost.v1.ToolService/Call.
func fullName(method string) protoreflect.FullName {
	return protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", "."))
}
