package main

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestFieldPages runs pages from bug reports about other products. Hex is put for HEX in the body.
func TestFieldPages(t *testing.T) {
	data, err := os.ReadFile("testdata/field/pages.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source, Input, Right, Type, Body, Hex string
		Status                                int
		Says, Not                             []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Source+" "+c.Input, func(t *testing.T) {
			raw, err := hex.DecodeString(c.Hex)
			if err != nil {
				t.Fatal(err)
			}
			w := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.Type)
				w.WriteHeader(max(c.Status, http.StatusOK))
				_, _ = w.Write([]byte(strings.ReplaceAll(c.Body, "HEX", string(raw))))
			})
			got := call(t, w.settings, "fetch", map[string]any{"url": w.URL}).Text()
			for _, part := range c.Says {
				if !strings.Contains(got, part) {
					t.Errorf("%s There is no %q in\n%s", c.Right, part, got)
				}
			}
			for _, part := range c.Not {
				if strings.Contains(got, part) {
					t.Errorf("%s %q is in\n%s", c.Right, part, got)
				}
			}
		})
	}
}
