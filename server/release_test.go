package server_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/toolhost/toolhost/gen/go/agentd/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	_ "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// TestReleasesAreKept fails if a line in a release's listing is missing in the present listing in
// api, or is experimental there. What was experimental in a release may go. The folder api/releases
// has one folder for each release.
func TestReleasesAreKept(t *testing.T) {
	releases, err := filepath.Glob("api/releases/*")
	if err != nil || len(releases) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	for _, release := range releases {
		files, err := filepath.Glob(filepath.Join(release, "*.txt"))
		if err != nil || len(files) < len(surfaces)+len(publicPackages) {
			t.Fatalf("%s has %d listings: %v", release, len(files), err)
		}
		for _, file := range files {
			now := map[string]bool{}
			for _, line := range qualified(readLines(t, currentListing(filepath.Base(file)))) {
				now[line] = true
			}
			for _, line := range qualified(readLines(t, file)) {
				if !now[line] && !strings.HasSuffix(line, experimentalMark) {
					t.Errorf("%s lists %q, and the present listing does not: %s",
						file, line, broken(filepath.Base(release)))
				}
			}
		}
	}
}

// broken tells the author what to do after a change that breaks a promise of a release.
func broken(release string) string {
	return fmt.Sprintf("the change breaks a promise of %s. Keep it, deprecated if need be: docs/stability.md says for how long. If %[1]s is not published yet, record it again with `make baseline`", release)
}

// currentListing returns the path of the present listing that corresponds to a release's listing.
func currentListing(name string) string {
	switch name {
	case "sdk_python.txt":
		return "sdk/python/api.txt"
	case "sdk_typescript.txt":
		return "sdk/typescript/api.txt"
	}
	return filepath.Join("api", name)
}

// qualified returns the lines of a listing. Lines within braces or parentheses begin with the line
// that opened them, because two types can have fields with the same declaration. Blanks count once,
// because gofmt aligns the fields of a type by the longest name.
func qualified(lines []string) []string {
	var all []string
	opened := ""
	for _, line := range lines {
		text := strings.Join(strings.Fields(line), " ")
		switch {
		case text == "":
		case strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " "):
			all = append(all, opened+" "+text)
		default:
			opened = text
			all = append(all, text)
		}
	}
	return all
}

// TestContractsAreKept fails if the present contracts lack something that the contracts of a
// release have. The folder proto/releases has an image of the contracts for each release. `make
// lint` also compares them, with `buf breaking`, which checks more rules but needs more than Go.
func TestContractsAreKept(t *testing.T) {
	images, err := filepath.Glob("proto/releases/*.binpb")
	if err != nil || len(images) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	now := promises(protoregistry.GlobalFiles)
	for _, image := range images {
		data, err := os.ReadFile(image)
		if err != nil {
			t.Fatal(err)
		}
		var set descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(data, &set); err != nil {
			t.Fatal(err)
		}
		files, err := protodesc.NewFiles(&set)
		if err != nil {
			t.Fatal(err)
		}
		then := promises(files)
		if len(then) < 100 {
			t.Errorf("%s has %d fields and RPCs", image, len(then))
		}
		release := strings.TrimSuffix(filepath.Base(image), ".binpb")
		for _, name := range slices.Sorted(maps.Keys(then)) {
			if now[name] != then[name] {
				t.Errorf("%s was %q in %s and is %q: %s", name, then[name], image, now[name], broken(release))
			}
		}
	}
}

// promises returns everything on which a peer relies, by name: the number and type of each field,
// the number of each value of an enum, and the messages of each RPC.
func promises(files *protoregistry.Files) map[string]string {
	found := map[string]string{}
	var messages func(all protoreflect.MessageDescriptors)
	enums := func(all protoreflect.EnumDescriptors) {
		for i := range all.Len() {
			for j := range all.Get(i).Values().Len() {
				v := all.Get(i).Values().Get(j)
				found[string(all.Get(i).FullName())+"."+string(v.Name())] = fmt.Sprint(v.Number())
			}
		}
	}
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			enums(m.Enums())
			messages(m.Messages())
			for j := range m.Fields().Len() {
				f := m.Fields().Get(j)
				found[string(f.FullName())] = strings.TrimSpace(fmt.Sprintf("%d %s %s %s", f.Number(), f.Cardinality(), f.Kind(), typeName(f)))
			}
		}
	}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if p := string(file.Package()); !strings.HasPrefix(p, "toolhost.") && !strings.HasPrefix(p, "agentd.") {
			return true
		}
		enums(file.Enums())
		messages(file.Messages())
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				m := file.Services().Get(i).Methods().Get(j)
				found[string(m.FullName())] = fmt.Sprintf("%s %s, streams: %v %v", m.Input().FullName(), m.Output().FullName(), m.IsStreamingClient(), m.IsStreamingServer())
			}
		}
		return true
	})
	return found
}

// typeName returns the name of the message or enum of a field, and of the oneof that contains it.
func typeName(f protoreflect.FieldDescriptor) string {
	name := ""
	switch {
	case f.Message() != nil:
		name = string(f.Message().FullName())
	case f.Enum() != nil:
		name = string(f.Enum().FullName())
	}
	if of := f.ContainingOneof(); of != nil && !of.IsSynthetic() {
		name += " in " + string(of.Name())
	}
	return strings.TrimSpace(name)
}
