package openai

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetails(t *testing.T) {
	for name, test := range map[string]struct{ pieces, want []string }{
		"by index":         {[]string{`{"index":0,"text":"a"}`, `{"index":1,"text":"b"}`, `{"index":0,"text":"c"}`}, []string{`{"index":0,"text":"ac"}`, `{"index":1,"text":"b"}`}},
		"by type":          {[]string{`{"index":0,"type":"x","text":"a"}`, `{"index":0,"type":"y","text":"b"}`}, []string{`{"index":0,"text":"a","type":"x"}`, `{"index":0,"text":"b","type":"y"}`}},
		"without an index": {[]string{`{"type":"x","data":"a"}`, `{"type":"x","data":"b"}`, `{"type":"y"}`, `{"type":"x","data":"c"}`}, []string{`{"data":"ab","type":"x"}`, `{"type":"y"}`, `{"data":"c","type":"x"}`}},
		"no text, then":    {[]string{`{"index":0,"text":null}`, `{"index":0,"text":"a"}`, `{"index":0,"text":"b","signature":"s"}`}, []string{`{"index":0,"signature":"s","text":"ab"}`}},
		"something else":   {[]string{`{"index":0,"text":"a"}`, `{"index":0,"text":"b"}`, `{"index":0,"text":[1]}`, `{"index":0,"text":"c"}`}, []string{`{"index":0,"text":"c"}`}},
		"no objects":       {[]string{`1`, `null`, `[]`}, nil},
	} {
		var d details
		for _, piece := range test.pieces {
			d.add(json.RawMessage(piece))
		}
		var got []string
		for _, one := range d.list() {
			got = append(got, string(one))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Long reasoning arrives in tens of thousands of pieces. The memory that they need in total grows
// with the text, not with its square.
func TestDetailsOfManyPieces(t *testing.T) {
	const pieces = 20_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var d details
	for i := range pieces {
		d.add(json.RawMessage(fmt.Sprintf(`{"type":"reasoning.text","index":0,"text":"piece %d "}`, i)))
	}
	list := d.list()
	runtime.ReadMemStats(&after)
	if len(list) != 1 || strings.Count(string(list[0]), "piece") != pieces {
		t.Fatalf("the detail is %.200s", list)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > pieces*8<<10 {
		t.Errorf("%d pieces needed %d bytes", pieces, used)
	}
}
