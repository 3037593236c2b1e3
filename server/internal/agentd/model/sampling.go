package model

import (
	"fmt"
	"slices"
)

// Efforts returns all efforts, from the least.
func Efforts() []Effort { return []Effort{EffortNone, EffortLow, EffortMedium, EffortHigh} }

// Check returns an error if a setting is outside of its bounds.
func (s Sampling) Check() error {
	switch {
	case s.Temperature != nil && !(*s.Temperature >= 0 && *s.Temperature <= 2):
		return fmt.Errorf("the temperature is %g; use 0 to 2", *s.Temperature)
	case s.TopP != nil && !(*s.TopP >= 0 && *s.TopP <= 1):
		return fmt.Errorf("top_p is %g; use 0 to 1", *s.TopP)
	case s.Effort != "" && !slices.Contains(Efforts(), s.Effort):
		return fmt.Errorf("the effort is %.20q; use none, low, medium or high", s.Effort)
	}
	return nil
}

// Over returns s with unset fields taken from d.
func (s Sampling) Over(d Sampling) Sampling {
	if s.Temperature == nil {
		s.Temperature = d.Temperature
	}
	if s.TopP == nil {
		s.TopP = d.TopP
	}
	if s.Effort == "" {
		s.Effort = d.Effort
	}
	return s
}

// Equal reports whether both have the same settings.
func (s Sampling) Equal(d Sampling) bool {
	return equal(s.Temperature, d.Temperature) && equal(s.TopP, d.TopP) && s.Effort == d.Effort
}

func equal(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
