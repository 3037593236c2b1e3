package sdktest_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// agrees calls a tool for each value of a type, in each shape that can hold it. The test fails if
// the schema that the SDK derives from the type does not fit the JSON that it writes.
func agrees[T any](name string, values ...T) func(*testing.T) {
	type shapes struct {
		Plain   T            `json:"plain"`
		Pointer *T           `json:"pointer"`
		Absent  *T           `json:"absent"`
		Zero    T            `json:"zero,omitzero"`
		List    []T          `json:"list"`
		None    []T          `json:"none"`
		Pair    [2]T         `json:"pair"`
		Map     map[string]T `json:"map"`
		Nothing map[string]T `json:"nothing"`
		Any     any          `json:"any"`
		Inner   struct {
			V T `json:"v"`
		} `json:"inner"`
	}
	return func(t *testing.T) {
		var zero T
		for _, v := range append(values, zero) {
			tool := sdk.Func(sdk.Spec{Name: "give", Description: "x"}, func(context.Context, struct{}) (shapes, error) {
				s := shapes{Plain: v, Pointer: &v, Zero: v, List: []T{v, v}, Pair: [2]T{v, v}, Map: map[string]T{"k": v}, Any: v}
				s.Inner.V = v
				return s, nil
			})
			got := sdktest.New(t, sdk.Plugin{Name: "p", Version: "1", Tools: []sdk.Tool{tool}}).Call("give", "{}")
			if err := got.Err; err != nil {
				t.Errorf("%s, %v: %v", name, v, err)
			}
		}
	}
}

type textual struct{ s string }

func (t textual) MarshalText() ([]byte, error) { return []byte(t.s), nil }

type pointed struct{ S string }

func (p *pointed) MarshalText() ([]byte, error) { return []byte(p.S), nil }

type odd struct{}

func (odd) MarshalJSON() ([]byte, error) { return []byte(`[1,"a"]`), nil }

func TestSchemaAndValueAgree(t *testing.T) {
	zone := time.FixedZone("", 5*3600+1800)
	for name, test := range map[string]func(*testing.T){
		"bool": agrees("bool", true), "int": agrees("int", -1, math.MaxInt), "uint64": agrees("uint64", uint64(math.MaxUint64)),
		"float64": agrees("float64", .1, -1e300, math.SmallestNonzeroFloat64), "string": agrees("string", "a", "\xff", "<&>"),
		"bytes": agrees("bytes", []byte("\xff")), "raw": agrees("raw", json.RawMessage(`{"a":[1]}`)), "any": agrees[any]("any", 1, "a", time.Unix(0, 1)),
		"time":     agrees("time", time.Unix(0, 0).UTC(), time.Unix(1, 5).In(zone), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)),
		"duration": agrees("duration", time.Second, -time.Hour), "number": agrees("number", json.Number("1.50"), json.Number("1e300")),
		"big": agrees("big", *new(big.Int).Lsh(big.NewInt(1), 200)), "text": agrees("text", textual{"a"}), "odd": agrees("odd", odd{}), "pointed": agrees("pointed", pointed{"a"}),
		"addr": agrees("addr", netip.MustParseAddr("fe80::1%eth0")), "url": agrees("url", url.URL{Host: "a b"}), "empty": agrees("empty", struct{}{}),
		"weekday": agrees("weekday", time.Friday), "nested": agrees("nested", map[string][]map[string]time.Time{"a": {nil, {"b": time.Unix(0, 0)}}}),
	} {
		t.Run(name, test)
	}
}
