package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// refusing is a type whose method cannot encode it.
type refusing struct{ Inner int }

func (refusing) MarshalJSON() ([]byte, error) { return nil, errors.New("not today") }

// panicking is a type whose method panics.
type panicking struct{ Inner float64 }

func (panicking) MarshalJSON() ([]byte, error) { panic("not at all") }

// A tool that has been executed does not lose its result for a part that JSON cannot represent: the
// part becomes text, and the log names it.
func TestWhatHasNoJSONFormBecomesText(t *testing.T) {
	cycle := map[string]any{"n": 1}
	cycle["self"] = cycle
	type list struct {
		N    int
		Next *list
	}
	ring := &list{N: 1}
	ring.Next = ring
	deep := any(math.NaN())
	for range 100 {
		deep = []any{deep}
	}
	for name, tt := range map[string]struct {
		value  any
		want   string
		places []string
	}{
		"NaN":              {math.NaN(), `"NaN"`, []string{"the whole"}},
		"a list of floats": {[]float64{1, math.Inf(-1)}, `[1,"-Inf"]`, []string{"[1]"}},
		"fields": {struct {
			ID   int     `json:"id"`
			Gone float64 `json:"-"`
			Rate float64
			lost float64
		}{7, math.NaN(), math.NaN(), 1}, `{"Rate":"NaN","id":7}`, []string{"Rate"}},
		"an embedded struct": {struct{ Embedded }{Embedded{math.Inf(1)}}, `{"price":"+Inf"}`, []string{"price"}},
		"a channel":          {map[string]any{"ok": true, "c": make(chan int)}, `{"c":"a value of type chan int","ok":true}`, []string{"c"}},
		"a function":         {[]any{map[string]any{"f": func() {}}}, `[{"f":"a value of type func()"}]`, []string{"[0].f"}},
		"a key":              {map[any]any{1: "one"}, `{"1":"one"}`, nil},
		"a cycle":            {cycle, `{"n":1,"self":"a value of type map[string]interface {}"}`, []string{"self"}},
		"a ring":             {ring, `{"N":1,"Next":"a value of type *sdk_test.list"}`, []string{"Next"}},
		"its own method":     {refusing{3}, `"a value of type sdk_test.refusing"`, []string{"the whole"}},
		"a panic":            {[]any{panicking{3}}, `["a value of type sdk_test.panicking"]`, []string{"[0]"}},
		"an embedded one": {struct {
			low
			*Embedded
			X float64
			O int `json:"o,omitempty"`
			T time.Time
		}{low{1}, &Embedded{2}, math.NaN(), 0, time.Date(10001, 1, 1, 0, 0, 0, 0, time.UTC)}, `{"L":1,"T":"a value of type time.Time","X":"NaN","price":2}`, []string{"T", "X"}},
		"raw text":         {map[string]any{"r": json.RawMessage("{")}, `{"r":"{"}`, []string{"r"}},
		"a number":         {[]json.Number{"1", "one"}, `[1,"one"]`, []string{"[1]"}},
		"a pointer to NaN": {map[string]*float64{"x": new(math.NaN())}, `{"x":"NaN"}`, []string{"x"}},
		"a deep one":       {deep, strings.Repeat("[", 16) + `"a value of type []interface {}"` + strings.Repeat("]", 16), []string{strings.Repeat("[0]", 16)}},
	} {
		t.Run(name, func(t *testing.T) {
			give := sdk.Func(sdk.Spec{Name: "give", Description: "Give."}, func(context.Context, struct{}) (any, error) { return tt.value, nil })
			h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{sdk.Settle(give, func(context.Context, struct{}) (sdk.Settlement, error) {
				return sdk.Happened(tt.value), nil
			})}})
			got := h.Call("give", "{}")
			if got.Err != nil || got.IsError || got.Text() != tt.want {
				t.Errorf("got %s, %v, want %s", got.Text(), got.Err, tt.want)
			}
			if len(got.Logs) != 1 {
				t.Fatalf("the log is %+v", got.Logs)
			}
			for _, place := range tt.places {
				if !strings.Contains(got.Logs[0].Message, place) {
					t.Errorf("%q does not name %s", got.Logs[0].Message, place)
				}
			}
			settled, err := h.Settle("give", "{}")
			if err != nil || settled.Result == nil || cmp.Diff(got.Content, settled.Result.Content) != "" {
				t.Errorf("settled: %+v, %v", settled, err)
			}
		})
	}
}

// What took a moment to encode before takes a moment to take apart: each object is opened once.
func TestAMeshIsTakenApartOnce(t *testing.T) {
	type node struct {
		Name  string
		Peers []*node
	}
	nodes := make([]*node, 40)
	for i := range nodes {
		nodes[i] = &node{Name: fmt.Sprint(i)}
	}
	for _, n := range nodes {
		n.Peers = nodes
	}
	give := sdk.Func(sdk.Spec{Name: "give", Description: "Give."}, func(context.Context, struct{}) (any, error) { return nodes, nil })
	got := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{give}}).Call("give", "{}")
	if got.Err != nil || !strings.Contains(got.Text(), `"Name":"39"`) || len(got.Text()) > 100_000 {
		t.Errorf("%d bytes, %v", len(got.Text()), got.Err)
	}
}

type low struct{ L int }

// Embedded is an embedded struct with an exported name.
type Embedded struct {
	Price float64 `json:"price"`
}
