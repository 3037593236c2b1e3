package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill says what an artifact consists of or needs.
type bill struct {
	kind       cdx.ComponentType
	purl       string // the artifact as a package of its ecosystem, or empty
	components []cdx.Component
	// uses holds the references of the components that a component uses, by its own reference. The
	// artifact's own reference is self.
	uses map[string][]string
}

// self is the reference of the artifact in its own bill.
const self = "artifact"

// writeBill writes the SBOM of an artifact beside it, in the format CycloneDX 1.6.
func (r *release) writeBill(a artifact) error {
	file := filepath.Join(r.dir, filepath.FromSlash(a.name))
	digest, _, err := digestOf(file)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = serial(digest, r.commit)
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Tools: &cdx.ToolsChoice{Components: &[]cdx.Component{
			{Type: cdx.ComponentTypeApplication, Name: "github.com/toolhost/toolhost/server/tools/release", Version: r.version},
		}},
		Component: &cdx.Component{
			BOMRef: self, Type: a.bill.kind, Name: path.Base(a.name), Version: r.version, PackageURL: a.bill.purl,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}},
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Properties: &[]cdx.Property{{Name: "toolhost:commit", Value: r.commit}},
		},
	}
	bom.Components = &a.bill.components
	dependencies := []cdx.Dependency{}
	for _, ref := range slices.Sorted(maps.Keys(a.bill.uses)) {
		used := slices.Compact(slices.Sorted(slices.Values(a.bill.uses[ref])))
		dependencies = append(dependencies, cdx.Dependency{Ref: ref, Dependencies: &used})
	}
	bom.Dependencies = &dependencies
	var text bytes.Buffer
	encoder := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return err
	}
	return r.write(a.name+".cdx.json", text.Bytes())
}

// serial returns a UUID for the SBOM. It is derived from the artifact and the commit instead of
// random numbers, so that a second build has the same one.
func serial(digest, commit string) string {
	id := sha256.Sum256([]byte(digest + commit))
	id[6] = id[6]&0x0f | 0x80 // version 8: the application decides about the other bits
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])
}
