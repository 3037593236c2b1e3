package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Price is the price of a model's tokens, per million tokens, in the currency of the budgets. The
// zero value is the price of a free model.
type Price struct {
	// Input is the price of input tokens that neither came from the provider's prompt cache nor
	// went into it.
	Input float64 `json:"input,omitempty"`
	// Output is the price of output tokens. They include thinking.
	Output float64 `json:"output,omitempty"`
	// CacheRead is the price of input tokens from the cache. Nil means Input, which overestimates
	// the cost.
	CacheRead *float64 `json:"cache_read,omitempty"`
	// CacheWrite is the price of input tokens that were written to the cache. Nil means Input.
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Prices maps names of models, such as "anthropic:claude-sonnet-5-5", to prices. The zero value has
// no prices. Concurrent reads are safe.
type Prices map[string]Price

// Cost returns the cost of usage. The result is false if the price of the model is unknown, which
// differs from a free model. Usage counts cached tokens as part of the input.
func (p Prices) Cost(model string, u tool.Usage) (float64, bool) {
	price, known := p[model]
	if !known {
		return 0, false
	}
	return price.Cost(u), true
}

// Cost returns the cost of usage; see Prices.Cost.
func (p Price) Cost(u tool.Usage) float64 {
	const perMillion = 1e-6
	// Some servers count cached tokens twice, or not as input. The cost must not become negative.
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

// Check returns an error if a price is negative or not a finite number. The error names the model
// and the field.
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
