package arguments_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// BenchmarkArguments measures the cost of a call's arguments before the plugin receives them.
func BenchmarkArguments(b *testing.B) {
	s, err := arguments.Compile(json.RawMessage(`{"type":"object","additionalProperties":false,"required":["size","note"],
		"properties":{"size":{"type":"integer","minimum":0,"maximum":1048576},"note":{"type":"string"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(`{"size":1024,"note":"` + strings.Repeat("all work and no play ", 8) + `"}`)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := arguments.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, err := arguments.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	for name, s := range map[string]*arguments.Schema{"settled": s, "thorough": s.Thorough()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, repairs := s.Repair(p); repairs != nil || s.Validate(p) != nil {
					b.Fatal("they do not fit")
				}
			}
		})
	}
}
