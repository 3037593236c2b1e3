package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

func TestReadArtifact(t *testing.T) {
	h := sdktest.New(t, plugin())
	text := strings.Repeat("漢字 and letters\n", 1000)
	for name, test := range map[string]struct {
		content   sdk.Content
		arguments string
		want      string // the last line, or the error
		isError   bool
	}{
		"the beginning":          {sdk.Text(text), `{}`, "[bytes 0 to 4000 of 19000; go on with offset 4000]", false},
		"a part":                 {sdk.Text(text), `"offset":19,"limit":19`, "[bytes 19 to 38 of 19000; go on with offset 38]", false},
		"inside letters":         {sdk.Text(text), `"offset":1,"limit":4`, "[bytes 3 to 3 of 19000; go on with offset 3]", false},
		"the end":                {sdk.Text(text), `"offset":18990`, "[bytes 18990 to 19000 of 19000: this is the end]", false},
		"behind the end":         {sdk.Text(text), `"offset":19000`, "the artifact has 19000 bytes; there is nothing at offset 19000", true},
		"nothing":                {sdk.Text(""), `{}`, "[bytes 0 to 0 of 0: this is the end]", false},
		"json":                   {sdk.JSON([]byte(`{"a":1}`)), `{}`, "[bytes 0 to 7 of 7: this is the end]", false},
		"a file that is text":    {sdk.File("a.csv", "text/csv", []byte("a;b\n")), `{}`, "[bytes 0 to 4 of 4: this is the end]", false},
		"a file that is not":     {sdk.File("a.bin", "application/x", []byte{0xff, 0xfe, 0xff, 0x80, 0x80}), `{}`, "the artifact is no text but application/x, 5 bytes", true},
		"more than there may be": {sdk.Text(text), `"limit":100000`, "limit", true},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := fmt.Sprintf(`{"artifact":"a",%s}`, test.arguments)
			if test.arguments == "{}" {
				arguments = `{"artifact":"a"}`
			}
			got := h.Call("read_artifact", arguments, sdktest.WithArtifact("a", test.content))
			if got.Err != nil || got.IsError != test.isError || !strings.Contains(got.Text(), test.want) {
				t.Errorf("got %.200q, error %v", got.Text(), got.Err)
			}
			if !got.IsError && len(got.Text()) > 4096 {
				t.Errorf("%d bytes are more than a result shows by default", len(got.Text()))
			}
		})
	}
	if got := h.Call("read_artifact", `{"artifact":"b"}`); !got.IsError || !strings.Contains(got.Text(), `no artifact "b"`) {
		t.Errorf("no such artifact: %+v", got)
	}
}

// A reader that follows the offsets of the results receives the whole text, each character once.
func TestReadToTheEnd(t *testing.T) {
	h := sdktest.New(t, plugin())
	text := strings.Repeat("🙂漢ß.", 500)
	var read strings.Builder
	for offset := 0; offset < len(text); offset = read.Len() {
		got := h.Call("read_artifact", fmt.Sprintf(`{"artifact":"a","offset":%d,"limit":101}`, offset), sdktest.WithArtifact("a", sdk.Text(text)))
		if got.Err != nil || got.IsError || len(got.Content) != 2 || got.Content[0].Text == "" {
			t.Fatalf("at %d: %+v", offset, got)
		}
		read.WriteString(got.Content[0].Text)
		if next := fmt.Sprintf("go on with offset %d]", read.Len()); read.Len() < len(text) && !strings.HasSuffix(got.Content[1].Text, next) {
			t.Fatalf("at %d: %q, want %q", offset, got.Content[1].Text, next)
		}
	}
	if read.String() != text {
		t.Errorf("read %d bytes of %d", read.Len(), len(text))
	}
}
