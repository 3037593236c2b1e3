package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// contractsNow returns the contracts of the sources as files for an image.
func contractsNow() (files []*descriptorpb.FileDescriptorProto) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		files = append(files, protodesc.ToFileDescriptorProto(file))
		return true
	})
	return files
}

// A release needs records of its version that equal the promises of the sources.
func TestCheckRecords(t *testing.T) {
	const image = "proto/releases/1.2.3.binpb"
	for name, c := range map[string]struct {
		write     map[string]string // files that differ from sound records
		remove    string
		contracts func([]*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto
		want      string
	}{
		"sound":             {},
		"no listings":       {remove: "api/releases/1.2.3", want: "a listing of 1.2.3 is missing"},
		"an old listing":    {write: map[string]string{"api/tool.txt": "now\n"}, want: "api/releases/1.2.3/tool.txt differs from the present listing; record the version with make baseline"},
		"a new listing":     {write: map[string]string{"api/new.txt": "now\n"}, want: "a listing of 1.2.3 is missing"},
		"a removed listing": {remove: "api/tool.txt", want: "api/releases/1.2.3/tool.txt has no present listing"},
		"Python":            {write: map[string]string{"sdk/python/api.txt": "now\n"}, want: "sdk_python.txt differs"},
		"TypeScript":        {write: map[string]string{"sdk/typescript/api.txt": "now\n"}, want: "sdk_typescript.txt differs"},
		"no contracts":      {remove: image, want: "the contracts of 1.2.3 are missing"},
		"another field": {
			contracts: func(files []*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
				for _, file := range files {
					if file.GetPackage() == "toolhost.v1" && len(file.GetMessageType()) > 0 {
						message := file.GetMessageType()[0]
						message.Field = append(message.Field, &descriptorpb.FieldDescriptorProto{Name: new("more"), Number: new(int32(1000))})
						break
					}
				}
				return files
			},
			want: image + " differs from the present contract toolhost/v1/",
		},
		"a removed contract": {
			contracts: func(files []*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
				return append(files, &descriptorpb.FileDescriptorProto{Name: new("toolhost/v2/x.proto"), Package: new("toolhost.v2")})
			},
			want: "has toolhost/v2/x.proto, and the sources do not",
		},
		"new contracts": {
			contracts: func([]*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto { return nil },
			want:      image + " differs from the present contract",
		},
		"no stored files": {remove: "server/internal/e2e/releases/testdata/1.2.3", want: "record them with make fixtures"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			files := contractsNow()
			if c.contracts != nil {
				files = c.contracts(files)
			}
			set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
			if err != nil {
				t.Fatal(err)
			}
			r := &release{dir: root}
			write := func(name, text string) {
				if err := r.write(name, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{
				"api/tool.txt", "api/releases/1.2.3/tool.txt", "api/sdk.txt", "api/releases/1.2.3/sdk.txt", "api/releases/0.1.0/old.txt",
				"sdk/python/api.txt", "api/releases/1.2.3/sdk_python.txt", "sdk/typescript/api.txt", "api/releases/1.2.3/sdk_typescript.txt",
				"server/internal/e2e/releases/testdata/1.2.3/runs.db",
			} {
				write(name, "then\n")
			}
			write(image, string(set))
			for name, text := range c.write {
				write(name, text)
			}
			if c.remove != "" {
				if err := os.RemoveAll(filepath.Join(root, c.remove)); err != nil {
					t.Fatal(err)
				}
			}
			err = source{root: root, version: "1.2.3"}.checkRecords()
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
