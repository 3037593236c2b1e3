package sdk

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"
)

type leaf struct {
	Text string  `json:"text"`
	Rate float32 `json:"rate,omitempty"`
}

type tree struct {
	Name   string     `json:"name"`
	N      int        `json:"n"`
	Small  int8       `json:"small"`
	Port   uint16     `json:"port"`
	Share  float64    `json:"share"`
	On     bool       `json:"on"`
	Words  []string   `json:"words"`
	Leaf   leaf       `json:"leaf"`
	Maybe  *leaf      `json:"maybe"`
	Leaves []leaf     `json:"leaves"`
	Grid   [][]int    `json:"grid"`
	Far    **[]*uint8 `json:"far"`
	Hidden string     `json:"-"`
	Bare   string
}

var plainTexts = []string{
	`{}`, ` { } `, `{"name":"x","n":-12,"on":true}`, "{\n\t\"name\" : \"ü \u2028 😀\" ,\r \"on\":false }",
	`{"small":127,"port":65535,"share":-1.5e-3}`, `{"n":9223372036854775807,"share":0}`, `{"n":-0,"share":-0}`,
	`{"words":["a","","c"],"leaves":[{"text":"l","rate":0.1},{}],"grid":[[],[1,2],[3]]}`, `{"words":[],"leaves":[]}`,
	`{"leaf":{"text":"in"},"maybe":{"rate":3},"far":[1,2]}`, `{"name":"\n\"\\\u00fc\ud83d\ude00\/"}`, `{"Bare":"b"}`, `{"name":"\ud800"}`, `{"name":"` + "\xff" + `"}`,
}

// oddTexts are texts that the plain decoder leaves to encoding/json.
var oddTexts = []string{
	``, `null`, `[]`, `{"name":null}`, `{"maybe":null,"words":null}`, `{"Name":"x"}`, `{"unknown":1}`, `{"Hidden":"x"}`,
	`{"n":1,"n":2}`, `{"leaf":{"text":"a"},"leaf":{"rate":1}}`, `{"n":1.0}`, `{"n":1e2}`, `{"n":9223372036854775808}`, `{"small":128}`, `{"port":-1}`,
	`{"n":01}`, `{"n":+1}`, `{"n":0x1}`, `{"n":1_0}`, `{"share":.5}`, `{"share":5.}`, `{"share":1e}`, `{"share":1e999}`, `{"share":Infinity}`,
	`{"name":"` + "\x01" + `"}`, `{"name":"\x"}`, `{"name":"\"}`, `{"n\u0061me":"x"}`, `{"name":1}`,
	`{"on":truer}`, `{"on":tru}`, `{"on":1}`, `{"words":["a",]}`, `{"words":[,"a"]}`, `{"words":["a" "b"]}`, `{"words":{}}`, `{"n":1,}`, `{,"n":1}`,
	`{"n":1 "on":true}`, `{"n" 1}`, `{"n":}`, `{"n":1`, `{"n":1}}`, `{"n":1}{}`, `{"n":-}`, `{"far":[256]}`, `{"words":"a"}`, `{"name":"x`,
}

// The plain decoder and encoding/json decode the same values.
func TestPlainTextsAreDecodedPlainly(t *testing.T) {
	other := errors.New("left to the other")
	into := plainly(plainOf(reflect.TypeFor[tree]()), func(json.RawMessage, any) error { return other })
	for _, text := range plainTexts {
		var got, want tree
		if err := into([]byte(text), &got); err != nil {
			t.Errorf("%s is %v", text, err)
		}
		if err := decodeInto([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %+v, and %+v by encoding/json, %v", text, got, want, err)
		}
	}
	for _, text := range oddTexts {
		var got tree
		if err := into([]byte(text), &got); !errors.Is(err, other) || !reflect.DeepEqual(got, tree{}) {
			t.Errorf("%s became %+v, %v", text, got, err)
		}
	}
}

// What the plain decoder accepts, encoding/json decodes to the same value.
func FuzzPlain(f *testing.F) {
	for _, texts := range [][]string{plainTexts, oddTexts} {
		for _, text := range texts {
			f.Add([]byte(text))
		}
	}
	decode := plainOf(reflect.TypeFor[tree]())
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want tree
		r := plainText{text}
		if !decode(&r, reflect.ValueOf(&got).Elem()) || !r.end() {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %+v, and %+v by encoding/json, %v", text, got, want, err)
		}
		if err := decodeInto(text, new(tree)); err != nil {
			t.Errorf("%q is refused by encoding/json: %v", text, err)
		}
	})
}

// The plain decoder refuses types that encoding/json or the types themselves decode in another way.
func TestOtherTypesAreNotPlain(t *testing.T) {
	type loop struct {
		Next *loop `json:"next"`
	}
	for _, v := range []any{
		time.Time{}, json.RawMessage{}, json.Number(""), []byte{}, map[string]int{}, [2]int{}, struct{ V any }{}, shy{}, loop{},
		struct{ Sender }{}, struct {
			V int `json:"v,string"`
		}{}, struct {
			A int
			B int `json:"A"`
		}{}, struct {
			A int `json:"a/b"`
		}{}, struct{ V []shy }{}, struct{ F func() }{},
	} {
		if plainOf(reflect.TypeOf(v)) != nil {
			t.Errorf("%T is plain", v)
		}
	}
	if plainOf(reflect.TypeFor[*tree]()) == nil || plainly(nil, decodeInto) == nil {
		t.Error("a pointer to a plain type is not plain, or what is not plain has no decoder")
	}
}
