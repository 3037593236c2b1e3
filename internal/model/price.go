package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Price is what a model's tokens cost, each field for a million of them, in whatever currency the budgets are in. The
// zero value is a model that costs nothing.
type Price struct {
	// Input is for input tokens that the provider's prompt cache had no part in.
	Input float64 `json:"input,omitempty"`
	// Output is for output tokens, thinking included.
	Output float64 `json:"output,omitempty"`
	// CacheRead is for input tokens that came from the cache. Nil: as Input, which is too much rather than too little.
	CacheRead *float64 `json:"cache_read,omitempty"`
	// CacheWrite is for input tokens that went into the cache. Nil: as Input.
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Prices are the prices of models by their names, such as "anthropic:claude-sonnet-5-5". The zero value knows none.
// Reading is safe for concurrent use.
type Prices map[string]Price

// Cost returns what a model's tokens cost. It is false if nobody said what the model's tokens cost, which is not the
// same as costing nothing. Usage counts cached tokens among the input, as every model of this package does.
func (p Prices) Cost(model string, u tool.Usage) (float64, bool) {
	price, known := p[model]
	if !known {
		return 0, false
	}
	return price.cost(u), true
}

func (p Price) cost(u tool.Usage) float64 {
	const perMillion = 1e-6
	// A server that counts cached tokens twice, or not among the input, must not make a cost negative.
	read := min(u.CacheReadTokens, u.InputTokens)
	write := min(u.CacheWriteTokens, u.InputTokens-read)
	fresh := u.InputTokens - read - write
	return perMillion * (float64(fresh)*p.Input + float64(read)*or(p.CacheRead, p.Input) +
		float64(write)*or(p.CacheWrite, p.Input) + float64(u.OutputTokens)*p.Output)
}

func or(price *float64, fallback float64) float64 {
	if price != nil {
		return *price
	}
	return fallback
}

// Check returns nil, or an error that names the model and the field of a price that cannot be: below zero, or no number.
func (p Prices) Check() error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		price := p[name]
		for _, field := range []struct {
			name  string
			value float64
		}{
			{"input", price.Input},
			{"output", price.Output},
			{"cache_read", or(price.CacheRead, 0)},
			{"cache_write", or(price.CacheWrite, 0)},
		} {
			if !(field.value >= 0) || math.IsInf(field.value, 0) {
				return fmt.Errorf("the price %s of the model %s is %v; it has to be a number, 0 or more, for a million tokens", field.name, name, field.value)
			}
		}
	}
	return nil
}
