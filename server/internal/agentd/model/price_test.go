package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func TestCost(t *testing.T) {
	price := func(p float64) *float64 { return &p }
	prices := model.Prices{
		"full":  {Input: 3, Output: 15, CacheRead: price(0.3), CacheWrite: price(3.75)},
		"plain": {Input: 2, Output: 8},
		"gift":  {Input: 4, Output: 8, CacheRead: price(0)},
		"free":  {},
	}
	million := tool.Usage{InputTokens: 4e6, CacheReadTokens: 2e6, CacheWriteTokens: 1e6, OutputTokens: 1e6}
	tests := map[string]struct {
		model string
		usage tool.Usage
		want  float64
		known bool
	}{
		"each kind at its price":       {"full", million, 3 + 2*0.3 + 3.75 + 15, true},
		"cached as input":              {"plain", million, 4*2 + 8, true},
		"cached for nothing":           {"gift", million, 2*4 + 8, true},
		"a single token":               {"full", tool.Usage{OutputTokens: 1}, 15e-6, true},
		"nothing used":                 {"full", tool.Usage{}, 0, true},
		"costs nothing":                {"free", million, 0, true},
		"nobody knows":                 {"other", million, 0, false},
		"more read than there was":     {"full", tool.Usage{InputTokens: 1e6, CacheReadTokens: 5e6}, 0.3, true},
		"read and written is too much": {"full", tool.Usage{InputTokens: 2e6, CacheReadTokens: 1e6, CacheWriteTokens: 3e6}, 0.3 + 3.75, true},
		"more than any model writes":   {"full", tool.Usage{OutputTokens: math.MaxUint64}, math.MaxUint64 * 15e-6, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := prices.Cost(test.model, test.usage)
			if known != test.known || math.Abs(got-test.want) > 1e-9*max(1, test.want) {
				t.Fatalf("got %v, %t, want %v, %t", got, known, test.want, test.known)
			}
		})
	}
	if _, known := model.Prices(nil).Cost("full", million); known {
		t.Error("no prices at all know one")
	}
}

func TestPricesCheck(t *testing.T) {
	bad := -0.1
	for name, test := range map[string]struct {
		prices model.Prices
		words  string
	}{
		"good":        {model.Prices{"m": {Input: 1, Output: 2}, "free": {}}, ""},
		"below zero":  {model.Prices{"m": {Output: -1}}, "output"},
		"no number":   {model.Prices{"m": {Input: math.NaN()}}, "input"},
		"infinite":    {model.Prices{"m": {Input: math.Inf(1)}}, "input"},
		"cache read":  {model.Prices{"m": {CacheRead: &bad}}, "cache_read"},
		"cache write": {model.Prices{"m": {CacheWrite: &bad}}, "cache_write"},
	} {
		err := test.prices.Check()
		if (err == nil) != (test.words == "") || err != nil && !strings.Contains(err.Error(), test.words+" of the model m") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
