package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// The contracts of the source tree register themselves.
	_ "github.com/toolhost/toolhost/gen/go/agentd/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
)

// checkRecords returns an error if the promises that were recorded for the version are not those of
// the sources. Later versions are compared with these records, so a promise that is missing there
// could be broken unnoticed.
func (s source) checkRecords() error {
	if err := s.checkListings(); err != nil {
		return fmt.Errorf("%w; record the version with make baseline", err)
	}
	if err := s.checkContracts(); err != nil {
		return fmt.Errorf("%w; record the version with make baseline", err)
	}
	if _, err := os.Stat(filepath.Join(s.root, "server/internal/e2e/releases/testdata", s.version)); err != nil {
		return fmt.Errorf("no files are recorded that %s stores: %w; record them with make fixtures", s.version, err)
	}
	return nil
}

// checkListings compares the listings of the version with those of the sources.
func (s source) checkListings() error {
	recorded := filepath.Join(s.root, "api/releases", s.version)
	present, err := filepath.Glob(filepath.Join(s.root, "api/*.txt"))
	if err != nil || len(present) == 0 {
		return fmt.Errorf("%s has no listings in api: %w", s.root, err)
	}
	pairs := map[string]string{
		"sdk_python.txt":     filepath.Join(s.root, "sdk/python/api.txt"),
		"sdk_typescript.txt": filepath.Join(s.root, "sdk/typescript/api.txt"),
	}
	for _, file := range present {
		pairs[filepath.Base(file)] = file
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		now, err := os.ReadFile(pairs[name])
		if err != nil {
			return err
		}
		then, err := os.ReadFile(filepath.Join(recorded, name))
		if err != nil {
			return fmt.Errorf("a listing of %s is missing: %w", s.version, err)
		}
		if !bytes.Equal(now, then) {
			return fmt.Errorf("%s differs from the present listing", path.Join("api/releases", s.version, name))
		}
	}
	entries, err := os.ReadDir(recorded)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if pairs[entry.Name()] == "" {
			return fmt.Errorf("%s has no present listing", path.Join("api/releases", s.version, entry.Name()))
		}
	}
	return nil
}

// checkContracts compares the image of the version's contracts with the contracts of the sources.
func (s source) checkContracts() error {
	image := path.Join("proto/releases", s.version+".binpb")
	data, err := os.ReadFile(filepath.Join(s.root, image))
	if err != nil {
		return fmt.Errorf("the contracts of %s are missing: %w", s.version, err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &set); err != nil {
		return fmt.Errorf("reading %s: %w", image, err)
	}
	recorded := map[string]*descriptorpb.FileDescriptorProto{}
	for _, file := range set.GetFile() {
		if isContract(file.GetPackage()) {
			recorded[file.GetName()] = file
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !isContract(string(file.Package())) {
			return true
		}
		if !proto.Equal(protodesc.ToFileDescriptorProto(file), recorded[file.Path()]) {
			err = fmt.Errorf("%s differs from the present contract %s", image, file.Path())
		}
		delete(recorded, file.Path())
		return err == nil
	})
	if err != nil {
		return err
	}
	for name := range recorded {
		return fmt.Errorf("%s has %s, and the sources do not", image, name)
	}
	return nil
}

func isContract(name string) bool {
	return strings.HasPrefix(name, "toolhost.") || strings.HasPrefix(name, "agentd.")
}
